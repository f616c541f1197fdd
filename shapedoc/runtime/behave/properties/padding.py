"""More padding leaves the real outputs as they were."""

from __future__ import annotations

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation, differs
from shapedoc.runtime.behave.contract import Argument, Contract
from shapedoc.runtime.behave.draw import Inputs
from shapedoc.runtime.behave.properties.asserting import CLOSE
from shapedoc.runtime.behave.subject import Raised, Subject

_EXTRA = 2


class PaddingChangesNothing:
    """Tokens with padding after them give, on the real positions, what they give without it."""

    name = "padding-changes-nothing"
    says = "padding after the last token changes no real output"

    def applies(self, subject: Subject) -> str:
        """It needs tokens with a padding token, `int<V pad=0`."""
        return "" if self._padded(subject.contract) else "no argument says which token is padding"

    def check(self, case: Case) -> Violation | None:
        """Put two padding tokens behind each padded argument in turn."""
        for argument in self._padded(case.contract):
            axis = argument.dims[-1]
            changed = self._longer(case, axis)
            try:
                after = case.run(changed)
            except Raised as raised:
                return Violation(f"two more padding tokens in `{argument.name}` raise {raised}", float("inf"), changed)
            n = case.size(axis)
            for result in case.contract.results:
                got, text = after[result.name], f"{result.name}_after"
                for place, dim in enumerate(result.dims):
                    if dim == axis and got.shape[place] > n:
                        got = np.take(got, range(n), axis=place)
                        text = f"np.take({text}, range({n}), axis={place})"
                far = differs(case.outputs[result.name], got, case.tolerance)
                if far:
                    says = (
                        f"`{result.name}` moves by {far:.3g} when two padding tokens follow `{argument.name}`;"
                        " padding must change nothing"
                    )
                    return Violation(
                        says, far, changed, (f"np.testing.assert_allclose({text}, {result.name}, {CLOSE})",)
                    )
        return None

    def _padded(self, contract: Contract) -> list[Argument]:
        return [a for a in contract.arguments if a.kind == "int" and a.pad is not None and a.dims]

    def _longer(self, case: Case, axis: str) -> Inputs:
        """All arguments along an axis with two places more: padding, hidden keys, or zeros."""
        longer = dict(case.inputs)
        for argument in case.contract.arguments:
            if axis not in argument.dims:
                continue
            array = case.inputs[argument.name]
            fill = {"keep": False, "drop": True, "additive": -np.inf}.get(argument.kind, argument.pad or 0)
            width = [(0, _EXTRA if dim == axis else 0) for dim in argument.dims]
            longer[argument.name] = np.pad(array, width, constant_values=fill)
        return longer
