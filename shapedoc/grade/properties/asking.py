"""What all properties of one function have in common: their inputs, the call, and what can go wrong before a number."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

import numpy as np

from shapedoc.grade.comparing import distance, furthest, limit, numeric, tolerance_of
from shapedoc.grade.draws import Array, DrawError, Drawn, Recipe
from shapedoc.grade.oracles import ORACLES
from shapedoc.grade.plan import Call, Raised, Reply
from shapedoc.grade.properties.property import Case, Fault, Heard, Setting

__all__ = ["FunctionProperty", "broken", "place_of", "raised", "recipe_of", "shape_fault", "wrong_number"]

_KEYS = frozenset(("function", "contract", "sizes", "lengths", "dtype", "spread", "expected", "result", "draw"))

_RECIPE = (("contract", None), ("sizes", None), ("lengths", "varied"), ("dtype", "float32"), ("spread", 1.0))
# Every submission draws from the same few recipes of its assignment.
_recipes: dict[str, Recipe] = {}


def recipe_of(parameters: Mapping[str, object]) -> Recipe:
    """The recipe that an item's parameters give; raises DrawError."""
    given = tuple(parameters.get(key, default) for key, default in _RECIPE)
    known = _recipes.get(repr(given))
    if known is None:
        known = _recipes[repr(given)] = Recipe.of(*given)
    return known


def broken(reply: Reply, function: str) -> Fault | None:
    """The fault of a call that gave nothing to compare, or nothing where it gave results."""
    match reply.status:
        case "ok":
            return None
        case "raised":
            return raised(reply)
        case "missing":
            near = get_close_matches(function.split(".")[0], reply.defined, 1, 0.7)
            return Fault("missing_near" if near else "missing", {"function": function, "near": near[0] if near else ""})
        case "too_large":
            return Fault("too_large", {"function": function})
        case "bad_type":
            return Fault("bad_type", {"function": function})
    return Fault("not_run")


def raised(reply: Reply) -> Fault:
    """The fault of a call that raised."""
    told = reply.raised or Raised("Exception", "")
    message = " ".join(told.message.encode("utf-8", "replace").decode().split())[:200]
    kind = "raised_at" if told.line is not None else "raised"
    return Fault(kind, {"type": told.type, "message": message, "line": told.line}, line=told.line)


def shape_fault(got: Array, right: Array, name: str) -> Fault | None:
    """The fault of a result that is no array of numbers of the right shape, or nothing."""
    if not numeric(got):
        return Fault("no_numbers", {"result": name, "dtype": str(got.dtype)}, got, right, name)
    if got.shape != right.shape:
        values = {"result": name, "got": _tuple(got.shape), "expected": _tuple(right.shape)}
        return Fault("shape", values, got, right, name)
    return None


def wrong_number(got: Array, right: Array, name: str, tolerance: float) -> Fault | None:
    """The fault of a result whose shape is right and whose numbers are not, at the place that is furthest off."""
    gaps = distance(got, right)
    if (gaps <= limit(right, tolerance)).all():
        return None
    place = furthest(got, right)
    values: dict[str, object] = {
        "result": name,
        "place": place_of(name, place),
        **_told(got[place], right[place]),
    }
    kind = "not_finite" if not np.isfinite(np.asarray(got[place], dtype=float)) else "number"
    row = place[0] if got.ndim > 1 else None
    if row is None:
        return Fault(kind, values, got, right, name, float(gaps[place]))
    return Fault(kind, values, got[row], right[row], f"{name}[{row}]", float(gaps[place]))


def place_of(name: str, place: tuple[int, ...]) -> str:
    """A place in a result as Python writes it, such as ``weights[2, 4]``."""
    return f"{name}[{', '.join(map(str, place))}]" if place else name


def _tuple(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _told(got: object, right: object) -> dict[str, str]:
    """Two numbers, with as many digits as it takes to see that they differ."""
    one, other = float(str(got)), float(str(right))
    for digits in (3, 6, 9):
        told = f"{one:.{digits}g}", f"{other:.{digits}g}"
        if told[0] != told[1]:
            break
    return {"got": told[0], "expected": told[1]}


class FunctionProperty:
    """A property of what one function gives for drawn inputs; subclasses say what they add to the case and compare."""

    name = ""
    keys: frozenset[str] = frozenset()
    needs_oracle = True

    def check(self, setting: Setting) -> str:
        """Why the item's parameters will not do, or nothing."""
        parameters, targets = setting.parameters, setting.assignment.targets
        known = _KEYS | self.keys
        for key in parameters:
            if key not in known:
                near = get_close_matches(key, known, 1)
                return f"`{key}` means nothing to `{self.name}`" + (f"; did you mean `{near[0]}`?" if near else "")
        function = str(parameters.get("function"))
        if function not in targets:
            return f"`function` is {function!r}; `[targets]` has {', '.join(targets)}"
        try:
            recipe = recipe_of(parameters)
        except DrawError as problem:
            return str(problem)
        names = tuple(a.name for a in recipe.contract.arguments)
        if names != targets[function]:
            return f"the contract's arguments are {', '.join(names)}; `{function}` has {', '.join(targets[function])}"
        expected = str(parameters.get("expected", "reference"))
        if expected != "reference":
            if expected not in ORACLES:
                return f'`expected` is {expected!r}; it must be "reference" or one of {", ".join(ORACLES)}'
            if missing := [a for a in ORACLES[expected].arguments if a not in names]:
                return f'`expected = "{expected}"` needs an argument `{missing[0]}` in the contract'
        return self.check_more(setting, recipe)

    def check_more(self, setting: Setting, recipe: Recipe) -> str:
        """What a subclass has to object to."""
        return ""

    def cases(self, setting: Setting) -> list[Case]:
        """A case for every drawn input."""
        recipe = recipe_of(setting.parameters)
        return [
            self.case(setting, recipe, drawn, f"{setting.item.id}/{index}")
            for index, drawn in enumerate(recipe.draw(setting.rng))
        ]

    def case(self, setting: Setting, recipe: Recipe, drawn: Drawn, name: str) -> Case:
        """One case: the call, and what is right."""
        function = str(setting.parameters["function"])
        oracle = str(setting.parameters.get("expected", "reference"))
        known = ORACLES.get(oracle)
        call = Call(name, function, kwargs=dict(drawn.inputs), framework=setting.framework)
        wrong = tuple(
            Call(f"{name}/mistake/{mistake.name}", mistake.name, kwargs=dict(drawn.inputs), framework=setting.framework)
            for mistake in setting.assignment.mistakes.values()
            if mistake.function == function
        )
        return Case(
            name,
            (call,),
            name,
            function,
            drawn,
            known.right(drawn.inputs) if known else None,
            oracle if known else "",
            tuple(result.name for result in recipe.contract.results),
            {"reference": wrong},
        )

    def judge(self, setting: Setting, case: Case, heard: Heard) -> Fault | None:
        """How a case is wrong: it raises, has another shape, other numbers, or what the property adds."""
        reply = heard.reply(case.main)
        if fault := broken(reply, case.function):
            return fault
        right = heard.right(case)
        if right is None:
            return None
        return self.compare(setting, case, reply, right)

    def compare(self, setting: Setting, case: Case, reply: Reply, right: tuple[Array, ...]) -> Fault | None:
        """How the results are wrong."""
        raise NotImplementedError

    def chosen(self, setting: Setting, case: Case) -> tuple[int, ...]:
        """The results that the item looks at: the one that ``result`` names, or all."""
        wanted = setting.parameters.get("result")
        return tuple(i for i, name in enumerate(case.results) if wanted in (None, name))

    def shapes(self, setting: Setting, case: Case, reply: Reply, right: tuple[Array, ...]) -> Fault | None:
        """The fault of a result that is missing, of another kind than the inputs, or of another shape."""
        for index in self.chosen(setting, case):
            name = case.results[index]
            if index >= len(reply.arrays):
                return Fault("result_missing", {"result": name, "count": len(case.results), "got": len(reply.arrays)})
            kind = reply.kinds[index] if index < len(reply.kinds) else ""
            if kind == "NoneType":
                return Fault("nothing", {"result": name})
            if fault := shape_fault(reply.arrays[index], right[index], name):
                return fault
            if setting.assignment.framework == "torch" and kind and not kind.startswith("torch"):
                return Fault("not_tensor", {"result": name, "kind": kind})
        return None

    @staticmethod
    def tolerance(setting: Setting) -> float:
        """How far rounding may carry a result."""
        return tolerance_of(str(setting.parameters.get("dtype", "float32")))
