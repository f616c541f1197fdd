"""``shapes``: the results have the shapes of the contract, whatever their numbers."""

from __future__ import annotations

from shapedoc.grade.draws import Array
from shapedoc.grade.plan import Reply
from shapedoc.grade.properties.asking import FunctionProperty
from shapedoc.grade.properties.property import Case, Fault, Setting


class Shapes(FunctionProperty):
    """Every result is an array of the framework that the inputs came in, with the stated axes."""

    name = "shapes"

    def compare(self, setting: Setting, case: Case, reply: Reply, right: tuple[Array, ...]) -> Fault | None:
        """Shapes only."""
        return self.shapes(setting, case, reply, right)
