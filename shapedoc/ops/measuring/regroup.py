"""How the axes of a tensor become those of its view, decided by arithmetic.

A view keeps the order of elements exactly when the running products of both shapes, taken together, form one chain
under divisibility: (B, T, H*d) to (B, T, H, d) does, (B, H, T, d) to (B, T, H*d) does not. Axes that were joined
before are taken apart into their factors first, because ``B*H`` and ``H*B`` are the same number and not the same axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shapedoc.core.dim import ONE, Dim
from shapedoc.core.shape import Axis
from shapedoc.core.sizes import Sizes

__all__ = ["Regrouped", "product", "regroup"]


@dataclass(frozen=True, slots=True, eq=False)
class Regrouped:
    """axes: those of the view, with the identity of what they keep. sources: for each, the old axes it is made of.

    broken: the old and the new axis at which the order of elements cannot be kept, or None.
    """

    axes: tuple[Axis, ...]
    sources: tuple[tuple[int, ...], ...]
    broken: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Atom:
    axis: Axis
    place: int


def product(axes: Sequence[Axis]) -> Dim:
    """The number of elements."""
    total = ONE
    for axis in axes:
        total = total * axis.dim
    return total


def regroup(sizes: Sizes, old: Sequence[Axis], new: Sequence[Axis]) -> Regrouped:
    """View axes `old` as sizes `new`; both must hold the same number of elements."""
    atoms = [a for i, axis in enumerate(old) for a in _atoms(sizes, axis, i)]
    wanted = [(j, axis) for j, axis in enumerate(new) if axis.dim != ONE]
    parts: list[list[_Atom]] = [[] for _ in new]
    left: Dim | None = None  # what is not used yet of the first atom
    i = j = 0
    missing = wanted[0][1].dim if wanted else ONE
    while i < len(atoms) and j < len(wanted):
        atom = atoms[i]
        have = left if left is not None else atom.axis.dim
        rest = missing.divide(have)
        if rest is not None:
            # The atom goes into the new axis whole; what is left of one that was begun is a new axis.
            whole = atom if left is None else _Atom(Axis(have), atom.place)
            parts[wanted[j][0]].append(whole)
            i, left, missing = i + 1, None, rest
            if rest == ONE:
                j += 1
                missing = wanted[j][1].dim if j < len(wanted) else ONE
            continue
        rest = have.divide(missing)
        if rest is None:
            return _torn(old, new, (atom.place, wanted[j][0]))
        parts[wanted[j][0]].append(_Atom(Axis(missing), atom.place))
        left, j = rest, j + 1
        missing = wanted[j][1].dim if j < len(wanted) else ONE
    axes = tuple(_joined(axis, found, old) for axis, found in zip(new, parts, strict=True))
    sources = tuple(tuple(dict.fromkeys(a.place for a in found)) for found in parts)
    return Regrouped(_ones_kept(old, axes, sources), sources)


def _atoms(sizes: Sizes, axis: Axis, place: int) -> list[_Atom]:
    if axis.dim == ONE:
        return []
    factors = [f.sized(sizes.resolve(f.dim)) for f in axis.factors]
    if len(factors) > 1 and product(factors) == axis.dim:
        return [a for f in factors for a in _atoms(sizes, f, place)]
    return [_Atom(axis, place)]


def _joined(axis: Axis, parts: Sequence[_Atom], old: Sequence[Axis]) -> Axis:
    """The new axis that consists of these atoms."""
    if not parts:
        return axis
    if len(parts) == 1:
        return parts[0].axis.sized(axis.dim)
    whole = old[parts[0].place]
    if all(p.place == parts[0].place for p in parts) and whole.dim == axis.dim:
        return whole
    return Axis(axis.dim, factors=tuple(p.axis for p in parts))


def _ones_kept(old: Sequence[Axis], axes: Sequence[Axis], sources: Sequence[tuple[int, ...]]) -> tuple[Axis, ...]:
    """Axes of size 1 that stand between the same neighbours on both sides keep their identity."""
    out = list(axes)
    for j, axis in enumerate(axes):
        if axis.dim != ONE or sources[j]:
            continue
        before = max((p for s in sources[:j] for p in s), default=-1)
        skipped = sum(1 for k in range(j - 1, -1, -1) if not sources[k] and all(not s for s in sources[k:j]))
        place = before + 1 + skipped
        if place < len(old) and old[place].dim == ONE:
            out[j] = old[place]
    return tuple(out)


def _torn(old: Sequence[Axis], new: Sequence[Axis], broken: tuple[int, int]) -> Regrouped:
    """Only the axes at both ends, which have equal sizes, are kept."""
    axes = list(new)
    for k in range(min(broken)):
        if old[k].dim != new[k].dim:
            break
        axes[k] = old[k]
    for k in range(1, min(len(old), len(new)) + 1):
        if old[-k].dim != new[-k].dim or len(new) - k <= broken[1] or len(old) - k <= broken[0]:
            break
        axes[-k] = old[-k]
    return Regrouped(tuple(axes), tuple(() for _ in new), broken)
