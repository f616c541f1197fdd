"""``behaves``: the properties of `shapedoc.behave`, for a function that runs in the jail.

Those properties call a function again and again with one thing changed. Which calls they make does not depend on what
comes back, but that they stop at the first fault. So they are first tried here on a function that behaves, whose calls
are noted and become the plan; afterwards they are tried on what the submission gave for the same calls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

import numpy as np

from shapedoc.grade.comparing import tolerance_of
from shapedoc.grade.draws import Array, Drawn, Recipe
from shapedoc.grade.plan import Call, Framework
from shapedoc.grade.properties.asking import FunctionProperty, broken, recipe_of
from shapedoc.grade.properties.property import Case, Fault, Heard, Setting
from shapedoc.runtime.behave.case import Case as Trial
from shapedoc.runtime.behave.case import Property as Behaviour
from shapedoc.runtime.behave.case import Violation
from shapedoc.runtime.behave.contract import Contract, Result, evaluate
from shapedoc.runtime.behave.draw import Inputs, keyed_by
from shapedoc.runtime.behave.properties import all_properties
from shapedoc.runtime.behave.subject import Raised, Subject

__all__ = ["MISTAKES", "Behaves", "well_behaved"]

MISTAKES: Mapping[str, str] = {
    "shapes-as-stated": "wrong-shape",
    "results-are-finite": "not-finite",
    "weights-sum-to-one": "weights-do-not-sum",
    "rows-do-not-mix": "rows-mix",
    "alone-as-in-batch": "rows-mix",
    "masked-keys-change-nothing": "padding-has-weight",
    "queries-are-independent": "queries-mix",
    "keys-in-any-order": "order-matters",
    "every-input-matters": "input-unused",
}
"""The properties that can be asked for, and the mistake that each stands for."""


class Behaves(FunctionProperty):
    """Each property of ``only`` is a case for each input; what is right needs no reference."""

    name = "behaves"
    keys = frozenset(("only",))

    def check_more(self, setting: Setting, recipe: Recipe) -> str:
        """The names, and that each of them applies to the contract."""
        only = setting.parameters.get("only")
        if not isinstance(only, list) or not only or not all(isinstance(one, str) for one in only):
            return f"needs `only`, a list of {', '.join(MISTAKES)}"
        subject = _Told(recipe.contract, lambda inputs: {})
        for name in only:
            if name not in MISTAKES:
                return f"`only` has {name!r}; it may have {', '.join(MISTAKES)}"
            if reason := _property(name).applies(cast(Subject, subject)):
                return f"`only`: {name} does not apply: {reason}"
        return ""

    def cases(self, setting: Setting) -> list[Case]:
        """One for each input and property; calls that several make are made once."""
        recipe = recipe_of(setting.parameters)
        function = str(setting.parameters["function"])
        only: list[str] = setting.parameters["only"]  # type: ignore[assignment]
        made = []
        for index, drawn in enumerate(recipe.draw(setting.rng)):
            for name in only:
                calls: dict[str, Call] = {}

                def noted(inputs: Inputs, calls: dict[str, Call] = calls, index: int = index) -> dict[str, Array]:
                    step = f"{setting.item.id}/{index}/{_key(inputs)}"
                    calls.setdefault(step, _call(step, function, inputs, setting.framework))
                    return well_behaved(recipe.contract, inputs)

                trial = _trial(recipe, drawn, noted, setting)
                _checked(name, trial)
                steps = tuple(calls.values())
                results = tuple(result.name for result in recipe.contract.results)
                case = Case(f"{setting.item.id}/{index}/{name}", steps, steps[0].id, function, drawn, results=results)
                made.append(replace(case, facts={"alone": True, "behave": name, "index": index}))
        return made

    def judge(self, setting: Setting, case: Case, heard: Heard) -> Fault | None:
        """Try the property on what came back."""
        reply = heard.reply(case.main)
        if fault := broken(reply, case.function):
            return fault
        recipe, name = recipe_of(setting.parameters), str(case.facts["behave"])

        def told(inputs: Inputs) -> dict[str, Array]:
            answer = heard.reply(f"{setting.item.id}/{case.facts['index']}/{_key(inputs)}")
            if answer.status != "ok" or len(answer.arrays) < len(recipe.contract.results):
                raise Raised(RuntimeError(answer.status))
            return {r.name: a for r, a in zip(recipe.contract.results, answer.arrays, strict=False)}

        assert case.drawn is not None
        try:
            violation = _checked(name, _trial(recipe, case.drawn, told, setting))
        except (Raised, ValueError, TypeError, IndexError):
            # Another call raised, or gave something whose shape the property cannot look at.
            return Fault("behave.shapes-as-stated", {"gap": "—", "mistake": "wrong-shape"})
        if violation is None:
            return None
        changed = {
            argument: value
            for argument, value in (violation.changed or {}).items()
            if not np.array_equal(value, case.drawn.array(argument))
        }
        gap = violation.gap if np.isfinite(violation.gap) else None
        values = {"gap": f"{gap:.3g}" if gap is not None else "—", "mistake": MISTAKES[name]}
        return Fault(f"behave.{name}", values, gap=gap, changed=changed)


class _Told:
    """What a property of behave sees of a subject: its contract, and the results of a call."""

    def __init__(self, contract: Contract, call: Callable[[Inputs], dict[str, Array]]) -> None:
        self.contract = contract
        self.call = call
        self.by_name = True


def _trial(recipe: Recipe, drawn: Drawn, call: Callable[[Inputs], dict[str, Array]], setting: Setting) -> Trial:
    subject = cast(Subject, _Told(recipe.contract, call))
    inputs = {name: np.asarray(value) for name, value in drawn.inputs.items()}
    tolerance = max(tolerance_of(str(setting.parameters.get("dtype", "float32"))), 1e-8)
    return Trial(subject, recipe.contract, dict(drawn.sizes), inputs, setting.seed, tolerance)


def _checked(name: str, trial: Trial) -> Violation | None:
    trial.outputs = trial.run(trial.inputs)
    with np.errstate(all="ignore"):
        return _property(name).check(trial)


def _property(name: str) -> Behaviour:
    return next(one for one in all_properties() if one.name == name)


def _key(inputs: Inputs) -> str:
    digest = hashlib.sha256()
    for name, value in inputs.items():
        array = np.ascontiguousarray(value)
        digest.update(f"{name}{array.dtype}{array.shape}".encode() + array.tobytes())
    return digest.hexdigest()[:16]


def _call(step: str, function: str, inputs: Inputs, framework: Framework) -> Call:
    kwargs = {name: value if value.ndim else value.item() for name, value in inputs.items()}
    return Call(step, function, kwargs=kwargs, framework=framework)


def well_behaved(contract: Contract, inputs: Inputs) -> dict[str, Array]:
    """Results that behave as any right function of this contract does: a sum of what each place may see.

    Every argument is summed over the axes that a result does not have, hidden keys left out, and carried along those
    that it has; weights are a softmax of that over the keys.
    """
    return {result.name: _result(contract, result, inputs) for result in contract.results}


def _result(contract: Contract, result: Result, inputs: Inputs) -> Array:
    sizes = _sizes(contract, inputs)
    shape = tuple(evaluate(dim, sizes) for dim in result.dims)
    total = np.zeros(shape)
    keep = np.ones(shape, dtype=bool)
    for number, argument in enumerate(contract.arguments):
        array = np.asarray(inputs[argument.name], dtype=float)
        if argument.mask:
            seen = keyed_by(argument, np.asarray(inputs[argument.name]), sizes[contract.keys])
            dims = (*argument.dims, contract.keys) if argument.kind == "lengths" else argument.dims
            if seen is not None and result.weights and set(dims) <= set(result.dims):
                keep = keep & (_along(seen.astype(float), dims, result.dims) > 0)
            continue
        array = _hidden(contract, argument.dims, array, inputs, sizes)
        total = total + (number + 1) * _along(np.sin(array), argument.dims, result.dims)
    if not result.weights:
        return total
    # Not linear: what a query adds to the score of every key alike would cancel.
    exponentials = np.where(keep, np.exp(np.sin(total)), 0.0)
    sums = exponentials.sum(axis=-1, keepdims=True)
    return np.asarray(exponentials / np.where(sums > 0, sums, 1.0))


def _hidden(contract: Contract, dims: tuple[str, ...], array: Array, inputs: Inputs, sizes: dict[str, int]) -> Array:
    """An argument with zeros at the keys that a mask of the same axes hides."""
    for argument in contract.arguments:
        if not argument.mask or contract.keys not in dims:
            continue
        seen = keyed_by(argument, np.asarray(inputs[argument.name]), sizes[contract.keys])
        own = (*argument.dims, contract.keys) if argument.kind == "lengths" else argument.dims
        if seen is not None and set(own) <= set(dims):
            array = array * _along(seen.astype(float), own, dims)
    return array


def _along(array: Array, dims: tuple[str, ...], wanted: tuple[str, ...]) -> Array:
    """An array summed over the axes that are not wanted, laid along those that are."""
    gone = tuple(axis for axis, dim in enumerate(dims) if dim not in wanted)
    left = [dim for dim in dims if dim in wanted]
    summed = array.sum(axis=gone)
    order = sorted(range(len(left)), key=lambda axis: wanted.index(left[axis]))
    turned = summed.transpose(order)
    return np.asarray(turned[tuple(slice(None) if dim in left else None for dim in wanted)])


def _sizes(contract: Contract, inputs: Inputs) -> dict[str, int]:
    """The numbers behind the plain axis names, as the inputs have them: a property may change the batch."""
    sizes: dict[str, int] = {}
    for argument in contract.arguments:
        if argument.kind == "number":
            sizes[argument.name] = int(np.asarray(inputs[argument.name]))
        sizes |= {d: n for d, n in zip(argument.dims, np.shape(inputs[argument.name]), strict=True) if d.isidentifier()}
    for argument in contract.arguments:
        for dim, n in zip(argument.dims, np.shape(inputs[argument.name]), strict=True):
            _solve(dim, n, sizes)
    return sizes


def _solve(dim: str, number: int, sizes: dict[str, int]) -> None:
    """The one unknown factor of a size such as ``n_heads*d_head``."""
    factors = [factor.strip() for factor in dim.split("*")]
    unknown = [factor for factor in factors if factor.isidentifier() and factor not in sizes]
    if len(factors) > 1 and len(unknown) == 1:
        known = [sizes[f] if f in sizes else int(f) for f in factors if f != unknown[0]]
        sizes[unknown[0]] = number // int(np.prod(known))
