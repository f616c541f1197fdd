"""The library of properties that an assignment's rubric names, one file each."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapedoc.grade.assignment import Assignment, RubricItem
    from shapedoc.grade.properties.property import Property

__all__ = ["check_item", "merged", "properties"]


def properties() -> Mapping[str, Property]:
    """Every property by its name; loads NumPy."""
    from shapedoc.grade.properties.behaves import Behaves
    from shapedoc.grade.properties.equals import Equals
    from shapedoc.grade.properties.gradients import Gradients
    from shapedoc.grade.properties.model_order import InputsMatter, QueriesPreviousState
    from shapedoc.grade.properties.model_results import ModelShapes, ModelWeights, RowsAlone
    from shapedoc.grade.properties.refuses import Refuses
    from shapedoc.grade.properties.shapes import Shapes
    from shapedoc.grade.properties.trained import BeatsBaseline, Learns
    from shapedoc.grade.properties.weights import SumsToOne, ZeroOnPadding

    found: tuple[Property, ...] = (
        Equals(),
        Shapes(),
        ZeroOnPadding(),
        SumsToOne(),
        Gradients(),
        Refuses(),
        Behaves(),
        ModelShapes(),
        ModelWeights(),
        RowsAlone(),
        QueriesPreviousState(),
        InputsMatter(),
        Learns(),
        BeatsBaseline(),
    )
    return {one.name: one for one in found}


def merged(assignment: Assignment, item: RubricItem) -> Mapping[str, object]:
    """An item's parameters, with those of the ``[draws.NAME]`` that it names below them.

    Raises KeyError with the name of a draw that there is not.
    """
    draw = item.parameters.get("draw")
    if draw is None:
        return item.parameters
    shared = assignment.settings.get("draws", {}).get(str(draw))
    if not isinstance(shared, dict):
        raise KeyError(str(draw))
    return {**shared, **item.parameters}


def check_item(assignment: Assignment, item: RubricItem) -> str:
    """Why an item cannot be marked, or nothing."""
    import numpy as np

    from shapedoc.grade.properties.property import Setting

    known = properties()
    if item.property not in known:
        near = get_close_matches(item.property, known, 1)
        hint = f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(known)}"
        return f"`property` is {item.property!r}, which the library does not have{hint}"
    try:
        parameters = merged(assignment, item)
    except KeyError as problem:
        return f"`draw` is {problem}, and there is no `[draws.{problem.args[0]}]`"
    framework = "numpy" if assignment.framework == "numpy" else "torch"
    setting = Setting(assignment, item, parameters, framework, np.random.default_rng(0))  # type: ignore[arg-type]
    return known[item.property].check(setting)
