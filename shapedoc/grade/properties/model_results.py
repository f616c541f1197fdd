"""What an untrained model gives: ``model-shapes``, ``model-weights``, ``rows-alone``."""

from __future__ import annotations

import numpy as np

from shapedoc.grade.comparing import distance
from shapedoc.grade.plan import Step
from shapedoc.grade.properties.asking import place_of, shape_fault
from shapedoc.grade.properties.model import PAD, ModelProperty, Task
from shapedoc.grade.properties.property import Case, Fault, Heard, Setting
from shapedoc.grade.properties.weights import padding_fault, sum_fault

__all__ = ["ModelShapes", "ModelWeights", "RowsAlone"]

_SIZES = ((1, 3, 2), (2, 4, 3), (4, 7, 5))
_CLOSE = 1e-4


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
        return self.numbers(setting, case, results[1])

    def numbers(
        self, setting: Setting, case: Case, weights: np.ndarray[tuple[int, ...], np.dtype[np.generic]]
    ) -> Fault | None:
        """What a subclass looks at in the weights (B, T_dec, T_enc)."""
        return None


class ModelWeights(ModelShapes):
    """The weights are not negative, zero on padding, and sum to one over the source."""

    name = "model-weights"

    def numbers(
        self, setting: Setting, case: Case, weights: np.ndarray[tuple[int, ...], np.dtype[np.generic]]
    ) -> Fault | None:
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
            whole = np.allclose(numbers.sum(axis=-1), 1.0, atol=1e-3)
            values["mistake"] = "mask-never-used" if whole else "padding-has-weight"
        elif "mistake" not in values and fault.kind == "sum" and (numbers.sum(axis=-1) <= 1.001).all():
            values["mistake"] = "mask-after-softmax"
        return Fault(fault.kind, values, fault.output, None, fault.result, fault.gap)


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
            alone: tuple[Step, ...] = tuple(
                task.call(f"{name}/{row}", source[row : row + 1, :n], target_in[row : row + 1], lengths[row : row + 1])
                for row, n in enumerate(lengths)
            )
            together = task.call(name, source, target_in, lengths)
            made.append(
                self.case(name, task, (together, *alone), sizes=(batch, t_dec, t_enc), lengths=lengths, source=source)
            )
        return made

    def judge(self, setting: Setting, case: Case, heard: Heard) -> Fault | None:
        """The logits of each row; what differs in a padded row is padding's doing, in a full one its neighbours'."""
        task, shape = Task.of(setting), case.facts["sizes"]
        results = self.results(heard, case.main, task, shape)  # type: ignore[arg-type]
        if isinstance(results, Fault):
            return results
        lengths, t_enc = np.asarray(case.facts["lengths"]), shape[2]  # type: ignore[index]
        for row, length in sorted(enumerate(lengths), key=lambda pair: -pair[1]):
            reply = heard.reply(f"{case.main}/{row}")
            if reply.status != "ok":
                return self._broken(heard, f"{case.main}/{row}", task, (1, shape[1], int(length)))  # type: ignore[index]
            if fault := shape_fault(reply.arrays[0], results[0][row : row + 1], "logits"):
                return Fault(fault.kind, fault.values)
            gaps = distance(reply.arrays[0][0], results[0][row])
            if float(gaps.max(initial=0.0)) > _CLOSE:
                kind = "row_padding" if length < t_enc else "row_mixes"
                mistake = "padding-reaches-result" if length < t_enc else "rows-mix"
                values = {"row": row, "length": int(length), "gap": f"{gaps.max():.2g}", "mistake": mistake, "pad": PAD}
                return Fault(kind, values, gap=float(gaps.max()))
        return None

    def _broken(self, heard: Heard, step: str, task: Task, shape: tuple[int, int, int]) -> Fault:
        found = self.results(heard, step, task, shape)
        return found if isinstance(found, Fault) else Fault("not_run")
