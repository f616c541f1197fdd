"""Every input matters."""

from __future__ import annotations

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation, differs, fresh
from shapedoc.runtime.behave.contract import Argument
from shapedoc.runtime.behave.draw import Array
from shapedoc.runtime.behave.subject import Raised, Subject


class EveryInputMatters:
    """Drawing one argument anew changes some result; so does a mask that hides nothing in place of one that does."""

    name = "every-input-matters"
    says = "every argument changes some result"

    def applies(self, subject: Subject) -> str:
        """It always does."""
        return ""

    def check(self, case: Case) -> Violation | None:
        """Exchange each argument in turn."""
        for argument in case.contract.arguments:
            other = self._other(case, argument)
            if other is None or np.array_equal(other, case.inputs[argument.name]):
                continue
            changed = {**case.inputs, argument.name: other}
            try:
                after = case.run(changed)
            except Raised:
                continue
            if not any(
                differs(case.outputs[r.name], after[r.name], case.tolerance / 100) for r in case.contract.results
            ):
                first = case.contract.results[0].name
                what = "is never used: no result depends on it" if argument.mask else "changes no result at all"
                line = f"assert np.abs({first}_after - {first}).max() > 1e-7"
                return Violation(f"`{argument.name}` {what}", 0.0, changed, (line,))
        return None

    def _other(self, case: Case, argument: Argument) -> Array | None:
        old = case.inputs[argument.name]
        match argument.kind:
            case "number":
                return None
            case "keep":
                return np.ones_like(old)
            case "drop" | "additive":
                return np.zeros_like(old)
            case "lengths":
                return np.full_like(old, case.size(argument.bound))
        return fresh(argument, old, case, case.rng)
