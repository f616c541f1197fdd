"""The order of the keys does not matter to attention."""

from __future__ import annotations

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation, differs
from shapedoc.runtime.behave.properties.asserting import CLOSE
from shapedoc.runtime.behave.subject import Subject


class KeysInAnyOrder:
    """Permuting keys, values and masks together leaves the outputs as they were and permutes the weights."""

    name = "keys-in-any-order"
    says = "permuting keys and values together changes nothing but the order of the weights"

    def applies(self, subject: Subject) -> str:
        """Not to self-attention over positions, to tokens that are encoded in order, or to lengths."""
        keys = subject.contract.keys
        if not keys:
            return "no axis of keys"
        if keys in subject.contract.option("ordered") or keys in subject.contract.option("causal"):
            return f"the contract says that the order of {keys} matters"
        carriers = [a for a in subject.contract.arguments if keys in a.dims]
        if not any(a.kind == "float" for a in carriers):
            return f"no float argument carries {keys}"
        if any(a.kind == "int" for a in carriers):
            return f"tokens along {keys} are read in order"
        if any(a.kind == "lengths" for a in subject.contract.arguments):
            return "lengths count from the first key"
        own = [r for r in subject.contract.results if keys in (r.dims[:-1] if r.weights else r.dims)]
        return f"{keys} is also the axis of the queries" if own else ""

    def check(self, case: Case) -> Violation | None:
        """Turn the keys by one place, then reverse them."""
        keys = case.contract.keys
        n = case.size(keys)
        order = np.roll(np.arange(n), 1)[::-1]
        changed = dict(case.inputs)
        for argument in case.contract.arguments:
            if keys in argument.dims:
                axis = len(argument.dims) - 1 - argument.dims[::-1].index(keys)
                changed[argument.name] = np.take(case.inputs[argument.name], order, axis=axis)
        after = case.run(changed)
        for result in case.contract.results:
            before = case.outputs[result.name]
            wanted, text = before, result.name
            if keys in result.dims:
                axis = len(result.dims) - 1 - result.dims[::-1].index(keys)
                wanted = np.take(before, order, axis=axis)
                text = f"np.take({result.name}, {order.tolist()}, axis={axis})"
            far = differs(wanted, after[result.name], case.tolerance)
            if far:
                says = f"`{result.name}` moves by {far:.3g} when keys and values are permuted together along {keys}"
                line = f"np.testing.assert_allclose({result.name}_after, {text}, {CLOSE})"
                return Violation(says, far, changed, (line,))
        return None
