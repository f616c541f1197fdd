"""``refuses``: sizes that cannot work raise a clear error, and sizes that can do not."""

from __future__ import annotations

import re
from dataclasses import replace

from shapedoc.grade.comparing import close
from shapedoc.grade.draws import DrawError, Drawn, Recipe
from shapedoc.grade.oracles import ORACLES
from shapedoc.grade.plan import Call
from shapedoc.grade.properties.asking import FunctionProperty, broken, recipe_of
from shapedoc.grade.properties.property import Case, Fault, Heard, Setting

# What torch, NumPy and Python say themselves when sizes do not meet: no words of the author's.
_UNTOLD = re.compile(
    r"^(shape '\[|cannot reshape array|mat1 and mat2|The size of tensor|The expanded size|Expected (size|all)|"
    r"operands could not|matmul: |einsum\(\)|split_with_sizes|Sizes of tensors|view size is not|"
    r"array split does not|unflatten|batch1 and batch2|Expected tensor|all the input array|shapes \()"
)


class Refuses(FunctionProperty):
    """An error of type ``errors``, with words of the author's, for inputs of the ``contract``; the ``twin`` works.

    twin: the name of a ``[draws.NAME]`` whose inputs the function must answer rightly, so that raising always earns
    nothing. says: words of which the message must name one, such as the sizes' names; a number of the input counts too.
    """

    name = "refuses"
    keys = frozenset(("errors", "twin"))

    def check_more(self, setting: Setting, recipe: Recipe) -> str:
        """Its own parameters."""
        errors = setting.parameters.get("errors", ["ValueError"])
        if not isinstance(errors, list) or not all(isinstance(one, str) for one in errors):
            return "`errors` must be a list of names of exceptions"
        twin = setting.assignment.settings.get("draws", {}).get(str(setting.parameters.get("twin")))
        if not isinstance(twin, dict):
            return "needs `twin`, the name of a `[draws.NAME]` that the function must answer"
        try:
            recipe_of(twin)
        except DrawError as problem:
            return f"`twin`: {problem}"
        return "" if twin.get("expected", "reference") in ("reference", *ORACLES) else "`twin`: unknown `expected`"

    def case(self, setting: Setting, recipe: Recipe, drawn: Drawn, name: str) -> Case:
        """The call that must raise, and the one that must not; what is expected is the twin's."""
        twin = dict(setting.assignment.settings["draws"][str(setting.parameters["twin"])])  # type: ignore[call-overload]
        function = str(setting.parameters["function"])
        other = recipe_of(twin)
        good = other.one(other.sizes[-1], setting.rng)
        known = ORACLES.get(str(twin.get("expected", "reference")))
        bad = Call(name, function, kwargs=dict(drawn.inputs), framework=setting.framework)
        well = Call(f"{name}/twin", function, kwargs=dict(good.inputs), framework=setting.framework)
        results = tuple(result.name for result in other.contract.results)
        made = Case(name, (bad, well), name, function, drawn, None, "", results)
        right = known.right(good.inputs) if known else None
        return replace(made, facts={"alone": True, "right": right, "reference": () if known else (well,)})

    def judge(self, setting: Setting, case: Case, heard: Heard) -> Fault | None:
        """The error, then the twin."""
        reply = heard.reply(case.main)
        numbers = {
            name: value for name, value in (case.drawn.inputs if case.drawn else {}).items() if _is_number(value)
        }
        told = ", ".join(f"{name} = {value}" for name, value in numbers.items())
        if reply.status == "ok":
            return Fault("not_refused", {"function": case.function, "numbers": told}, reply.arrays[0])
        if reply.status != "raised" or reply.raised is None:
            return broken(reply, case.function)
        errors = setting.parameters.get("errors", ["ValueError"])
        assert isinstance(errors, list)
        message = " ".join(reply.raised.message.split())
        if reply.raised.type not in errors or not message or _UNTOLD.match(message):
            values = {
                "type": reply.raised.type,
                "message": message[:160] or "—",
                "numbers": told,
                "errors": " / ".join(errors),
            }
            return Fault("unclear_refusal", values, line=reply.raised.line)
        twin = heard.reply(f"{case.main}/twin")
        if fault := broken(twin, case.function):
            return fault
        right = case.facts["right"]
        if right is None and heard.reference is not None:
            answered = heard.reference.replies.get(f"{case.main}/twin")
            right = answered.arrays if answered is not None and answered.status == "ok" else None
        if right is None:
            return None
        wrong = len(twin.arrays) < 1 or not close(twin.arrays[0], right[0], self.tolerance(setting))  # type: ignore[index]
        return Fault("refuses_all", {"function": case.function}) if wrong else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
