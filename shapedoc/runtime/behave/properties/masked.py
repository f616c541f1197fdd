"""A masked key changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shapedoc.runtime.behave.case import Case, Violation, change, gap, scale
from shapedoc.runtime.behave.contract import Contract, Result
from shapedoc.runtime.behave.draw import Array, allowed_keys
from shapedoc.runtime.behave.properties.asserting import CLOSE
from shapedoc.runtime.behave.subject import Subject


class MaskedKeysChangeNothing:
    """Drawing a masked key and its value anew leaves every output that may not see it as it was."""

    name = "masked-keys-change-nothing"
    says = "a key that the mask hides changes nothing"

    def applies(self, subject: Subject) -> str:
        """It needs a mask or lengths, and the keys on a tensor."""
        if not any(a.mask for a in subject.contract.arguments):
            return "no mask and no lengths"
        keys = subject.contract.keys
        return (
            ""
            if any(keys in a.dims and not a.mask for a in subject.contract.arguments)
            else f"no argument carries {keys}"
        )

    def check(self, case: Case) -> Violation | None:
        """Change each hidden key of each example."""
        contract = case.contract
        seen = allowed_keys(contract, case.inputs, case.sizes)
        if seen is None:
            return None
        names = [a.name for a in contract.arguments]
        for row in range(seen.shape[0]):
            for key in range(seen.shape[2] - 1, -1, -1):
                if seen[row, :, key].all():
                    continue
                changed = change(case, names, contract.keys, key, row if seen.shape[0] > 1 else None)
                after = case.run(changed)
                found = self._leak(case, seen, row, key, after)
                if found is not None:
                    name, index, far = found
                    says = f"key {key} of example {row} is masked, yet changing it moves `{name}` by {far:.3g}"
                    at = "[" + ", ".join(":" if i is None else str(i) for i in index) + "]"
                    line = f"np.testing.assert_allclose({name}_after{at}, {name}{at}, {CLOSE})"
                    return Violation(says, far, changed, (line,))
        return None

    def _leak(
        self, case: Case, seen: NDArray[np.bool_], row: int, key: int, after: dict[str, Array]
    ) -> tuple[str, list[int | None], float] | None:
        """A result that moved where it must not: its name, the place, and how far."""
        for result in case.contract.results:
            distance = gap(case.outputs[result.name], after[result.name])
            limit = case.tolerance * scale(case.outputs[result.name])
            for index in _places(case.contract, result, distance.shape, seen[row], row, key):
                far = float(distance[tuple(slice(None) if i is None else i for i in index)].max(initial=0.0))
                if far > limit:
                    return result.name, index, far
        return None


def _places(
    contract: Contract, result: Result, shape: tuple[int, ...], seen: NDArray[np.bool_], row: int, key: int
) -> Iterator[list[int | None]]:
    """Where in a result a hidden key may not show. seen: (queries, keys) of this example.

    A position of self-attention may depend on itself, and what stands on padding is nobody's concern.
    """
    dims = result.dims
    base: list[int | None] = [row if dim == contract.batch else None for dim in dims]
    own = contract.queries if contract.queries in dims else contract.keys
    plain = dims[:-1] if result.weights else dims
    if own not in plain:
        if not seen[:, key].any():
            yield base
        return
    axis = plain.index(own)
    for position in range(shape[axis]):
        visible = seen[position if seen.shape[0] > 1 else 0]
        if visible[key] or (own == contract.keys and (position == key or not visible[position])):
            continue
        index = list(base)
        index[axis] = position
        yield index
