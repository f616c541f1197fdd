"""Which sizes the author set apart: names that are certainly different quantities.

Every time that sizes are listed together (the axes of one tensor, the names of one comment), they are members of one
group: two members of a group are apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from shapedoc.core.dim import Dim, Sym

__all__ = ["Apartness"]

Key = Sym | Dim
_Members = frozenset[tuple[int, int]]
_NONE: _Members = frozenset()
_groups = count(1)


class Apartness:
    """The groups that sizes are members of; a size is a symbol, or a dim with a name (``2*d_h``)."""

    __slots__ = ("_members",)

    def __init__(self, members: dict[Key, _Members] | None = None) -> None:
        self._members: dict[Key, _Members] = members if members is not None else {}

    def fork(self) -> Apartness:
        """A copy that can learn by itself."""
        return Apartness(dict(self._members))

    def state(self, keys: Iterable[Key | None]) -> None:
        """State that these are different quantities; None keeps its place, and a second mention says nothing."""
        group = next(_groups)
        seen: set[Key] = set()
        for member, key in enumerate(keys):
            if key is not None and key not in seen:
                seen.add(key)
                self._members[key] = self._members.get(key, _NONE) | {(group, member)}

    def share(self, key: Key, other: Key) -> None:
        """What `other` is apart from, `key` is apart from too."""
        groups = self._members.get(other)
        if groups:
            self._members[key] = self._members.get(key, _NONE) | groups

    def merge(self, others: Iterable[Apartness]) -> None:
        """Take over what others know."""
        for other in others:
            for key, groups in other._members.items():
                ours = self._members.get(key)
                if ours is not groups:
                    self._members[key] = groups if ours is None else ours | groups

    def of(self, one: Key, other: Key) -> bool:
        """Whether two are members of one group."""
        if one is other:
            return False
        theirs = self._members.get(other, _NONE)
        return any(g == h and i != j for g, i in self._members.get(one, _NONE) for h, j in theirs)
