"""What an untrained model gives: ``model-shapes``, ``model-weights``, ``rows-alone``."""

from __future__ import annotations

import numpy as np

from shapedoc.grade.comparing import distance
from shapedoc.grade.draws import Array
from shapedoc.grade.plan import Step
from shapedoc.grade.properties.asking import place_of
from shapedoc.grade.properties.model import ModelProperty, Task
from shapedoc.grade.properties.property import Case, Fault, Heard, Setting
from shapedoc.grade.properties.weights import padding_fault, sum_fault

__all__ = ["ModelShapes", "ModelWeights", "RowsAlone"]

_SIZES = ((1, 3, 2), (2, 4, 3), (4, 7, 5))
_CLOSE = 1e-4
_PADDING = ("row_padding", "padding-reaches-result")


def _probabilities(logits: Array) -> bool:
    """Whether logits have been through a softmax: no score of an untrained model sums to one in every row."""
    numbers = np.asarray(logits, dtype=float)
    return bool((numbers >= 0).all() and np.allclose(numbers.sum(axis=-1), 1.0, atol=1e-4))


class ModelShapes(ModelProperty):
    """Logits (B, T_dec, V) and weights (B, T_dec, T_enc), at several sizes."""

    name = "model-shapes"

    def cases(self, setting: Setting) -> list[Case]:
        """A call at every size: (B, T_enc, T_dec)."""
        task = Task.of(setting)
        made = []
        for index, (batch, t_enc, t_dec) in enumerate(_SIZES):
            source, target_in, lengths = self.drawn(setting, task, batch, t_enc, t_dec)
            call = task.call(f"{setting.item.id}/{index}", source, target_in, lengths)
            made.append(self.case(call.id, task, (call,), sizes=(batch, t_dec, t_enc), lengths=lengths))
        return made

    def judge(self, setting: Setting, case: Case, heard: Heard) -> Fault | None:
        """Shapes, and numbers that are finite."""
        shape: tuple[int, int, int] = case.facts["sizes"]  # type: ignore[assignment]
        results = self.results(heard, case.main, Task.of(setting), shape)
        if isinstance(results, Fault):
            return results
        for name, array in zip(case.results, results, strict=True):
            if not np.isfinite(array).all():
                place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
                values = {"result": name, "place": place_of(name, place), "got": str(array[place]), "expected": "…"}
                return Fault("not_finite", values)
        if _probabilities(results[0]):
            return Fault("logits_probabilities", {"mistake": "softmax-twice"})
        return self.numbers(setting, case, results[1])

    def numbers(self, setting: Setting, case: Case, weights: Array) -> Fault | None:
        """What a subclass looks at in the weights (B, T_dec, T_enc)."""
        return None


class ModelWeights(ModelShapes):
    """The weights are not negative, zero on padding, and sum to one over the source."""

    name = "model-weights"

    def numbers(self, setting: Setting, case: Case, weights: Array) -> Fault | None:
        """Sums, then padding; a row that sums over another axis is told apart."""
        lengths = np.asarray(case.facts["lengths"])
        right = np.full(weights.shape, np.nan)
        fault = padding_fault(weights, right, lengths, "weights") or sum_fault(weights, right, lengths, "weights", 1e-3)
        if fault is None:
            return None
        values = dict(fault.values)
        numbers = np.asarray(weights, dtype=float)
        for axis, mistake in ((1, "softmax-over-queries"), (0, "softmax-over-batch")):
            if weights.shape[axis] > 1 and np.allclose(numbers.sum(axis=axis), 1.0, atol=1e-3):
                values["mistake"] = mistake
        if "mistake" not in values and fault.kind == "padding":
            values["mistake"] = _mask_mistake(numbers, lengths)
        elif "mistake" not in values and fault.kind == "sum" and (numbers.sum(axis=-1) <= 1.001).all():
            values["mistake"] = "mask-after-softmax"
        return Fault(fault.kind, values, fault.output, None, fault.result, fault.gap)


def _mask_mistake(weights: Array, lengths: Array) -> str:
    """Which mask gives padding weight: one that is a position too long, or none at all."""
    if not np.allclose(weights.sum(axis=-1), 1.0, atol=1e-3):
        return "padding-has-weight"
    beyond = np.arange(weights.shape[-1]) > lengths[:, None, None]
    inside = np.arange(weights.shape[-1]) < lengths[:, None, None]
    if beyond.any() and (np.abs(np.where(beyond, weights, 0.0)) < 1e-9).all():
        return "length-one-too-long"
    padded = (lengths < weights.shape[-1])[:, None, None] & inside
    return "mask-inverted" if (np.where(padded, weights, 0.0) < 1e-9).all() else "mask-never-used"


class RowsAlone(ModelProperty):
    """An example alone, cut to its length, gives what it gives beside others and with padding."""

    name = "rows-alone"

    def cases(self, setting: Setting) -> list[Case]:
        """A batch, and each of its rows alone."""
        task = Task.of(setting)
        made = []
        for index, (batch, t_enc, t_dec) in enumerate(((2, 4, 3), (3, 7, 4))):
            source, target_in, lengths = self.drawn(setting, task, batch, t_enc, t_dec)
            name = f"{setting.item.id}/{index}"
            alone: list[Step] = []
            for row, n in enumerate(lengths):
                fed, one = target_in[row : row + 1], lengths[row : row + 1]
                alone.append(task.call(f"{name}/{row}/padded", source[row : row + 1], fed, one))
                alone.append(task.call(f"{name}/{row}/cut", source[row : row + 1, :n], fed, one))
            together = task.call(name, source, target_in, lengths)
            made.append(
                self.case(name, task, (together, *alone), sizes=(batch, t_dec, t_enc), lengths=lengths, source=source)
            )
        return made

    def judge(self, setting: Setting, case: Case, heard: Heard) -> Fault | None:
        """The logits of each row, alone: padded they tell whether rows mix, cut to its length whether padding does."""
        task, shape = Task.of(setting), case.facts["sizes"]
        results = self.results(heard, case.main, task, shape)  # type: ignore[arg-type]
        if isinstance(results, Fault):
            return results
        lengths = np.asarray(case.facts["lengths"])
        for how in ("padded", "cut"):
            for row, length in enumerate(lengths):
                width = int(length) if how == "cut" else shape[2]  # type: ignore[index]
                alone = self.results(heard, f"{case.main}/{row}/{how}", task, (1, shape[1], width))  # type: ignore[index]
                if isinstance(alone, Fault):
                    return alone
                gap = float(distance(alone[0][0], results[0][row]).max(initial=0.0))
                if gap > _CLOSE:
                    kind, mistake = ("row_mixes", "rows-mix") if how == "padded" else _PADDING
                    values = {"row": row, "length": int(length), "gap": f"{gap:.2g}", "mistake": mistake}
                    return Fault(kind, values, gap=gap)
        return None
