"""Attention weights are a distribution over the keys."""

from __future__ import annotations

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation
from shapedoc.runtime.behave.contract import Contract
from shapedoc.runtime.behave.draw import allowed_keys
from shapedoc.runtime.behave.subject import Subject


class WeightsSumToOne:
    """The weights are not negative, sum to one over the keys, and are zero where a key is hidden."""

    name = "weights-sum-to-one"
    says = "the weights are not negative, sum to one over the keys and are zero on hidden keys"

    def applies(self, subject: Subject) -> str:
        """It needs a result called weights."""
        return "" if any(r.weights for r in subject.contract.results) else "no result is called weights"

    def check(self, case: Case) -> Violation | None:
        """Sum them, and look at the hidden keys."""
        contract = case.contract
        seen = allowed_keys(contract, case.inputs, case.sizes)
        for result in contract.results:
            if not result.weights:
                continue
            weights = np.asarray(case.outputs[result.name], dtype=float)
            name = result.name
            if weights.min(initial=0.0) < -case.tolerance:
                return Violation(
                    f"`{name}` has a negative weight, {weights.min():.3g}", 0.0, None, (f"assert {name}.min() >= 0",)
                )
            off = np.abs(weights.sum(axis=-1) - 1)
            if off.max(initial=0.0) > 1e-4:
                at = np.unravel_index(int(off.argmax()), off.shape)
                place = ", ".join(f"{dim} {i}" for dim, i in zip(result.dims, at, strict=False))
                total = weights.sum(axis=-1)[at]
                says = f"the weights at {place or 'the only query'} sum to {total:.4g} over {result.dims[-1]}, not to 1"
                line = f"np.testing.assert_allclose({name}.sum(axis=-1), 1, atol=1e-4)"
                return Violation(says, float(off.max()), None, (line,))
            hidden = self._hidden(contract, result.dims, weights, seen)
            if hidden is not None:
                index, weight = hidden
                says = f"key {index[-1]} is masked, yet it got weight {weight:.3g} at {list(index[:-1])}; it must be 0"
                return Violation(says, weight, None, (f"assert {name}[{', '.join(map(str, index))}] == 0",))
        return None

    def _hidden(
        self, contract: Contract, dims: tuple[str, ...], weights: np.ndarray, seen: np.ndarray | None
    ) -> tuple[tuple[int, ...], float] | None:
        """A hidden key with weight: its index, and the weight."""
        if seen is None:
            return None
        spread = seen
        shape = [1] * (len(dims) - 1) + [weights.shape[-1]]
        source: list[int | slice] = [0, 0, slice(None)]
        if contract.batch in dims:
            shape[dims.index(contract.batch)] = spread.shape[0]
            source[0] = slice(None)
        own = contract.queries or contract.keys
        if own in dims[:-1]:
            shape[dims.index(own)] = spread.shape[1]
            source[1] = slice(None)
        elif spread.shape[1] > 1:
            return None
        allowed = spread[tuple(source)].reshape(shape)
        bad = np.where(allowed, 0.0, weights)
        if bad.max(initial=0.0) > 1e-6:
            index = tuple(int(i) for i in np.unravel_index(int(bad.argmax()), bad.shape))
            return index, float(bad.max())
        return None
