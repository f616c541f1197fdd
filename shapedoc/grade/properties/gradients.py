"""``gradients``: what autograd gives is what finite differences in the parent give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from shapedoc.grade.comparing import distance, furthest, limit
from shapedoc.grade.draws import Array, Drawn, Recipe
from shapedoc.grade.oracles import ORACLES
from shapedoc.grade.plan import Call, Reply
from shapedoc.grade.properties.asking import FunctionProperty, broken, place_of, shape_fault
from shapedoc.grade.properties.property import Case, Fault, Heard, Setting

_STEP = 1e-5
_TOLERANCE = 1e-5
_MOST = 64


class Gradients(FunctionProperty):
    """The gradient of a random combination of the first result, with respect to the arguments in ``wrt``.

    It is compared with central differences of the right function in float64: of the oracle in the parent, or, where the
    reference module is what is right, of more calls of it in its own child. Nothing of it is taken on trust.
    """

    name = "gradients"
    keys = frozenset(("wrt",))

    def check_more(self, setting: Setting, recipe: Recipe) -> str:
        """Its own parameters: float64, torch, and names of float arguments."""
        wrt = setting.parameters.get("wrt")
        names = [a.name for a in recipe.contract.arguments if a.kind == "float"]
        if not isinstance(wrt, list) or not wrt or any(one not in names for one in wrt):
            return f"`wrt` must be a list of float arguments, of {', '.join(names)}"
        if recipe.dtype != "float64":
            return '`gradients` needs `dtype = "float64"`: differences of float32 are rounding'
        if setting.assignment.framework != "torch":
            return "`gradients` needs an assignment in torch: NumPy has none"
        return ""

    def case(self, setting: Setting, recipe: Recipe, drawn: Drawn, name: str) -> Case:
        """The call with gradients; with a reference module, its calls at both sides of every number too."""
        made = super().case(setting, recipe, drawn, name)
        wrt = tuple(str(one) for one in setting.parameters["wrt"])  # type: ignore[attr-defined]
        shape = tuple(_sizes(recipe, drawn))
        cotangent = setting.rng.normal(size=shape)
        call = Call(
            name,
            made.function,
            kwargs=dict(drawn.inputs),
            framework=setting.framework,
            wrt=wrt,
            cotangent=cotangent,
        )
        moved: tuple[Call, ...] = ()
        if made.expected is None:
            moved = tuple(
                Call(f"{name}/{argument}/{index}/{side}", made.function, kwargs=inputs, framework=setting.framework)
                for argument in wrt
                for index, side, inputs in _sides(drawn, argument)
            )
        return replace(made, steps=(call,), facts={"wrt": wrt, "cotangent": cotangent, "reference": moved})

    def judge(self, setting: Setting, case: Case, heard: Heard) -> Fault | None:
        """The first argument whose gradient is missing, not finite or wrong."""
        reply = heard.reply(case.main)
        if fault := broken(reply, case.function):
            return fault
        right = heard.right(case)
        if right is None or case.drawn is None:
            return None
        if not reply.arrays:
            return Fault("result_missing", {"result": case.results[0], "count": len(case.results), "got": 0})
        if fault := shape_fault(reply.arrays[0], right[0], case.results[0]):
            return fault
        wrt: tuple[str, ...] = case.facts["wrt"]  # type: ignore[assignment]
        for position, argument in enumerate(wrt):
            expected = _differences(case, argument, heard)
            if expected is None:
                return None
            got = reply.gradients[position] if position < len(reply.gradients) else None
            if fault := _gradient_fault(got, expected, argument):
                return fault
        return None


def _sizes(recipe: Recipe, drawn: Drawn) -> list[int]:
    from shapedoc.runtime.behave.contract import evaluate

    return [evaluate(dim, dict(drawn.sizes)) for dim in recipe.contract.results[0].dims]


def _sides(drawn: Drawn, argument: str) -> list[tuple[int, str, dict[str, Array | int | float]]]:
    """The inputs with one number of an argument moved, to both sides."""
    sides = []
    array = drawn.array(argument)
    for index in range(min(array.size, _MOST)):
        for side, step in (("+", _STEP), ("-", -_STEP)):
            moved = array.copy()
            moved.flat[index] += step
            sides.append((index, side, {**drawn.inputs, argument: moved}))
    return sides


def _differences(case: Case, argument: str, heard: Heard) -> Array | None:
    """The gradient by central differences, in the shape of the argument; None where the reference gave no number."""
    assert case.drawn is not None
    cotangent = np.asarray(case.facts["cotangent"])
    oracle = ORACLES.get(case.oracle)
    array = case.drawn.array(argument)
    value: Callable[[int, str, dict[str, Array | int | float]], Array | None]
    if oracle is not None:
        value = lambda index, side, inputs: oracle.right(inputs)[0]  # noqa: E731
    else:
        replies = heard.reference.replies if heard.reference is not None else {}

        def value(index: int, side: str, inputs: dict[str, Array | int | float]) -> Array | None:
            reply = replies.get(f"{case.id}/{argument}/{index}/{side}") or Reply("", "not_run")
            return reply.arrays[0] if reply.status == "ok" and reply.arrays else None

    gradient = np.zeros(array.size)
    totals: dict[tuple[int, str], float] = {}
    for index, side, inputs in _sides(case.drawn, argument):
        result = value(index, side, inputs)
        if result is None or result.shape != cotangent.shape:
            return None
        totals[index, side] = float((np.asarray(result, dtype=float) * cotangent).sum())
    for index in range(min(array.size, _MOST)):
        gradient[index] = (totals[index, "+"] - totals[index, "-"]) / (2 * _STEP)
    return gradient.reshape(array.shape)


def _gradient_fault(got: Array | None, expected: Array, argument: str) -> Fault | None:
    name = f"{argument}.grad"
    if got is None:
        if not np.abs(expected).max(initial=0.0) > _TOLERANCE:
            return None
        return Fault("gradient_none", {"argument": argument}, None, expected, name)
    if fault := shape_fault(got, expected, name):
        return fault
    if expected.size > _MOST:
        got, expected = got.reshape(-1)[:_MOST], expected.reshape(-1)[:_MOST]
    gaps = distance(got, expected)
    if (gaps <= limit(expected, _TOLERANCE)).all():
        return None
    place = furthest(got, expected)
    kind = "gradient_nan" if not np.isfinite(float(got[place])) else "gradient"
    values = {
        "argument": argument,
        "place": place_of(name, place),
        "got": f"{float(got[place]):.3g}",
        "expected": f"{float(expected[place]):.3g}",
    }
    if got.ndim == 1:
        return Fault(kind, values, got, expected, name, float(gaps[place]))
    row = place[0]
    return Fault(kind, values, got[row], expected[row], f"{name}[{row}]", float(gaps[place]))
