"""A loss is least where the prediction is the target."""

from __future__ import annotations

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation
from shapedoc.runtime.behave.contract import Argument, Contract
from shapedoc.runtime.behave.draw import Array
from shapedoc.runtime.behave.subject import Subject


class LossIsLeastAtTarget:
    """The loss of a perfect prediction is not above that of a constant or of a permuted one."""

    name = "loss-is-least-at-target"
    says = "the loss of a perfect prediction is the least there is"

    def applies(self, subject: Subject) -> str:
        """It needs a result called loss, and two arguments: the prediction and the target."""
        if not any(r.loss for r in subject.contract.results):
            return "no result is called loss"
        return "" if self._pair(subject.contract) else "a loss needs two arguments, the prediction and the target"

    def check(self, case: Case) -> Violation | None:
        """Compare with the constant mean and with the examples in another order."""
        pair = self._pair(case.contract)
        if pair is None:
            return None
        prediction, target = pair
        wanted = case.inputs[target.name]
        shape = case.inputs[prediction.name].shape
        perfect = self._perfect(prediction, target, wanted, shape, case)
        if perfect is None:
            return None
        name = next(r.name for r in case.contract.results if r.loss)
        base = {**case.inputs, prediction.name: perfect}
        best = float(case.run(base)[name])
        for other, words in (
            (np.full(shape, perfect.mean()), "the mean of all targets for everybody"),
            (np.roll(perfect, 1, axis=0), "the targets of other examples"),
        ):
            changed = {**case.inputs, prediction.name: other}
            worse = float(case.run(changed)[name])
            if worse < best - case.tolerance:
                says = f"a perfect prediction costs {best:.3g}, {words} only {worse:.3g}"
                line = f"assert {name}_after <= {name}, 'a perfect prediction must cost least'"
                return Violation(says, best - worse, base, (line,), changed)
        return None

    def _pair(self, contract: Contract) -> tuple[Argument, Argument] | None:
        found = [a for a in contract.arguments if not a.mask and a.kind != "number"]
        if len(found) != 2 or found[0].kind != "float":
            return None
        return found[0], found[1]

    def _perfect(
        self, prediction: Argument, target: Argument, wanted: Array, shape: tuple[int, ...], case: Case
    ) -> Array | None:
        if target.kind == "int":
            classes = case.size(target.bound)
            if target.bound not in prediction.dims:
                return None
            axis = prediction.dims.index(target.bound)
            hot = np.moveaxis(np.eye(classes)[wanted], -1, axis)
            return hot * 8.0 if hot.shape == shape else None
        return wanted.reshape(shape) if wanted.size == int(np.prod(shape)) else None
