"""Which sizes the author set apart: names that are certainly different quantities.

Every time that sizes are listed together (the axes of one tensor, the names of one comment), they are members of one
group: two members of a group are apart.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import count

from shapedoc.core.dim import Dim, Sym, mark

__all__ = ["Apartness"]

Key = Sym | Dim
_Members = frozenset[tuple[int, int]]
_NONE: _Members = frozenset()
_groups = count(1)


def _part(key: Key) -> Sym | None:
    """The half of a size that was halved: what that is apart from, it is apart from too."""
    if isinstance(key, Sym) or len(key.terms) != 1:
        return None
    (symbols, times), *_ = key.terms
    return symbols[0] if len(symbols) == 1 and times > 1 and symbols[0].origin.startswith("exact ") else None


class Apartness:
    """The groups that sizes are members of; a size is a symbol, or a dim with a name (``2*d_h``)."""

    __slots__ = ("_common", "_forked", "_lent", "_may_be", "_members", "_shared")

    def __init__(self) -> None:
        self._members: dict[Key, _Members] = {}
        # What was added because a symbol from before the last fork turned out to be a size: it holds while that does.
        self._lent: list[tuple[Sym, Key, _Members]] = []
        self._forked = 0
        # What two names of the author's turned out to be: a list it stands in says nothing that is true of both.
        self._common: frozenset[Key] = frozenset()
        # What a size may be, whatever lists them together: all forks write here.
        self._may_be: dict[Key, frozenset[Sym]] = {}
        # Another looks things up there too: it is copied before it is written.
        self._shared = False

    def fork(self) -> Apartness:
        """A copy that can learn by itself."""
        other = Apartness()
        other._members = self._members
        other._common, other._may_be = self._common, self._may_be
        other._forked = mark()
        other._shared = self._shared = True
        return other

    def _add(self, key: Key, groups: _Members) -> None:
        if self._shared:
            self._members, self._shared = dict(self._members), False
        known = self._members.get(key)
        self._members[key] = groups if known is None else known | groups

    def state(self, keys: Iterable[Key | None]) -> None:
        """State that these are different quantities; None keeps its place, and a second mention says nothing."""
        group = next(_groups)
        seen: set[Key] = set()
        for member, key in enumerate(keys):
            if key is not None and key not in seen and key not in self._common:
                seen.add(key)
                self._add(key, frozenset(((group, member),)))
                part = _part(key)
                if part is not None:
                    self._add(part, frozenset(((group, member),)))

    def allow(self, one: Sym, others: Iterable[Sym]) -> None:
        """State that a size may be one of these, or what is made of them: from here on they are not apart."""
        self._may_be[one] = self._may_be.get(one, frozenset()).union(others) - {one}

    def _allowed(self, one: Key, other: Key) -> bool:
        """Whether one may be the other."""
        allowed = self._may_be.get(one)
        return allowed is not None and (other in allowed if isinstance(other, Sym) else other.syms <= allowed)

    def share(self, key: Key, other: Key) -> None:
        """What `other` is apart from, `key` is apart from too."""
        groups = self._members.get(other)
        if groups:
            self._add(key, groups)

    def lend(self, key: Sym, sym: Sym) -> None:
        """What `sym`, which has turned out to be `key`, is apart from, `key` is apart from too."""
        groups = self._members.get(sym)
        if groups:
            new = groups - self._members.get(key, _NONE)
            self._add(key, groups)
            if new and sym.uid < self._forked:
                self._lent.append((sym, key, new))

    def common(self, key: Key, one: Key, other: Key) -> None:
        """Set `key` apart from what both of two are apart from, and from nothing else from here on."""
        self._common |= {key}
        for mine, theirs in ((one, other), (other, one)):
            groups = self._members.get(mine, _NONE)
            apart = {g for k, some in self._members.items() if k != mine and not self.of(k, theirs) for g, _ in some}
            kept = frozenset((g, i) for g, i in groups if g not in apart)
            if kept:
                self._add(key, kept)

    def rests_on_others(self, known: Container[Sym]) -> bool:
        """Whether something was lent because of a symbol that is not among those which are known."""
        return any(sym not in known for sym, _, _ in self._lent)

    def merge(self, other: Apartness, known: Container[Sym]) -> None:
        """Take over what another knows; `known`: the symbols that turned out to be the same on all ways."""
        lost: dict[Key, _Members] = {}
        for sym, key, groups in other._lent:
            if sym in known:
                if sym.uid < self._forked:
                    self._lent.append((sym, key, groups))
            else:
                lost[key] = lost.get(key, _NONE) | groups
        self._common |= other._common
        if other._members is self._members:
            return
        for key, groups in other._members.items():
            if lost and key in lost:
                groups = groups - lost[key]
            if self._members.get(key) is not groups:
                self._add(key, groups)

    def of(self, one: Key, other: Key) -> bool:
        """Whether two are members of one group."""
        if one is other or (self._may_be and (self._allowed(one, other) or self._allowed(other, one))):
            return False
        theirs = self._members.get(other, _NONE)
        return any(g == h and i != j for g, i in self._members.get(one, _NONE) for h, j in theirs)
