"""An example in a batch gives what it gives alone."""

from __future__ import annotations

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation, differs
from shapedoc.runtime.behave.contract import names_of
from shapedoc.runtime.behave.draw import Inputs
from shapedoc.runtime.behave.properties.asserting import CLOSE
from shapedoc.runtime.behave.subject import Raised, Subject


class AloneAsInBatch:
    """Each example, called in a batch of one, gives the row that it gives in the batch."""

    name = "alone-as-in-batch"
    says = "an example called alone gives what it gives in a batch"

    def applies(self, subject: Subject) -> str:
        """It needs a batch axis on an argument and on a result."""
        batch = subject.contract.batch
        if not batch:
            return "no batch axis"
        for argument in subject.contract.arguments:
            if not all(_is_block(d, batch) for d in argument.dims if batch in names_of(d)):
                return f"`{argument.name}` does not say where the examples of the batch are"
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
    """The inputs of one example, lengths and masks with it; of an axis that holds several of each, its own block."""
    batch, many = case.contract.batch, case.size(case.contract.batch)
    single = dict(case.inputs)
    for argument in case.contract.arguments:
        for axis, dim in enumerate(argument.dims):
            if batch in names_of(dim):
                block = case.size(dim) // many
                taken = range(row * block, (row + 1) * block)
                single[argument.name] = np.take(single[argument.name], taken, axis=axis)
    return single


def _is_block(dim: str, batch: str) -> bool:
    """Whether an axis counts so many for each example, the examples one after the other: ``B*G``."""
    return dim == batch or (dim.partition("*")[0].strip() == batch and names_of(dim).count(batch) == 1)
