"""``equals``: the function gives what the oracle, or the reference module, gives."""

from __future__ import annotations

from shapedoc.grade.comparing import close, tolerance_of
from shapedoc.grade.draws import Array, Recipe
from shapedoc.grade.plan import Reply
from shapedoc.grade.properties.asking import FunctionProperty, wrong_number
from shapedoc.grade.properties.property import Case, Fault, Setting
from shapedoc.grade.properties.weights import WEIGHTS, lengths_of, padding_fault


class Equals(FunctionProperty):
    """Every number is right but for rounding; with ``keeps_dtype`` the results have the precision of the inputs."""

    name = "equals"
    keys = frozenset(("keeps_dtype",))

    def check_more(self, setting: Setting, recipe: Recipe) -> str:
        """Its own parameters."""
        names = [r.name for r in recipe.contract.results]
        result = setting.parameters.get("result")
        if result is not None and result not in names:
            return f"`result` is {result!r}; the contract has {', '.join(names)}"
        if not isinstance(setting.parameters.get("keeps_dtype", False), bool):
            return "`keeps_dtype` must be true or false"
        return ""

    def compare(self, setting: Setting, case: Case, reply: Reply, right: tuple[Array, ...]) -> Fault | None:
        """Shapes, then precision, then numbers."""
        if fault := self.shapes(setting, case, reply, right):
            return fault
        for index in self.chosen(setting, case):
            got, name = reply.arrays[index], case.results[index]
            dtype = str(setting.parameters.get("dtype", "float32"))
            fault = wrong_number(got, right[index], name, self.tolerance(setting))
            if fault and (lengths := lengths_of(setting, case)) is not None and name in WEIGHTS:
                fault = padding_fault(got, right[index], lengths, name) or fault
            if fault and not close(got, right[index], max(tolerance_of(str(got.dtype)), self.tolerance(setting))):
                return fault
            if fault or (setting.parameters.get("keeps_dtype") and str(got.dtype) != dtype):
                return Fault("dtype", {"result": name, "got": str(got.dtype), "expected": dtype}, gap=_gap(fault))
        return None


def _gap(fault: Fault | None) -> float | None:
    return fault.gap if fault is not None else None
