"""Calls a class or function of the user's with drawn inputs and tells what its results do; a script, run in a child.

It is given a plan (`PLAN`, a dict): how the subject may be built and called, the likeliest way first. It takes the
first way that works, or the way that another run has found (`CHOSEN`), and prints as JSON how the results are made up,
which results of an example alone are those of the batch, and which parts of which result move when one place of one
input is changed.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import json
import random
import sys
import time
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

_WAYS = 1500
_SECONDS = 8.0
_PROBES = 60


def main(plan: dict[str, Any], chosen: dict[str, Any] | None) -> None:
    """Print what one run has seen, as one line of JSON."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        told = _tried(plan, chosen)
    print(json.dumps(told))


def _tried(plan: dict[str, Any], chosen: dict[str, Any] | None) -> dict[str, Any]:
    try:
        module = importlib.import_module(plan["module"])
    except BaseException as problem:
        return {"problem": f"{plan['module']} cannot be imported: {_words(problem)}"}
    trial = Trial(module, plan)
    reason = ""
    until = time.monotonic() + _SECONDS
    for way in [chosen] if chosen is not None else itertools.islice(_ways(plan), _WAYS):
        try:
            results = trial.call(way)
        except BaseException as failed:
            reason = reason or _words(failed)
            if time.monotonic() > until:
                break
            continue
        if not results:
            reason = reason or "it returns no tensor"
            continue
        try:
            return trial.seen(way, results)
        except BaseException as failed:
            reason = reason or _words(failed)
    return {"problem": reason or "no way to call it was found"}


def _words(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {str(problem).partition(chr(10))[0]}"[:300]


def _ways(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Ways to build and call the subject: sizes, then how each parameter is given."""
    names = [*plan["build"], *plan["call"]]
    choices = [*plan["build"].values(), *plan["call"].values()]
    for sizes, layout in itertools.product(plan["sizes"], plan["layouts"]):
        for given in itertools.islice(_product(choices), 150):
            yield {"sizes": sizes, "layout": layout, "given": dict(zip(names, given, strict=True))}


def _product(choices: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """All combinations, those with likelier choices first."""
    indices = itertools.product(*(range(len(c)) for c in choices))
    for combination in sorted(itertools.islice(indices, 4000), key=sum):
        yield tuple(c[i] for c, i in zip(choices, combination, strict=True))


class Trial:
    """One subject under one plan."""

    def __init__(self, module: types.ModuleType, plan: dict[str, Any]) -> None:
        self.module, self.plan = module, plan
        self.torch = sys.modules.get("torch")
        self.numpy = importlib.import_module("numpy")
        self.subject: Callable[..., Any] = len
        self.inputs: dict[str, Any] = {}

    def scope(self, way: dict[str, Any]) -> dict[str, Any]:
        """The names that expressions of a plan are made of."""
        names = {**vars(self.module), **way["sizes"], **way["layout"]}
        names |= {"np": self.numpy, "rng": self.numpy.random.default_rng(0)}
        if self.torch is not None:
            names |= {"torch": self.torch, "nn": self.torch.nn}
        return names

    def seed(self) -> None:
        random.seed(0)
        self.numpy.random.seed(0)
        if self.torch is not None:
            self.torch.manual_seed(0)

    def call(self, way: dict[str, Any]) -> list[Any]:
        """Build the subject, draw its inputs, and call it; its results that hold numbers."""
        self.seed()
        scope = self.scope(way)
        build, call = ({n: way["given"][n] for n in self.plan[part]} for part in ("build", "call"))
        if self.plan["class"]:
            made = [f"{n.removeprefix('build.')}={v}" for n, v in build.items() if v != "-"]
            subject = eval(f"{self.plan['class']}({', '.join(made)})", scope)
            if hasattr(subject, "eval"):
                subject = subject.eval()
            self.subject = getattr(subject, self.plan["method"]) if self.plan["method"] else subject
        else:
            self.subject = getattr(self.module, self.plan["function"])
        self.inputs = {n.removeprefix("call."): eval(v, scope) for n, v in call.items() if v != "-"}
        return self.run(self.inputs)

    def run(self, inputs: dict[str, Any]) -> list[Any]:
        self.seed()
        copies = {n: self.copied(v) for n, v in inputs.items()}
        quiet = self.torch.no_grad() if self.torch is not None else contextlib.nullcontext()
        with quiet:
            result = self.subject(**copies)
        return list(self.flat(result))

    def copied(self, value: Any) -> Any:
        if self.is_tensor(value):
            return value.clone() if hasattr(value, "clone") else value.copy()
        return value

    def is_tensor(self, value: Any) -> bool:
        torch = self.torch
        return isinstance(value, self.numpy.ndarray) or (torch is not None and isinstance(value, torch.Tensor))

    def flat(self, value: Any) -> Iterator[Any]:
        """The tensors of a result, in order."""
        if self.is_tensor(value):
            yield value.detach() if hasattr(value, "detach") else value
        elif isinstance(value, tuple | list):
            for part in value:
                yield from self.flat(part)

    # -- what is seen

    def seen(self, way: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        value = self.subject_result()
        again = self.run(self.inputs)
        if not all(self.same(a, b) for a, b in zip(results, again, strict=True)):
            raise ValueError("it gives other numbers each time")
        return {
            "way": way,
            "form": self.form(value),
            "results": [self.described(result) for result in results],
            "shapes": {n: list(v.shape) for n, v in self.inputs.items() if self.is_tensor(v)},
            "padding": self.padding(results),
            "alone": self.alone(way, results),
            "turned": self.turned(way, results),
            "moved": self.moved(way, results),
        }

    def subject_result(self) -> Any:
        self.seed()
        quiet = self.torch.no_grad() if self.torch is not None else contextlib.nullcontext()
        with quiet:
            return self.subject(**{n: self.copied(v) for n, v in self.inputs.items()})

    def form(self, value: Any) -> Any:
        """How a result is made up: "t" for a tensor, a list of forms, "-" for anything else."""
        if self.is_tensor(value):
            return "t"
        return [self.form(part) for part in value] if isinstance(value, tuple | list) else "-"

    def described(self, result: Any) -> dict[str, Any]:
        floats = self.is_float(result)
        sums = []
        if floats and result.ndim and bool((result >= 0).all()) and result.shape[-1] > 1:
            for axis in range(result.ndim):
                total = result.sum(axis)
                if self.same(total, total * 0 + 1):
                    sums.append(axis)
        return {"shape": list(result.shape), "float": floats, "sums": sums, "finite": self.finite(result)}

    def padding(self, results: list[Any]) -> dict[str, str]:
        """Which mask (True: kept, or dropped) leaves no weight where it hides a key."""
        found = {}
        for name, mask in self.inputs.items():
            if not self.is_tensor(mask) or mask.ndim != 2 or not str(mask.dtype).endswith("bool"):
                continue
            for index, result in enumerate(results):
                sums = self.described(result)["sums"]
                if not sums or result.ndim < 2 or result.shape[0] != mask.shape[0] or result.shape[-1] != mask.shape[1]:
                    continue
                keys = result if result.ndim == 2 else self.moved_last(result)
                for sign, hidden in (("keep", ~mask), ("drop", mask)):
                    if bool(hidden.any()) and bool((keys[hidden] == 0).all()) and not bool((keys == 0).all()):
                        found[f"{name} {index}"] = sign
        return found

    def moved_last(self, value: Any) -> Any:
        return self.numpy.moveaxis(value, -1, 1) if isinstance(value, self.numpy.ndarray) else value.movedim(-1, 1)

    def finite(self, value: Any) -> bool:
        return bool((value == value).all()) if self.is_float(value) else True

    def is_float(self, value: Any) -> bool:
        if isinstance(value, self.numpy.ndarray):
            return bool(value.dtype.kind == "f")
        return bool(value.is_floating_point())

    def same(self, one: Any, other: Any) -> bool:
        if tuple(one.shape) != tuple(other.shape):
            return False
        if self.torch is None or not isinstance(one, self.torch.Tensor):
            return bool(self.numpy.allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True))
        return bool(self.torch.allclose(one.double(), other.double(), rtol=1e-4, atol=1e-5, equal_nan=True))

    def axes(self, value: Any, way: dict[str, Any]) -> list[str]:
        """The name of the size of each axis."""
        names = {number: name for name, number in {**way["sizes"], **way["layout"]}.items()}
        return [names.get(size, "") for size in value.shape]

    def alone(self, way: dict[str, Any], results: list[Any]) -> dict[str, Any] | None:
        """Whether the second example alone gives its row of each result."""
        rows: dict[str, int] = {}
        inputs = dict(self.inputs)
        for name, value in self.inputs.items():
            if self.is_tensor(value):
                axes = self.axes(value, way)
                if (axis := self.batch_axis(axes)) >= 0:
                    rows[name] = axis
                    inputs[name] = self.rows(value, axis)
        outs = [self.batch_axis(self.axes(r, way)) for r in results]
        if not rows or all(axis < 0 for axis in outs):
            return None
        try:
            single = self.run(inputs)
        except BaseException as problem:
            return {"inputs": rows, "outputs": outs, "same": [False] * len(outs), "problem": _words(problem)}
        same = []
        for result, one, axis in zip(results, single, outs, strict=True):
            try:
                same.append(axis < 0 or self.same(self.rows(result, axis), one))
            except BaseException:
                same.append(False)
        return {"inputs": rows, "outputs": outs, "same": same}

    def turned(self, way: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Whether inputs in reverse order along a length give results in reverse order: nothing is scrambled."""
        found: dict[str, Any] = {}
        for length in sorted(set(way["layout"]) - set(self.plan["batches"])):
            where = {n: self.along(v, way, length) for n, v in self.inputs.items() if self.is_tensor(v)}
            where = {n: axes for n, axes in where.items() if axes}
            outs = [self.along(r, way, length) for r in results]
            if not where or not any(outs):
                continue
            changed = {n: self.flipped(v, where[n]) if n in where else v for n, v in self.inputs.items()}
            try:
                after = self.run(changed)
                same = [
                    bool(a) and self.same(self.flipped(r, a), o) for r, o, a in zip(results, after, outs, strict=True)
                ]
            except BaseException:
                continue
            found[length] = {"inputs": where, "outputs": outs, "same": same}
        return found

    def along(self, value: Any, way: dict[str, Any], length: str) -> list[int]:
        return [i for i, size in enumerate(value.shape) if size == way["layout"][length]]

    def flipped(self, value: Any, axes: Sequence[int]) -> Any:
        return self.numpy.flip(value, axes) if isinstance(value, self.numpy.ndarray) else value.flip(list(axes))

    def batch_axis(self, axes: Sequence[str]) -> int:
        return next((i for i, name in enumerate(axes) if name in self.plan["batches"]), -1)

    def rows(self, value: Any, axis: int) -> Any:
        return value[(slice(None),) * axis + (slice(1, 2),)]

    def moved(self, way: dict[str, Any], results: list[Any]) -> dict[str, list[bool]]:
        """Which places of each axis of a result move when one place of one axis of an input is changed."""
        found: dict[str, list[bool]] = {}
        probes = 0
        for name, value in self.inputs.items():
            if not self.is_tensor(value) or str(value.dtype).endswith("bool"):
                continue
            for axis, size in enumerate(self.axes(value, way)):
                if not size or (axis == value.ndim - 1 and self.is_float(value) and value.ndim > 1):
                    continue
                for place in sorted({0, value.shape[axis] // 2, value.shape[axis] - 1}):
                    if probes >= _PROBES:
                        return found
                    probes += 1
                    self.probe(way, results, name, axis, place, found)
        return found

    def probe(
        self, way: dict[str, Any], results: list[Any], name: str, axis: int, place: int, found: dict[str, list[bool]]
    ) -> None:
        changed = self.copied(self.inputs[name])
        at = (slice(None),) * axis + (place,)
        changed[at] = changed[at] + 1 if self.is_float(changed) else changed[at] % 3 + 1
        try:
            after = self.run({**self.inputs, name: changed})
        except BaseException:
            return
        for index, (old, new) in enumerate(zip(results, after, strict=True)):
            if tuple(old.shape) != tuple(new.shape) or not self.is_float(old):
                continue
            for out, size in enumerate(self.axes(old, way)):
                if size:
                    where = [(slice(None),) * out + (i,) for i in range(old.shape[out])]
                    found[f"{name} {axis} {place} {index} {out}"] = [not self.same(old[w], new[w]) for w in where]
