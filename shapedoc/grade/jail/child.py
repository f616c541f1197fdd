"""Inside the jail: load a submission and carry out its plan, one reply for each step.

This runs in the submission's own process and proves nothing: what it sends is the submission's word. It holds no
expected value. Whatever it needs of torch and the system is bound before the submission is loaded.
"""

from __future__ import annotations

import os
import random
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from inspect import signature
from types import ModuleType
from typing import Any

import numpy as np
import torch

from shapedoc.grade.jail import wire
from shapedoc.grade.jail.gradients import gradients_of
from shapedoc.grade.jail.results import TooLarge, Unusable, blobs_of
from shapedoc.grade.jail.training import decode, train
from shapedoc.grade.plan import Build, Call, Decode, Plan, Ref, Step, Train

__all__ = ["FILE_NAME", "carry_out"]

FILE_NAME = "submission.py"

_MESSAGE = 300
_NAMES = 60
_STATE = 400

_write = os.write
_tensor = torch.from_numpy
_seed_torch = torch.manual_seed


class _Missing(Exception):
    """The submission has no such name."""


def carry_out(source: str, plan: Plan, descriptor: int, result_bytes: int) -> None:
    """Load `source`, do what `plan` says, and write the replies to `descriptor`: the import's first, then "end"."""
    Run(plan, descriptor, result_bytes).all(source)


class Run:
    """One submission and what it has made so far."""

    def __init__(self, plan: Plan, descriptor: int, result_bytes: int) -> None:
        self._plan = plan
        self._descriptor = descriptor
        self._room = result_bytes
        self._made: dict[str, Any] = {}
        self._objects: dict[str, Any] = {}
        self._module = ModuleType("submission")

    def all(self, source: str) -> None:
        """Every step, in order; what one raises is its reply."""
        _seed(self._plan.seed)
        loaded = self._reply("", lambda: self._load(source))
        if loaded:
            for step in self._plan.steps:
                self._reply(step.id, lambda step=step: self._step(step))  # type: ignore[misc]
        self._send({"end": True})

    def _load(self, source: str) -> tuple[dict[str, Any], list[bytes]]:
        module = self._module
        module.__file__ = FILE_NAME
        sys.modules["submission"] = module
        exec(compile(source, FILE_NAME, "exec", dont_inherit=True), module.__dict__)
        return {}, []

    def _reply(self, name: str, work: Callable[[], tuple[dict[str, Any], list[bytes]]]) -> bool:
        record: dict[str, Any]
        blobs: list[bytes] = []
        try:
            record, blobs = work()
            record["status"] = "ok"
        except _Missing:
            record = {"status": "missing", "defined": self._defined()}
        except TooLarge as problem:
            record = {"status": "too_large", "raised": _raised(problem)}
        except Unusable as problem:
            record = {"status": "bad_type", "raised": _raised(problem), "kinds": problem.kinds}
        except BaseException as problem:
            record = {"status": "raised", "raised": _raised(problem)}
        self._room -= sum(map(len, blobs))
        self._send({"id": name, **record}, blobs)
        return bool(record["status"] == "ok")

    def _send(self, record: Mapping[str, Any], blobs: Sequence[bytes] = ()) -> None:
        with suppress(BaseException):
            sys.stdout.flush()
        data = memoryview(wire.frame(record, blobs))
        while data:
            data = data[_write(self._descriptor, data) :]

    def _defined(self) -> list[str]:
        names = [name for name in self._module.__dict__ if isinstance(name, str) and not name.startswith("_")]
        return [name[:80] for name in names[:_NAMES]]

    def _step(self, step: Step) -> tuple[dict[str, Any], list[bytes]]:
        match step:
            case Build():
                return self._build(step)
            case Call():
                return self._call(step)
            case Train():
                return self._train(step)
            case Decode():
                return self._decode(step)

    def _build(self, step: Build) -> tuple[dict[str, Any], list[bytes]]:
        _seed(step.seed)
        made = _called(self._target(step.target), *self._arguments(step.args, step.kwargs, step.framework))
        _load_into(made, step.load or {})
        _set_mode(made, step.mode)
        self._made[step.id] = self._objects[step.id] = made
        state = _state(made)
        shapes = {name: list(value.shape) for name, value in list(state.items())[:_STATE]}
        blobs, kinds = blobs_of(list(state.values()), self._room, len(state)) if step.give_state else ([], [])
        return {"state": shapes, "kinds": kinds}, blobs

    def _call(self, step: Call) -> tuple[dict[str, Any], list[bytes]]:
        _seed(step.seed)
        args, kwargs = self._arguments(step.args, step.kwargs, step.framework)
        watched = [args[each] if isinstance(each, int) else kwargs[each] for each in step.wrt]
        for tensor in watched:
            tensor.requires_grad_()
        target = self._target(step.target)
        _set_mode(target, step.mode)
        result = _called(target, args, kwargs)
        self._made[step.id] = result
        blobs, kinds = blobs_of(result, self._room) if step.give else ([], [])
        record: dict[str, Any] = {"kinds": kinds}
        if watched:
            found = gradients_of(result, watched, step.cotangent)
            record["gradients"] = [gradient is not None for gradient in found]
            given = [gradient for gradient in found if gradient is not None]
            blobs += blobs_of(given, self._room, len(given))[0]
        return record, blobs

    def _train(self, step: Train) -> tuple[dict[str, Any], list[bytes]]:
        self._build(step.build)
        model = self._made[step.id] = self._objects[step.id] = self._objects[step.build.id]
        _seed(step.seed)
        losses = train(step, lambda kwargs: _called(model, (), kwargs), model)
        blobs, kinds = blobs_of(losses, self._room)
        return {"kinds": kinds}, blobs

    def _decode(self, step: Decode) -> tuple[dict[str, Any], list[bytes]]:
        model = self._target(step.target)
        result = decode(step, lambda kwargs: _called(model, (), kwargs), model)
        self._made[step.id] = result
        blobs, kinds = blobs_of(result, self._room)
        return {"kinds": kinds}, blobs

    def _target(self, name: str) -> Any:
        first, *rest = name.split(".")
        for among in (self._objects, self._module.__dict__, self._made):
            if first in among:
                found = among[first]
                break
        else:
            raise _Missing(first)
        for each in rest:
            try:
                found = getattr(found, each)
            except AttributeError:
                raise _Missing(each) from None
        return found

    def _arguments(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], framework: str
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (
            tuple(self._value(each, framework) for each in args),
            {name: self._value(each, framework) for name, each in kwargs.items()},
        )

    def _value(self, value: Any, framework: str) -> Any:
        match value:
            case np.ndarray():
                return _tensor(value.copy()) if framework == "torch" else value.copy()
            case Ref():
                if value.id not in self._made:
                    raise _Missing(value.id)
                found = self._made[value.id]
                for each in value.path:
                    found = found[each]
                return found
            case tuple() | list():
                return type(value)(self._value(each, framework) for each in value)
            case dict():
                return {name: self._value(each, framework) for name, each in value.items()}
        return value


def _seed(seed: int | None) -> None:
    if seed is not None:
        _seed_torch(seed)
        random.seed(seed)
        np.random.seed(seed % 2**32)


def _called(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call by names; by positions, in their order, where the submission names its parameters otherwise."""
    if kwargs:
        try:
            shown = signature(target.forward if isinstance(target, torch.nn.Module) else target)
        except (TypeError, ValueError):
            return target(*args, **kwargs)
        if not _binds(shown, args, kwargs) and _binds(shown, (*args, *kwargs.values()), {}):
            return target(*args, *kwargs.values())
    return target(*args, **kwargs)


def _binds(shown: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    try:
        shown.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _set_mode(target: Any, mode: str | None) -> None:
    if mode is not None and isinstance(target, torch.nn.Module):
        target.train(mode == "train")


def _state(made: Any) -> dict[str, Any]:
    if isinstance(made, torch.nn.Module):
        return {name[:120]: value for name, value in made.state_dict().items() if isinstance(value, torch.Tensor)}
    held = getattr(made, "__dict__", {})
    return {name[:120]: each for name, each in held.items() if isinstance(each, np.ndarray | torch.Tensor)}


def _load_into(made: Any, load: Mapping[str, Any]) -> None:
    state = _state(made)
    for name, value in load.items():
        if name not in state:
            raise KeyError(f"there is no parameter `{name}`; there are: {', '.join(state) or 'none'}")
        if tuple(state[name].shape) != value.shape:
            raise ValueError(f"`{name}` is {tuple(state[name].shape)}, and {value.shape} was expected")
        if isinstance(state[name], torch.Tensor):
            with torch.no_grad():
                state[name].copy_(_tensor(value.copy()))
        else:
            setattr(made, name, value.copy())


def _raised(problem: BaseException) -> dict[str, Any]:
    """The type, the message cut to 300 characters, and the innermost line of the submission's own text."""
    try:
        message = " ".join(str(problem).split())[:_MESSAGE]
    except BaseException:
        message = ""
    line: int | None = None
    if isinstance(problem, SyntaxError) and problem.filename == FILE_NAME:
        message, line = str(problem.msg)[:_MESSAGE], problem.lineno
    else:
        for frame, number in traceback.walk_tb(problem.__traceback__):
            if frame.f_code.co_filename == FILE_NAME:
                line = number
    return {"type": _shown_type(problem)[:80], "message": message, "line": line}


def _shown_type(problem: BaseException) -> str:
    return "TypeError" if isinstance(problem, Unusable) else type(problem).__name__
