"""What a model has learnt: ``learns`` and ``beats-baseline``, its predictions scored in the parent.

The submission is trained on one thread with fixed random numbers, on data whose tokens pass through its own secret
permutation, and decodes sources that it has not seen; no target of the test enters the jail. The baseline is the
reference module's, trained alike, once for all submissions of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from shapedoc.grade.comparing import numeric
from shapedoc.grade.draws import Array, generator
from shapedoc.grade.plan import Build, Decode, Step, Train
from shapedoc.grade.properties.asking import broken
from shapedoc.grade.properties.model import PAD, START, ModelProperty, Task, sources, whole_numbers
from shapedoc.grade.properties.property import Case, Fault, Heard, Setting

__all__ = ["BeatsBaseline", "Learns"]

_TESTS = 64
Series = tuple[tuple[int, ...], tuple[float, ...], tuple[float, ...], tuple[float, ...]]


def _tests(setting: Setting) -> tuple[int, ...]:
    """The lengths that are tested, which all items of an assignment share."""
    tests = setting.assignment.settings["training"].get("tests", [4, 6, 8])
    return tuple(int(n) for n in tests)  # type: ignore[attr-defined]


def _steps(setting: Setting, task: Task, prefix: str, target: str, owner: str) -> tuple[Step, ...]:
    """Training and decoding of one model; prefix: of the ids of the steps."""
    rng = generator(setting.seed, owner, f"{setting.assignment.digest}/training")
    least, most = task.lengths
    lengths = rng.integers(least, most + 1, size=(task.steps, task.batch))
    source = sources(rng, (task.steps, task.batch), most, task.vocabulary)
    source[np.arange(most) >= lengths[..., None]] = PAD
    targets = task.permutation[source]
    batches = dict(zip(task.forward, (source, task.shifted(targets), lengths), strict=True))
    build = Build(f"{prefix}/model", target, kwargs=dict(task.build), seed=task.seed)
    train = Train(prefix, build, batches, targets, task.rate, pad=PAD, clip=1.0, seed=task.seed)
    decodes = (
        Decode(f"{prefix}/{n}", prefix, test, np.full(len(test), n), START, n, names=task.forward)
        for n, test in _sources(setting, task, owner).items()
    )
    return (train, *decodes)


def _sources(setting: Setting, task: Task, owner: str) -> dict[int, Array]:
    rng = generator(setting.seed, owner, f"{setting.assignment.digest}/tests")
    return {n: sources(rng, (_TESTS,), n, task.vocabulary) for n in _tests(setting)}


def _accuracy(predictions: Array, source: Array, task: Task) -> float | None:
    """The share of tokens that are right; None where the predictions have another shape."""
    right = task.permutation[source]
    return float((predictions == right).mean()) if predictions.shape == right.shape else None


class Learns(ModelProperty):
    """At each of ``lengths`` at least the share ``passes`` of the tokens is right; one case a length."""

    name = "learns"
    keys = frozenset(("lengths", "passes"))

    def check_more(self, setting: Setting) -> str:
        """Its own parameters, and the shared lengths of the tests."""
        lengths = setting.parameters.get("lengths")
        known = setting.assignment.settings["training"].get("tests", [4, 6, 8])
        most = int(str(setting.assignment.settings["training"]["vocabulary"])) - 2
        if not whole_numbers(known) or not all(0 < n <= most for n in known):
            return f"`[training]` tests must be lengths of at most {most}"
        if not whole_numbers(lengths) or not set(lengths) <= set(known):
            return f"`lengths` must be of those in `[training]` tests: {known}"
        return self.check_threshold(setting)

    def check_threshold(self, setting: Setting) -> str:
        """How good is good enough."""
        passes = setting.parameters.get("passes")
        shares = isinstance(passes, list) and all(isinstance(p, int | float) and 0 < p <= 1 for p in passes)
        if shares and len(cast("list[float]", passes)) == len(cast("list[int]", setting.parameters["lengths"])):
            return ""
        return "`passes` must be a share of tokens for each of `lengths`, such as [0.9, 0.8]"

    def cases(self, setting: Setting) -> list[Case]:
        """One for each length; they share the training."""
        task = Task.of(setting)
        steps = (*_steps(setting, task, "train", task.model, setting.name),)
        shared = Task.of(setting, shared=True)
        baseline = _steps(setting, shared, "train-baseline", task.baseline, "")
        lengths: list[int] = setting.parameters["lengths"]  # type: ignore[assignment]
        return [
            Case(
                f"{setting.item.id}/{n}",
                steps,
                f"train/{n}",
                task.model,
                facts={
                    "alone": True,
                    "shared": True,
                    "reference": baseline,
                    "length": n,
                    "number": index,
                    "series": self.series(setting),
                    "attention": self.attention(n),
                },
            )
            for index, n in enumerate(lengths)
        ]

    def judge(self, setting: Setting, case: Case, heard: Heard) -> Fault | None:
        """Score the predictions of one length."""
        task, length = Task.of(setting), int(str(case.facts["length"]))
        for step in ("train", case.main):
            if fault := broken(heard.reply(step), task.model):
                return fault
        reached = self.accuracy(setting, heard, length)
        if reached is None:
            return Fault("shape", {"result": "logits", "got": "?", "expected": "(B, T_dec, V)"})
        needed = self.needed(setting, case, heard)
        if reached >= needed:
            return None
        kind = "accuracy" if self.name == "learns" else "baseline"
        values: dict[str, object] = {
            "length": length,
            "got": f"{reached:.2f}",
            "needed": f"{needed:.2f}",
            "baseline": f"{self.baseline(setting, heard, length):.2f}",
            "mistake": self.mistake(heard),
        }
        return Fault(kind, values, gap=needed - reached)

    @staticmethod
    def mistake(heard: Heard) -> str:
        """What the losses of the training say: that nothing was learnt, or not enough."""
        losses = np.asarray(heard.reply("train").arrays[0], dtype=float) if heard.reply("train").arrays else np.zeros(0)
        if losses.size > 20 and np.isfinite(losses).all() and losses[-10:].mean() > 0.9 * losses[:5].mean():
            return "does-not-learn"
        return "learns-too-little"

    @staticmethod
    def accuracy(setting: Setting, heard: Heard, length: int) -> float | None:
        """The share of right tokens at a length."""
        task, reply = Task.of(setting), heard.reply(f"train/{length}")
        if reply.status != "ok" or not reply.arrays:
            return None
        return _accuracy(reply.arrays[0], _sources(setting, task, setting.name)[length], task)

    @staticmethod
    def baseline(setting: Setting, heard: Heard, length: int) -> float:
        """The baseline's share of right tokens at a length; nothing where it was not run."""
        reply = heard.reference.replies.get(f"train-baseline/{length}") if heard.reference is not None else None
        if reply is None or not reply.arrays:
            return 0.0
        task = Task.of(setting, shared=True)
        return _accuracy(reply.arrays[0], _sources(setting, task, "")[length], task) or 0.0

    def needed(self, setting: Setting, case: Case, heard: Heard) -> float:
        """The share from which on a length passes."""
        passes: list[float] = setting.parameters["passes"]  # type: ignore[assignment]
        return float(passes[int(str(case.facts["number"]))])

    @staticmethod
    def attention(length: int) -> Callable[[Heard], tuple[Array, Array] | None]:
        """The weights of the first source that was decoded, for the report, beside those that copy in order."""

        def drawn(heard: Heard) -> tuple[Array, Array] | None:
            arrays = heard.reply(f"train/{length}").arrays
            if len(arrays) < 2 or arrays[1].shape[1:] != (length, length) or not numeric(arrays[1]):
                return None
            return arrays[1][0], np.eye(length)

        return drawn

    def series(self, setting: Setting) -> Callable[[Heard], Series | None]:
        """Accuracy against length for the report: each length of the item, the baseline, and what passes."""

        def drawn(heard: Heard) -> Series | None:
            lengths: list[int] = setting.parameters["lengths"]  # type: ignore[assignment]
            reached = [self.accuracy(setting, heard, n) for n in lengths]
            if any(one is None for one in reached):
                return None
            cases = [Case("", (), "", "", facts={"number": i, "length": n}) for i, n in enumerate(lengths)]
            return (
                tuple(lengths),
                tuple(round(one or 0.0, 4) for one in reached),
                tuple(round(self.baseline(setting, heard, n), 4) for n in lengths),
                tuple(round(min(self.needed(setting, case, heard), 1.0), 4) for case in cases),
            )

        return drawn


class BeatsBaseline(Learns):
    """At each of ``lengths`` the share of right tokens is above the baseline's by at least ``margin``."""

    name = "beats-baseline"
    keys = frozenset(("lengths", "margin"))

    def check_threshold(self, setting: Setting) -> str:
        """How much better is enough."""
        margin = setting.parameters.get("margin")
        fine = isinstance(margin, int | float) and not isinstance(margin, bool) and 0 < margin < 1
        return "" if fine else "`margin` must be a share between 0 and 1"

    def needed(self, setting: Setting, case: Case, heard: Heard) -> float:
        """The baseline and the margin, at most 0.97."""
        margin = float(str(setting.parameters["margin"]))
        return min(self.baseline(setting, heard, int(str(case.facts["length"]))) + margin, 0.97)
