"""A function equals the one it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shapedoc.runtime.behave.case import Case, Violation, differs
from shapedoc.runtime.behave.subject import Raised, Subject


class EqualsReference:
    """The same inputs give what the reference gives: one head the single-head model, steps the whole sequence."""

    name = "equals-reference"
    says = "it gives what the reference gives"

    def __init__(self, reference: Callable[..., Any] | None) -> None:
        self.reference = reference

    def applies(self, subject: Subject) -> str:
        """Where a reference is given."""
        return "" if self.reference is not None else "no reference is given"

    def check(self, case: Case) -> Violation | None:
        """Call the reference with the same inputs."""
        if self.reference is None:
            return None
        other = Subject(self.reference, case.contract, None, None)
        try:
            wanted = other.call(case.inputs)
        except Raised as raised:
            return Violation(f"the reference raises {raised}")
        for result in case.contract.results:
            got = case.outputs[result.name]
            if got.shape != wanted[result.name].shape:
                return Violation(f"`{result.name}` is {got.shape}, the reference gives {wanted[result.name].shape}")
            far = differs(wanted[result.name], got, case.tolerance)
            if far:
                return Violation(f"`{result.name}` differs from the reference by {far:.3g}", far)
        return None
