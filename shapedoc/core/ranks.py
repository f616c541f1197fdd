"""What is known of numbers of axes: what sizes turned out to be, which axes a run stands for, and their roles."""

from __future__ import annotations

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Axis, Run, Shape

__all__ = ["NO_LINKS", "Ranks"]

NO_LINKS: frozenset[tuple[Run, int]] = frozenset()


class Ranks:
    """Bindings, runs and roles.

    bindings: what symbols turned out to be. runs: the axes that a run stands for. roles: those that axes have been
    seen in, by their identities.
    """

    __slots__ = ("_links", "_shapes", "_shared", "bindings", "roles", "runs")

    def __init__(self) -> None:
        # What is looked up in bindings, runs and _links is another's too, and copied before it is written.
        self._shared = False
        self.bindings: dict[Sym, Dim] = {}
        self.runs: dict[Run, tuple[Axis | Run, ...]] = {}
        self.roles: dict[int, dict[str, int]] = {}
        self._links: dict[Run, frozenset[tuple[Run, int]]] = {}
        self._shapes: dict[Shape, tuple[int, int, Shape]] = {}

    def _own(self) -> None:
        """Make this one's facts its own, before it learns one."""
        self.bindings, self.runs, self._links = dict(self.bindings), dict(self.runs), dict(self._links)
        self._shared = False

    # -- sizes

    def resolve(self, dim: Dim) -> Dim:
        """The dim with everything put in that is known of its symbols."""
        bindings = self.bindings
        sym = dim.sym
        if sym is not None:
            return dim.substitute(bindings) if sym in bindings else dim
        if bindings and dim.const is None:
            for monomial, _ in dim.terms:
                for sym in monomial:
                    if sym in bindings:
                        return dim.substitute(bindings)
        return dim

    def fresh(self, name: str = "", *, owner: str = "", origin: str = "", line: int = 0) -> Dim:
        """An unknown size."""
        return Dim.of(Sym(name, flexible=True, owner=owner, origin=origin, line=line))

    # -- shapes and ranks

    def shape(self, shape: Shape) -> Shape:
        """The shape with everything put in that is known of its runs and sizes."""
        # Both only grow between joins, so that their lengths say whether anything has been learnt since.
        bound, expanded = len(self.bindings), len(self.runs)
        if not bound and not expanded:
            return shape
        known = self._shapes.get(shape)
        if known is not None and known[0] == bound and known[1] == expanded:
            return known[2]
        items: list[Axis | Run] = []
        changed = False
        for item in shape.items:
            if isinstance(item, Run):
                got = self._expand(item)
                changed = changed or got != [item]
                items.extend(got)
            else:
                dim = self.resolve(item.dim)
                if dim is not item.dim:
                    changed = True
                    item = item.sized(dim)
                items.append(item)
        result = Shape(tuple(items)) if changed else shape
        self._shapes[shape] = (bound, expanded, result)
        return result

    def _expand(self, run: Run) -> list[Axis | Run]:
        if run not in self.runs:
            return [run]
        out: list[Axis | Run] = []
        for item in self.runs[run]:
            if isinstance(item, Run):
                out.extend(self._expand(item))
            else:
                out.append(item.sized(self.resolve(item.dim)))
        return out

    def bind_run(self, run: Run, items: tuple[Axis | Run, ...]) -> None:
        """Learn what axes a run stands for; they have the roles that the run was seen in."""
        if self._shared:
            self._own()
        self.runs[run] = items
        for role, line in self.roles.get(run.uid, {}).items():
            for item in items:
                self.mark(item, role, line)
        inner = next((i for i in items if isinstance(i, Run)), None)
        if inner is None:
            self._tell_rank(run, len(items))
        else:
            self.relate_ranks(run, inner, len(items) - 1)

    def relate_ranks(self, run: Run, other: Run, more: int) -> None:
        """Remember that `run` stands for as many axes as `other` and `more` besides."""
        if run is other:
            return
        if self._shared:
            self._own()
        self._links[run] = self._links.get(run, frozenset()) | {(other, more)}
        self._links[other] = self._links.get(other, frozenset()) | {(run, -more)}
        for one in (run, other):
            rank = self._rank(one)
            if rank is not None:
                self._tell_rank(one, rank)

    def _rank(self, run: Run) -> int | None:
        """How many axes a run stands for, if it is known."""
        items = self._expand(run)
        return None if any(isinstance(i, Run) for i in items) else len(items)

    def _tell_rank(self, run: Run, rank: int) -> None:
        """Pass on how many axes a run stands for to all whose number depends on it."""
        told, waiting = {run}, [(run, rank)]
        while waiting:
            one, rank = waiting.pop()
            for other, more in sorted(self._links.get(one, ()), key=lambda link: link[0].uid):
                if other in told or rank - more < 0:
                    continue
                told.add(other)
                if other not in self.runs:
                    self.bind_run(other, tuple(Axis(self.fresh()) for _ in range(rank - more)))
                waiting.append((other, rank - more))

    # -- roles

    def mark(self, axis: Axis | Run, role: str, line: int) -> None:
        """Remember that an axis (or each of a run) was used in a role: batch, time, position, row, feature, head;
        batched, where a product takes its matrices one by one; stated, where a comment alone says its size; loose,
        where it was a 1 that may have stayed one.
        """
        for i in axis.ids if isinstance(axis, Axis) else (axis.uid,):
            self.roles.setdefault(i, {}).setdefault(role, line)

    def role(self, axis: Axis, role: str) -> int | None:
        """The line that gave an axis this role, or None."""
        for i in axis.ids:
            line = self.roles.get(i, {}).get(role)
            if line is not None:
                return line
        return None
