"""What a format may know besides the results."""

from __future__ import annotations

from dataclasses import dataclass, field

from shapedoc.grade.exports.roster import Roster

__all__ = ["Handing"]


@dataclass(frozen=True, slots=True)
class Handing:
    """``roster``: who handed in what. ``published``: the due date is over, and the grades are out."""

    roster: Roster = field(default_factory=Roster)
    published: bool = False
