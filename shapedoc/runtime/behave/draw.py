"""Sizes and inputs for a contract: distinct sizes, and values drawn from a seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shapedoc.runtime.behave.contract import Argument, Contract, ContractError, evaluate

__all__ = ["Array", "Inputs", "allowed_keys", "choose_sizes", "draw", "keyed_by"]

Array = NDArray[Any]
Inputs = dict[str, Array]

_BATCH_SIZE = 3
# Small, distinct and without common divisors: a bug that needs two sizes to be equal shows.
_CANDIDATES = (5, 7, 4, 11, 9, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


def choose_sizes(contract: Contract, given: Mapping[str, int] | None = None) -> dict[str, int]:
    """One size for every name of the contract; those that are given, and the rest distinct from all others.

    Raises ContractError for a given name that the contract does not have, or a size below one.
    """
    names = contract.axis_names()
    sizes: dict[str, int] = {}
    for name, size in (given or {}).items():
        if name not in names:
            raise ContractError(f"sizes: the contract has no axis {name!r}; it has {', '.join(names)}")
        if size < 1:
            raise ContractError(f"sizes: {name} must be at least 1, got {size}")
        sizes[name] = size
    same = contract.option("same")
    partner = dict(zip(same[1::2], same[::2], strict=True))
    free = [size for size in _CANDIDATES if size not in sizes.values()]
    for name in names:
        if name in sizes or name in partner:
            continue
        if name == contract.batch:
            sizes[name] = _BATCH_SIZE
        else:
            sizes[name] = free.pop(0) if free else max(sizes.values()) + 2
    for name, other in partner.items():
        sizes.setdefault(name, sizes[other])
    return sizes


def draw(contract: Contract, sizes: dict[str, int], seed: int) -> Inputs:
    """Values for every argument; every row of a mask keeps some keys and may hide the others."""
    rng = np.random.default_rng(seed)
    return {a.name: draw_one(a, sizes, rng) for a in contract.arguments}


def draw_one(argument: Argument, sizes: dict[str, int], rng: np.random.Generator) -> Array:
    """Values for one argument."""
    shape = tuple(evaluate(dim, sizes) for dim in argument.dims)
    match argument.kind:
        case "float":
            return rng.normal(size=shape)
        case "number":
            return np.asarray(argument.value)
        case "int":
            return _tokens(argument, shape, evaluate(argument.bound, sizes), rng)
        case "lengths":
            return _lengths(shape, evaluate(argument.bound, sizes), rng)
    keep = _mask(shape, rng)
    match argument.kind:
        case "keep":
            return keep
        case "drop":
            return ~keep
    return np.where(keep, 0.0, -np.inf)


def _tokens(argument: Argument, shape: tuple[int, ...], values: int, rng: np.random.Generator) -> Array:
    tokens = rng.integers(0, values, size=shape)
    if argument.pad is not None and values > 1:
        # Padding is the padding property's to add: a drawn token is a real one.
        tokens = np.where(tokens == argument.pad, (argument.pad + 1) % values, tokens)
    return tokens


def _least(keys: int) -> int:
    """How many keys every row keeps: two, so that the query matters, but one less than there are."""
    return min(2, max(1, keys - 1))


def _lengths(shape: tuple[int, ...], longest: int, rng: np.random.Generator) -> Array:
    """Sorted from long to short, as packing may ask; the first is the longest and the last is not."""
    least = _least(longest)
    lengths = rng.integers(least, max(longest, least + 1), size=shape)
    flat = np.sort(lengths.reshape(-1))[::-1].copy()
    if flat.size:
        flat[0] = longest
    return flat.reshape(shape)


def _mask(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.bool_]:
    """True where a key counts: prefixes of each row, of lengths that differ."""
    keys = shape[-1]
    least = _least(keys)
    lengths = rng.integers(least, max(keys, least + 1), size=(*shape[:-1], 1))
    keep: NDArray[np.bool_] = np.arange(keys) < lengths
    return keep


def keyed_by(argument: Argument, array: Array, keys: int) -> NDArray[np.bool_] | None:
    """Which keys a mask argument lets count, its own axes with the keys last; nothing for other arguments."""
    match argument.kind:
        case "keep":
            return array.astype(bool)
        case "drop":
            return ~array.astype(bool)
        case "additive":
            finite: NDArray[np.bool_] = np.isfinite(array.astype(float))
            return finite
        case "lengths":
            return (np.arange(keys) < array[..., None]).astype(bool)
    return None


def allowed_keys(contract: Contract, inputs: Inputs, sizes: dict[str, int]) -> NDArray[np.bool_] | None:
    """(batch, queries, keys): whether the masks together let a query see a key; None where there is no mask.

    An axis that the contract does not have counts one.
    """
    batch, queries, keys = contract.batch, contract.queries, contract.keys
    if not keys:
        return None
    n = evaluate(keys, sizes)
    total: NDArray[np.bool_] | None = None
    for argument in contract.arguments:
        seen = keyed_by(argument, inputs[argument.name], n)
        if seen is None:
            continue
        dims = [*argument.dims, keys] if argument.kind == "lengths" else list(argument.dims)
        if dims[-1] != keys:
            continue
        part = _laid_out(seen, dims, batch, queries)
        if part is not None:
            total = part if total is None else total & part
    return total


def _laid_out(seen: NDArray[np.bool_], dims: list[str], batch: str, queries: str) -> NDArray[np.bool_] | None:
    """The mask as (batch, queries, keys); nothing where it has an axis of another kind that is not one."""
    index: list[int | slice] = []
    kept: list[str] = []
    for axis, dim in enumerate(dims[:-1]):
        if (dim == batch and "batch" not in kept) or (dim == queries and "queries" not in kept):
            kept.append("batch" if dim == batch else "queries")
            index.append(slice(None))
        elif seen.shape[axis] == 1:
            index.append(0)
        elif dims[-1] == dim and "queries" not in kept:
            kept.append("queries")
            index.append(slice(None))
        else:
            return None
    part: NDArray[np.bool_] = seen[(*index, slice(None))]
    if "batch" not in kept:
        part = part[None]
    if "queries" not in kept:
        part = part[:, None]
    return part
