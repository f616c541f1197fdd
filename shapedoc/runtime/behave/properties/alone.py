"""An example in a batch gives what it gives alone."""

from __future__ import annotations

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation, differs
from shapedoc.runtime.behave.draw import Inputs
from shapedoc.runtime.behave.properties.asserting import CLOSE
from shapedoc.runtime.behave.subject import Raised, Subject


class AloneAsInBatch:
    """Each example, called in a batch of one, gives the row that it gives in the batch."""

    name = "alone-as-in-batch"
    says = "an example called alone gives what it gives in a batch"

    def applies(self, subject: Subject) -> str:
        """It needs a batch axis on an argument and on a result."""
        if not subject.contract.batch:
            return "no batch axis"
        return (
            ""
            if any(subject.contract.batch in r.dims for r in subject.contract.results)
            else "no result has the batch axis"
        )

    def check(self, case: Case) -> Violation | None:
        """Call every example alone, the shortest too."""
        batch = case.contract.batch
        for row in range(case.size(batch)):
            single = _only(case, row)
            try:
                alone = case.run(single)
            except Raised as raised:
                return Violation(f"a batch of one raises {raised}", float("inf"), single, ())
            for result, axis in case.results(batch):
                whole = np.take(case.outputs[result.name], [row], axis=axis)
                got = alone[result.name]
                far = differs(whole, got, case.tolerance)
                if far:
                    if got.shape != whole.shape:
                        says = f"`{result.name}` of a batch of one is {got.shape}, must be {whole.shape}"
                    else:
                        says = f"`{result.name}` of example {row} alone differs by {far:.3g} from its row in the batch"
                    taken = f"np.take({result.name}, [{row}], axis={axis})"
                    line = f"np.testing.assert_allclose({result.name}_after, {taken}, {CLOSE})"
                    return Violation(says, far, single, (line,))
        return None


def _only(case: Case, row: int) -> Inputs:
    """The inputs of one example, lengths and masks with it."""
    batch = case.contract.batch
    return {
        a.name: np.take(case.inputs[a.name], [row], axis=a.dims.index(batch))
        if batch in a.dims
        else case.inputs[a.name]
        for a in case.contract.arguments
    }
