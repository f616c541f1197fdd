"""The words that stand in pictures, so that a report in another language has pictures in it too."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ENGLISH", "Words"]


@dataclass(frozen=True, slots=True)
class Words:
    """What pictures say besides names of tensors and axes; English where nothing else is given.

    ``flow_of`` has a place ``{name}`` for the name of the function.
    """

    flow_of: str = "shape flow of {name}"
    should_be: str = "should be"
    no_axes: str = "no axes"
    weights: str = "attention weights"
    keys: str = "keys (source)"
    queries: str = "queries (target)"
    weight: str = "weight"
    padding: str = "padding"
    accuracy: str = "accuracy"
    length: str = "length"
    baseline: str = "baseline"
    band: str = "passes"


ENGLISH = Words()
