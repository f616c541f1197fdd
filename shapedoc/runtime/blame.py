"""Which argument is wrong: the smallest set without which the others agree.

The first argument that binds a name is as likely to be wrong as the second: what counts is how many others agree.
Where that leaves several, an argument that fits once its axes are exchanged is the wrong one; sizes that a module's
parameters or all earlier calls fixed count as one more witness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from shapedoc.source.contracts import (
    Anonymous,
    Difference,
    DimExpr,
    Named,
    Number,
    Product,
    Quotient,
    Rest,
    Sum,
)

__all__ = ["Blame", "agree", "blame", "expected_shape"]

Dims = tuple[DimExpr, ...]
_Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Blame:
    """Who may be wrong: each candidate is a set of arguments; one candidate is a verdict, several are a tie.

    known: the sizes that the others agree on, where there is one candidate.
    """

    candidates: tuple[tuple[str, ...], ...]
    known: Mapping[str, int]

    @property
    def is_tie(self) -> bool:
        return len(self.candidates) > 1


def blame(
    specs: Mapping[str, Dims],
    shapes: Mapping[str, _Shape],
    known: Mapping[str, int],
    history: Mapping[str, int] | None = None,
) -> Blame | None:
    """None where everything agrees; else who is wrong.

    known: sizes fixed by what is no argument of this call, such as a module's parameters. history: sizes that were
    the same in all earlier calls; they decide between arguments and are no fault by themselves.
    """
    if agree(specs, shapes, known) is not None:
        return None
    witnesses = {**(history or {}), **known}
    candidates = _smallest(specs, shapes, witnesses)
    plain = _smallest(specs, shapes, known)
    if not candidates or (plain and len(plain[0]) < len(candidates[0])):
        # All arguments have sizes that no call had before: what was is no witness.
        candidates, witnesses = plain, dict(known)
    if len(candidates) > 1:
        alone: list[tuple[str, ...]] = [c for c in candidates if not c[1:]]
        repaired = [c for c in alone if _repairable(c[0], specs, shapes, witnesses)]
        candidates = repaired if len(repaired) == 1 else candidates
    if not candidates:
        return None
    others = {n: d for n, d in specs.items() if n not in candidates[0]}
    agreed = agree(others, shapes, witnesses) or {}
    return Blame(tuple(candidates), agreed if len(candidates) == 1 else {})


def agree(specs: Mapping[str, Dims], shapes: Mapping[str, _Shape], known: Mapping[str, int]) -> dict[str, int] | None:
    """The sizes that the names stand for, or None where the shapes contradict each other."""
    sizes = dict(known)
    pairs: list[tuple[DimExpr, int]] = []
    for name, dims in specs.items():
        if name in shapes:
            aligned = _aligned(dims, shapes[name])
            if aligned is None:
                return None
            pairs.extend(aligned)
    others: list[tuple[DimExpr, int]] = []
    for dim, size in pairs:
        if not isinstance(dim, Named) or dim.broadcasts:
            others.append((dim, size))
        elif sizes.setdefault(dim.key, size) != size:
            return None
    for dim, size in others:
        value = _value(dim, sizes)
        if value is not None and value != size and not (isinstance(dim, Named) and dim.broadcasts and size == 1):
            return None
    return sizes


def expected_shape(dims: Dims, sizes: Mapping[str, int]) -> str:
    """A stated shape with the numbers that are known: ``(7, T_enc, 5)``."""
    parts = [str(_value(d, sizes) if _value(d, sizes) is not None else d) for d in dims]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _smallest(
    specs: Mapping[str, Dims], shapes: Mapping[str, _Shape], known: Mapping[str, int]
) -> list[tuple[str, ...]]:
    names = [n for n in specs if n in shapes]
    for size in range(1, len(names) + 1):
        groups: list[tuple[str, ...]] = list(combinations(names, size))
        found = [
            group
            for group in groups
            if agree({n: specs[n] for n in names if n not in group}, shapes, known) is not None
        ]
        if found:
            return found
    return []


def _repairable(name: str, specs: Mapping[str, Dims], shapes: Mapping[str, _Shape], known: Mapping[str, int]) -> bool:
    """Whether an argument fits when its axes are put in another order, and two of those that move say so.

    One axis may fit elsewhere by accident: the wrong batch of another argument may be as long as this one's time.
    """
    shape, dims = shapes[name], specs[name]
    if len(shape) > 5 or len(shape) != len(dims):
        return False
    sizes = agree({n: d for n, d in specs.items() if n != name}, shapes, known) or {}
    for order in permutations(range(len(shape))):
        moved = [i for i, j in enumerate(order) if i != j and shape[i] != shape[j]]
        told = [i for i in moved if _value(dims[i], sizes) is not None]
        other = tuple(shape[j] for j in order)
        if len(told) >= 2 and agree(specs, {**shapes, name: other}, known) is not None:
            return True
    return False


def _aligned(dims: Sequence[DimExpr], shape: _Shape) -> list[tuple[DimExpr, int]] | None:
    rest = [i for i, d in enumerate(dims) if isinstance(d, Rest)]
    if not rest:
        return list(zip(dims, shape, strict=True)) if len(dims) == len(shape) else None
    if len(shape) < len(dims) - 1:
        return None
    after = len(dims) - rest[0] - 1
    tail = list(zip(dims[rest[0] + 1 :], shape[len(shape) - after :], strict=True)) if after else []
    return [*zip(dims[: rest[0]], shape, strict=False), *tail]


def _value(dim: DimExpr, sizes: Mapping[str, int]) -> int | None:
    """The number that a stated size is, where its names are known."""
    match dim:
        case Number(value=value):
            return value
        case Named():
            return sizes.get(dim.key)
        case Anonymous() | Rest():
            return None
        case Sum(terms=terms):
            parts = [_value(t, sizes) for t in terms]
            return None if None in parts else sum(p for p in parts if p is not None)
        case Product(factors=factors):
            total = 1
            for factor in factors:
                part = _value(factor, sizes)
                if part is None:
                    return None
                total *= part
            return total
        case Difference(left=left, right=right) | Quotient(left=left, right=right):
            a, b = _value(left, sizes), _value(right, sizes)
            if a is None or b is None:
                return None
            if isinstance(dim, Difference):
                return a - b
            return a // b if b else None
