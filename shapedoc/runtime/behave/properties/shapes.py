"""The results have the shapes that the contract says."""

from __future__ import annotations

from shapedoc.runtime.behave.case import Case, Violation
from shapedoc.runtime.behave.subject import Subject


class ShapesAsStated:
    """Every result has the contract's shape, with sizes that are all different."""

    name = "shapes-as-stated"
    says = "every result has the shape that the contract says"

    def applies(self, subject: Subject) -> str:
        """It always does."""
        return ""

    def check(self, case: Case) -> Violation | None:
        """Compare every axis."""
        for result in case.contract.results:
            wanted = tuple(case.size(dim) for dim in result.dims)
            got = case.outputs[result.name].shape
            if got != wanted:
                names = ", ".join(result.dims)
                says = f"`{result.name}` is {got}, must be ({names}) = {wanted}"
                return Violation(says, 0.0, None, (f"assert {result.name}.shape == {wanted}",))
        return None
