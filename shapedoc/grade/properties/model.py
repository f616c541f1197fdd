"""Models that are built, called and trained: what their properties share. The assignment's ``[training]`` says how.

A model is called with source (B, T_enc), target_in (B, T_dec) and lengths (B,), under the names in ``forward``, and
gives logits (B, T_dec, V) and weights (B, T_dec, T_enc). Token 0 is padding, token 1 starts a target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard, cast

import numpy as np

from shapedoc.grade.draws import Array, generator
from shapedoc.grade.plan import Build, Call, Step
from shapedoc.grade.properties.asking import broken, shape_fault
from shapedoc.grade.properties.property import Case, Fault, Heard, Setting

__all__ = ["PAD", "START", "ModelProperty", "Task", "sources", "whole_numbers"]

PAD, START = 0, 1
_FIRST = 2
_NEEDED = ("class", "baseline", "build", "forward", "vocabulary", "steps", "batch", "rate", "lengths")


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """The copy task of one submission: its tokens pass through a secret permutation."""

    model: str
    baseline: str
    build: Mapping[str, int]
    forward: tuple[str, str, str]
    vocabulary: int
    steps: int
    batch: int
    rate: float
    lengths: tuple[int, int]
    seed: int
    permutation: Array

    @classmethod
    def of(cls, setting: Setting, *, shared: bool = False) -> Task:
        """Read ``[training]``; the permutation is the submission's own, or for the baseline that of the run."""
        table = setting.assignment.settings["training"]
        owner = "" if shared else setting.name
        rng = generator(setting.seed, owner, f"{setting.assignment.digest}/permutation")
        vocabulary = int(str(table["vocabulary"]))
        forward = cast("list[str]", table["forward"])
        lengths = cast("list[int]", table["lengths"])
        return cls(
            str(table["class"]),
            str(table["baseline"]),
            dict(cast("dict[str, int]", table["build"])),
            (forward[0], forward[1], forward[2]),
            vocabulary,
            int(str(table["steps"])),
            int(str(table["batch"])),
            float(str(table["rate"])),
            (lengths[0], lengths[1]),
            int(rng.integers(1 << 31)),
            np.concatenate([[PAD, START], rng.permutation(np.arange(_FIRST, vocabulary))]),
        )

    def built(self, name: str = "model") -> Build:
        """The model, untrained, its random numbers fixed."""
        return Build(name, self.model, kwargs=dict(self.build), seed=self.seed)

    def call(self, name: str, source: Array, target_in: Array, lengths: Array) -> Call:
        """A call of the untrained model."""
        kwargs = dict(zip(self.forward, (source, target_in, lengths), strict=True))
        return Call(name, "model", kwargs=kwargs, mode="eval")

    def shifted(self, targets: Array) -> Array:
        """What the decoder is fed for these targets (…, T): the start token, then all but the last."""
        start = np.full((*targets.shape[:-1], 1), START, dtype=targets.dtype)
        return np.concatenate([start, targets[..., :-1]], axis=-1)


def sources(rng: np.random.Generator, shape: tuple[int, ...], longest: int, vocabulary: int) -> Array:
    """Source tokens (*shape, longest): real ones, each at most once in a sequence, so that it can be found again."""
    order = np.argsort(rng.random((*shape, vocabulary - _FIRST)), axis=-1)
    return np.asarray(order[..., :longest] + _FIRST)


def _problem(table: Mapping[str, object], targets: Mapping[str, tuple[str, ...]]) -> str:
    """Why a ``[training]`` will not do, or nothing."""
    for key in _NEEDED:
        if key not in table:
            return f"lacks `{key}`; it needs {', '.join(_NEEDED)}"
    build, forward, lengths = table["build"], table["forward"], table["lengths"]
    if str(table["class"]) not in targets:
        return f"class is {table['class']!r}; `[targets]` has {', '.join(targets)}"
    if not isinstance(build, dict) or not all(type(value) is int for value in build.values()):
        return "build must be a table of whole numbers"
    if not isinstance(forward, list) or len(forward) != 3 or not all(isinstance(name, str) for name in forward):
        return "forward must name the parameters for source, target_in and lengths"
    for key in ("steps", "batch", "vocabulary"):
        if not isinstance(number := table[key], int) or isinstance(number, bool) or number < 1:
            return f"{key} must be a whole number from 1"
    if not isinstance(rate := table["rate"], int | float) or isinstance(rate, bool) or not 0 < rate < 10:
        return "rate must be a number above zero"
    if not whole_numbers(lengths) or len(lengths) != 2 or not 2 <= lengths[0] <= lengths[1]:
        return "lengths must be [least, most], from 2"
    if int(str(table["vocabulary"])) < lengths[1] + _FIRST:
        return f"vocabulary must be at least {lengths[1] + _FIRST}: no token comes twice in a source"
    return ""


def whole_numbers(value: object) -> TypeGuard[list[int]]:
    """Whether a value of the file is a list of whole numbers, one at least."""
    return isinstance(value, list) and bool(value) and all(type(one) is int for one in value)


class ModelProperty:
    """A property of a model that has not been trained: what its results are, and what they depend on."""

    name = ""
    keys: frozenset[str] = frozenset()

    def check(self, setting: Setting) -> str:
        """Why ``[training]`` will not do, or nothing."""
        table = setting.assignment.settings.get("training")
        if table is None:
            return f"`{self.name}` needs a table `[training]`"
        if problem := _problem(table, setting.assignment.targets):
            return f"`[training]` {problem}"
        for key in setting.item.parameters:
            if key not in self.keys:
                return f"`{key}` means nothing to `{self.name}`"
        return self.check_more(setting)

    def check_more(self, setting: Setting) -> str:
        """What a subclass has to object to."""
        return ""

    def cases(self, setting: Setting) -> list[Case]:
        """A case for every group of calls."""
        raise NotImplementedError

    def judge(self, setting: Setting, case: Case, heard: Heard) -> Fault | None:
        """How a case is wrong."""
        raise NotImplementedError

    @staticmethod
    def drawn(setting: Setting, task: Task, batch: int, longest: int, t_dec: int) -> tuple[Array, Array, Array]:
        """source (B, T_enc), target_in (B, T_dec), lengths (B,): the first row full, the last padded."""
        rng = setting.rng
        source = sources(rng, (batch,), longest, task.vocabulary)
        lengths = rng.integers(2, longest + 1, size=batch)
        lengths[0] = longest
        if batch > 1:
            lengths[-1] = int(rng.integers(2, longest))
        source[np.arange(longest) >= lengths[:, None]] = PAD
        target_in = task.shifted(sources(rng, (batch,), t_dec, task.vocabulary))
        return source, target_in, lengths

    @staticmethod
    def case(name: str, task: Task, calls: tuple[Step, ...], **facts: object) -> Case:
        """A case on the untrained model."""
        main = calls[0].id
        results = ("logits", "weights")
        return Case(name, (task.built(), *calls), main, task.model, None, None, "", results, {"alone": True, **facts})

    @staticmethod
    def results(heard: Heard, step: str, task: Task, shape: tuple[int, int, int]) -> Fault | tuple[Array, Array]:
        """Logits and weights of one call, or the fault that keeps them from being looked at.

        shape: (B, T_dec, T_enc).
        """
        for reply in (heard.reply("model"), heard.reply(step)):
            if reply.status != "ok":
                return broken(reply, task.model) or Fault("not_run")
        arrays = heard.reply(step).arrays
        if len(arrays) < 2:
            return Fault("result_missing", {"result": "weights", "count": 2, "got": len(arrays)})
        logits = np.zeros((*shape[:2], task.vocabulary))
        fault = shape_fault(arrays[0], logits, "logits") or shape_fault(arrays[1], np.zeros(shape), "weights")
        if fault is not None:
            return Fault(fault.kind, fault.values, gap=fault.gap)
        return arrays[0], arrays[1]
