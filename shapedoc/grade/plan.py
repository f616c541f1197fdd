"""What is to be done with a submission, as data: a plan goes into the jail, an outcome comes out.

A plan holds inputs and never an expected value, so that nothing worth stealing enters the jail. An outcome is what the
child says: arrays to be compared outside, and words to be shown. Only `Outcome.status` is known from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy.typing as npt

__all__ = [
    "Build",
    "Call",
    "Cause",
    "Decode",
    "Ended",
    "Framework",
    "Limits",
    "Outcome",
    "Plan",
    "Raised",
    "Ref",
    "Reply",
    "ReplyStatus",
    "Step",
    "Train",
    "Value",
]

Array: TypeAlias = npt.NDArray[Any]
Framework: TypeAlias = Literal["torch", "numpy"]


@dataclass(frozen=True, slots=True)
class Ref:
    """The result of an earlier step, or with `path` a part of it: `Ref("encode", (0,))`."""

    id: str
    path: tuple[int | str, ...] = ()


Value: TypeAlias = (
    "Array | Ref | bool | int | float | str | tuple[Value, ...] | list[Value] | Mapping[str, Value] | None"
)


@dataclass(frozen=True, slots=True, eq=False)
class Build:
    """Construct an object of the class `target` and keep it under `id`.

    seed: of torch, NumPy and `random`, before the construction. load: values for parameters and buffers (NumPy objects:
    attributes) by their dotted names; a name that is not there or another shape is a `raised` reply. give_state: the
    reply's arrays are the parameters and buffers, in the order of `Reply.state`.
    """

    id: str
    target: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    framework: Framework = "torch"
    load: Mapping[str, Array] | None = None
    seed: int | None = None
    give_state: bool = False
    mode: Literal["train", "eval"] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """Call a function, a kept object, or a method of one (`"model.encode"`); the result is kept under `id`.

    Arrays in `args` and `kwargs` become tensors (framework "torch") or copies. Named arguments fall back to positions,
    in their order, where the submission names its parameters otherwise. wrt: the arguments (position, or name in
    `kwargs`) whose gradient of `sum(result[0] * cotangent)` is given too; ones where `cotangent` is None.
    """

    id: str
    target: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    framework: Framework = "torch"
    wrt: tuple[int | str, ...] = ()
    cotangent: Array | None = None
    seed: int | None = None
    mode: Literal["train", "eval"] | None = None
    give: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Train:
    """Train a model that `build` constructs, by the harness's own loop; it is kept under `id`.

    batches: by name, arrays (steps, batch, ...) whose slices are the arguments of a call, as in `Call`. target: (steps,
    batch, T) integers. The loss is the cross-entropy of `result[0]` (batch, T, vocabulary), `pad` ignored; Adam with
    rate `lr`, gradients clipped to the norm `clip`. The reply's only array is the loss of every step, (steps,).
    """

    id: str
    build: Build
    batches: Mapping[str, Array]
    target: Array
    lr: float
    pad: int | None = None
    clip: float | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Decode:
    """Decode greedily with a kept model: the harness feeds the growing prefix; no target enters.

    source (B, T) integers; lengths (B,) or None, when it is not passed. At step t the model is called with (source,
    prefix (B, t + 1), lengths) under the names in `names`, and the argmax of its last logits is the next token. The
    reply's arrays: predictions (B, steps), then what else the model returns at the last step (weights).
    """

    id: str
    target: str
    source: Array
    lengths: Array | None
    start: int
    steps: int
    names: tuple[str, ...] = ("source", "target", "lengths")


Step: TypeAlias = Build | Call | Train | Decode


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Steps for one child, in order; one that raises does not stop the next. `seed` is set before the import."""

    steps: tuple[Step, ...]
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises ValueError where two steps share an id."""
        ids = [step.id for step in self.steps]
        if len(set(ids)) != len(ids):
            raise ValueError("two steps of a plan have the same id")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one child may use. `result_bytes` bounds all arrays together, `printed_bytes` what is kept of its output."""

    wall_s: float = 30.0
    cpu_s: int = 10
    memory_bytes: int = 4 << 30
    result_bytes: int = 64 << 20
    printed_bytes: int = 16 << 10


ReplyStatus: TypeAlias = Literal["ok", "raised", "missing", "too_large", "bad_type", "not_run"]


@dataclass(frozen=True, slots=True)
class Raised:
    """What a step raised: the type's name, its message (at most 300 characters), its line in the submission's text."""

    type: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Reply:
    """What the child says of one step. Words and arrays are the submission's claim; arrays are to be compared.

    kinds: of each array, what it was ("torch.Tensor", "numpy.ndarray", "float"). gradients: one for each of `wrt`, None
    where the result does not depend on it. state: names and shapes of what `Build` made. defined: the public names of
    the submission, where `target` is missing.
    """

    id: str
    status: ReplyStatus
    arrays: tuple[Array, ...] = ()
    kinds: tuple[str, ...] = ()
    gradients: tuple[Array | None, ...] = ()
    raised: Raised | None = None
    state: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    defined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cause:
    """Why something ended or cannot be graded: a key of the catalogue of messages, and what its places hold."""

    key: str
    values: Mapping[str, str | int | float] = field(default_factory=dict)


Ended: TypeAlias = Literal["done", "timeout", "memory", "crash", "blocked"]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """How a child ended, as seen from outside, and its replies; steps that it did not reach are `not_run`.

    loaded: the reply for the import of the submission (`raised` with its line where that failed). cause and message:
    why, where status is not "done", for `messages.tell` and in English. stopped_in: the id of the step in which it
    ended, "" for the import. printed: what it wrote to its standard streams, cut. seconds: of wall-clock time; not to
    be put in reports that must not change.
    """

    status: Ended
    loaded: Reply
    replies: Mapping[str, Reply]
    cause: Cause | None = None
    message: str = ""
    stopped_in: str | None = None
    printed: str = ""
    seconds: float = 0.0
