"""What is predicted is not given: a prediction does not depend on its own element, nor on later ones."""

from __future__ import annotations

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation, fresh, moved
from shapedoc.runtime.behave.contract import names_of
from shapedoc.runtime.behave.draw import Inputs
from shapedoc.runtime.behave.properties.asserting import part_stays
from shapedoc.runtime.behave.subject import Subject


class NoTargetLeaks:
    """Changing an element that is predicted leaves its own prediction, and all before it, as they were."""

    name = "no-target-leaks"
    says = "changing an element leaves its own prediction, and all before it, as they were"

    def applies(self, subject: Subject) -> str:
        """Where the contract says `predicts AXIS`."""
        return "" if subject.contract.option("predicts") else "the contract names no axis of predictions"

    def check(self, case: Case) -> Violation | None:
        """Change the first element, one in the middle, then the last."""
        for axis_name in case.contract.option("predicts"):
            n = case.size(axis_name)
            for index in dict.fromkeys((0, n // 2, n - 1)):
                changed = _changed(case, axis_name, index)
                after = case.run(changed)
                for result, axis in case.results(axis_name):
                    where = moved(case.outputs[result.name], after[result.name], axis, case.tolerance)
                    seen = {i: d for i, d in where.items() if i <= index}
                    if seen:
                        last = max(seen)
                        what = "its own prediction" if last == index else f"the prediction of {last}"
                        says = f"changing element {index} of {axis_name} moves {what} in `{result.name}`"
                        says += f" by {seen[last]:.3g}; what is predicted must not be given"
                        asserts = part_stays(result.name, axis, None, index + 1)
                        return Violation(says, max(seen.values()), changed, asserts)
        return None


def _changed(case: Case, axis_name: str, index: int) -> Inputs:
    """One element drawn anew wherever it is given, also behind what is known beforehand: axes such as ``P + T``."""
    rng, changed = case.rng, dict(case.inputs)
    for argument in case.contract.arguments:
        for axis, dim in enumerate(argument.dims):
            if axis_name not in names_of(dim) or "*" in dim or argument.mask:
                continue
            place = case.size(dim) - case.size(axis_name) + index
            array = np.array(changed[argument.name])
            slot = (slice(None),) * axis + (place,)
            array[slot] = fresh(argument, array[slot], case, rng)
            changed[argument.name] = array
    return changed
