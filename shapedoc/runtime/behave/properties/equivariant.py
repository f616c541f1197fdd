"""Self-attention without positions does not know the order of its tokens."""

from __future__ import annotations

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation, differs
from shapedoc.runtime.behave.properties.asserting import CLOSE
from shapedoc.runtime.behave.subject import Subject


class OrderFollowsInput:
    """Permuting the positions of the input permutes the outputs alike."""

    name = "order-follows-input"
    says = "permuting the positions of the input permutes the outputs alike"

    def applies(self, subject: Subject) -> str:
        """Where the contract says `equivariant AXIS`."""
        return "" if subject.contract.option("equivariant") else "the contract says no `equivariant AXIS`"

    def check(self, case: Case) -> Violation | None:
        """Permute every argument and every result along the axis."""
        for name in case.contract.option("equivariant"):
            order = np.roll(np.arange(case.size(name)), 1)[::-1]
            changed = {a.name: _ordered(case.inputs[a.name], a.dims, name, order) for a in case.contract.arguments}
            after = case.run(changed)
            for result, axis in case.results(name):
                wanted = _ordered(case.outputs[result.name], result.dims, name, order)
                far = differs(wanted, after[result.name], case.tolerance)
                if far:
                    says = f"`{result.name}` does not follow its input: permuting {name} moves it by {far:.3g}"
                    taken = f"np.take({result.name}, {order.tolist()}, axis={axis})"
                    line = f"np.testing.assert_allclose({result.name}_after, {taken}, {CLOSE})"
                    return Violation(says, far, changed, (line,) if result.dims.count(name) == 1 else ())
        return None


def _ordered(array: np.ndarray, dims: tuple[str, ...], name: str, order: np.ndarray) -> np.ndarray:
    for axis, dim in enumerate(dims):
        if dim == name:
            array = np.take(array, order, axis=axis)
    return array
