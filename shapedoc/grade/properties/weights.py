"""``zero-on-padding`` and ``sums-to-one``: what weights of attention are, without an oracle's numbers."""

from __future__ import annotations

import numpy as np

from shapedoc.grade.comparing import numeric
from shapedoc.grade.draws import Array, Recipe
from shapedoc.grade.plan import Reply
from shapedoc.grade.properties.asking import FunctionProperty, place_of, recipe_of
from shapedoc.grade.properties.property import Case, Fault, Setting

__all__ = ["WEIGHTS", "SumsToOne", "ZeroOnPadding", "keep_of", "lengths_of", "padding_fault", "sum_fault"]

WEIGHTS = ("weights", "attention", "attn", "alpha")
"""What a result is called that holds weights of attention."""

_NOTHING = 1e-9


def keep_of(lengths: Array, weights: Array) -> Array:
    """Whether a key is real, in the shape of the weights: batch first, keys last."""
    keep = np.arange(weights.shape[-1]) < np.asarray(lengths).reshape(-1, *(1,) * (weights.ndim - 1))
    return np.asarray(np.broadcast_to(keep, weights.shape))


def padding_fault(weights: Array, right: Array, lengths: Array, name: str) -> Fault | None:
    """The largest weight that padding got, in a row with a key at all."""
    keep = keep_of(lengths, weights)
    some = (np.asarray(lengths) > 0).reshape(-1, *(1,) * (weights.ndim - 1))
    got = np.where(~keep & some, np.abs(np.nan_to_num(np.asarray(weights, float), nan=np.inf)), 0.0)
    if not (got > _NOTHING).any():
        return None
    place = tuple(int(i) for i in np.unravel_index(int(got.argmax()), got.shape))
    values: dict[str, object] = {
        "row": place[0],
        "length": int(lengths[place[0]]),
        "key": place[-1],
        "place": place_of(name, place),
        "got": f"{float(weights[place]):.3g}",
    }
    return Fault("padding", values, weights[place[0]], right[place[0]], f"{name}[{place[0]}]", float(got[place]))


def sum_fault(weights: Array, right: Array, lengths: Array | None, name: str, tolerance: float) -> Fault | None:
    """The row whose weights are negative, or whose sum over the keys is furthest from one."""
    numbers = np.asarray(weights, dtype=float)
    rows = np.ones(numbers.shape[:-1], dtype=bool)
    if lengths is not None:
        rows = np.asarray(np.broadcast_to(keep_of(lengths, weights).any(axis=-1), rows.shape))
    least = np.where(rows[..., None], numbers, 0.0)
    if (least < -tolerance).any():
        place = tuple(int(i) for i in np.unravel_index(int(np.argmin(least)), least.shape))
        values: dict[str, object] = {"place": place_of(name, place), "got": f"{float(numbers[place]):.3g}"}
        shown = weights[place[0]], right[place[0]]
        return Fault("negative", values, *shown, f"{name}[{place[0]}]", float(-least[place]))
    sums = numbers.sum(axis=-1)
    off = np.where(rows, np.nan_to_num(np.abs(sums - 1.0), nan=np.inf), 0.0)
    if not (off > tolerance).any():
        return None
    place = tuple(int(i) for i in np.unravel_index(int(off.argmax()), off.shape))
    values = {"place": place_of(name, place), "got": f"{float(sums[place]):.3g}"}
    return Fault("sum", values, weights[place[0]], right[place[0]], f"{name}[{place[0]}]", float(off[place]))


class _OfWeights(FunctionProperty):
    """A property of the result that ``result`` names, the first where none is named; its last axis is the keys."""

    def weights(self, setting: Setting, case: Case, reply: Reply, right: tuple[Array, ...]) -> tuple[int, Fault | None]:
        """Which result, and why it cannot be looked at."""
        index = self.chosen(setting, case)[0]
        name = case.results[index]
        if index >= len(reply.arrays):
            return index, Fault(
                "result_missing", {"result": name, "count": len(case.results), "got": len(reply.arrays)}
            )
        got = reply.arrays[index]
        if not numeric(got) or got.shape != right[index].shape:
            return index, self.shapes(setting, case, reply, right) or Fault("no_numbers", {"result": name})
        return index, None


class ZeroOnPadding(_OfWeights):
    """No weight on keys at or past the length of their row."""

    name = "zero-on-padding"

    def check_more(self, setting: Setting, recipe: Recipe) -> str:
        """It needs lengths."""
        kinds = {a.kind for a in recipe.contract.arguments}
        return "" if "lengths" in kinds else "`zero-on-padding` needs an argument `lengths<T B` in the contract"

    def compare(self, setting: Setting, case: Case, reply: Reply, right: tuple[Array, ...]) -> Fault | None:
        """Every weight past the length; the weights must be weights at all, since zeros everywhere earn nothing."""
        index, fault = self.weights(setting, case, reply, right)
        if fault or case.drawn is None:
            return fault
        lengths, got, name = lengths_of(setting, case), reply.arrays[index], case.results[index]
        if lengths is None:
            return None
        found = padding_fault(got, right[index], lengths, name)
        return found or sum_fault(got, right[index], lengths, name, self.tolerance(setting))


class SumsToOne(_OfWeights):
    """The weights of every query are not negative, and sum to one over its keys."""

    name = "sums-to-one"

    def compare(self, setting: Setting, case: Case, reply: Reply, right: tuple[Array, ...]) -> Fault | None:
        """Every row that has a key, and no zero row where there are keys."""
        index, fault = self.weights(setting, case, reply, right)
        if fault:
            return fault
        lengths = lengths_of(setting, case)
        return sum_fault(reply.arrays[index], right[index], lengths, case.results[index], self.tolerance(setting))


def lengths_of(setting: Setting, case: Case) -> Array | None:
    """The lengths among the inputs of a case, where its contract has some."""
    for argument in recipe_of(setting.parameters).contract.arguments:
        if argument.kind == "lengths" and case.drawn is not None:
            return case.drawn.array(argument.name)
    return None
