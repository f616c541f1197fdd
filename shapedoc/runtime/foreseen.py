"""What reading a file says that a call will do, and a look whether it does.

A function whose arguments all have stated shapes, without branches and loops, does the same operations in every call.
Where reading it has followed every one of them by name and found nothing, the rules have judged each call that goes
this very way, whatever its numbers: it need not be recorded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType, FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Run, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.trace import Event, Operand, Trace
from shapedoc.core.value import Int, Layer, Seq, Tensor, Unknown
from shapedoc.runtime.active import followed, going_as_foreseen
from shapedoc.runtime.places import Place, SourceFile, parts_of, span_of, spans_of
from shapedoc.runtime.shadows import kind_of
from shapedoc.runtime.sites import QUIET, Failure
from shapedoc.source import ir

__all__ = ["AsForeseen", "Foreseen", "foreseen", "is_straight"]

# Library modules that call one function of torch, by its name; what goes on in others is not looked at.
_LAYERS = {
    "torch.nn.Linear": "linear",
    "torch.nn.Dropout": "dropout",
    "torch.nn.LayerNorm": "layer_norm",
    "torch.nn.Embedding": "embedding",
    "torch.nn.Softmax": "softmax",
    "torch.nn.ReLU": "relu",
    "torch.nn.GELU": "gelu",
    "torch.nn.Tanh": "tanh",
    "torch.nn.Sigmoid": "sigmoid",
}
# The sizes of a module's weight.
_WEIGHTS = {
    "torch.nn.Linear": ("out_features", "in_features"),
    "torch.nn.Embedding": ("num_embeddings", "embedding_dim"),
}
# What is asked of a tensor without a call.
_ATTRIBUTES = frozenset(("T", "mT", "H", "mH", "data"))

# A size: itself where it is a number, -1, -2, ... for names, or what it is made of.
_Size = int | Dim


@dataclass(frozen=True, slots=True)
class _Input:
    """One tensor that goes into an operation."""

    name: str
    sizes: tuple[_Size, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class _Step:
    """One operation: where it stands, what torch calls it ("" for an operator), what goes in.

    more: it is a library module's, and parameters that are not listed go in too. several: it is made of operations of
    its own, and what they are is not looked at.
    """

    span: ir.Span4
    called: str
    inputs: tuple[_Input, ...] = ()
    more: bool = False
    several: bool = False


@dataclass(frozen=True, slots=True)
class Foreseen:
    """All that one function does.

    code: its own. spans: of its instructions. definitions: where it and the functions of its file that it calls are
    defined. numbers: of the names of sizes.
    """

    code: CodeType
    spans: Mapping[int, ir.Span4]
    definitions: frozenset[ir.Span4]
    steps: tuple[_Step, ...]
    numbers: Mapping[Sym, int]


class _Unforeseen(Exception):
    """Raised where reading leaves something open."""


def foreseen(trace: Trace, code: CodeType, source: SourceFile, place: Place) -> Foreseen | None:
    """What a straight function does, where the trace of its file says all of it; None where it does not.

    place: of its definition in its file, which states the shape of every argument.
    """
    definition, owner = place.node, place.owner
    assert isinstance(definition, ir.FunctionDef)
    name = f"{owner}.{definition.name}" if owner else definition.name
    entries = [e for e in trace.entries if e[0] == (owner if owner and definition.name == "forward" else name)]
    if len(entries) != 1:
        return None
    _, start, end, sizes = entries[0]
    reader = _Reader(source, sizes)
    try:
        steps = tuple(s for event in trace.events[start:end] if (s := reader.step(event)) is not None)
    except _Unforeseen:
        return None
    definitions = _passed(source, steps)
    others = [d.node for d in definitions if d.node is not definition]
    if len(others) == len(definitions) or not all(isinstance(o, ir.FunctionDef) and is_straight(o) for o in others):
        return None
    return Foreseen(
        code, spans_of(code), frozenset(d.node.span for d in definitions), reader.bound(steps), reader.numbers
    )


def _passed(source: SourceFile, steps: Sequence[_Step]) -> list[Place]:
    """Where the functions are defined in which steps stand."""
    around = [source.by_span[s.span].definition for s in steps if s.span in source.by_span]
    return [place for place in source.definitions if any(place.node is definition for definition in around)]


_STRAIGHT = (ir.Assign, ir.AugAssign, ir.ExprStmt, ir.Return, ir.Assert, ir.With)
_CHOICES = (ir.IfExp, ir.BoolOp, ir.Lambda)


def is_straight(definition: ir.FunctionDef) -> bool:
    """Whether a function has no branch, no loop of statements and no function inside."""
    pending: list[object] = list(definition.body)
    while pending:
        node = pending.pop()
        if isinstance(node, _CHOICES) or (isinstance(node, ir.Stmt) and not isinstance(node, _STRAIGHT)):
            return False
        if isinstance(node, ir.Stmt | ir.Expr) and not isinstance(node, ir.FString):
            pending += parts_of(node)
    return True


_KNOWN = ("torch.", "operator.", "einops.")
# Of the functions of `torch.nn` only these are not written in Python.
_PLAIN = ("torch.nn.functional.", "torch.nn.init.")


class _Reader:
    """Reads the events of one entry."""

    def __init__(self, source: SourceFile, sizes: Sizes) -> None:
        self.source = source
        self.sizes = sizes
        self.numbers: dict[Sym, int] = {}

    def step(self, event: Event) -> _Step | None:
        """An event as what is seen of it when it runs, None where nothing is; raises where it is not known in full."""
        around = event.loops or event.branch or event.span.path
        doubted = event.problems or event.lost or event.spoilt or event.doubtful or event.withheld
        if around or doubted or isinstance(event.result, Unknown) or not event.op.startswith(_KNOWN):
            raise _Unforeseen
        self._known(event.shape)
        called = event.op.rpartition(".")[2]
        if event.op.startswith("torch.Tensor.") and called in _ATTRIBUTES:
            return None
        span = (event.span.line, event.span.column, event.span.end_line, event.span.end_column)
        place = self.source.by_span.get(span)
        if event.op == "operator.getitem" and place is not None and not isinstance(place.node, ir.Subscript):
            return _Step(span, "", several=True)  # A tensor that is unpacked.
        inputs = tuple(i for o in event.operands for i in self._inputs(o))
        layer = event.operands[0].value if event.operands and event.operands[0].name == "self" else None
        composed = event.op.startswith("einops.") or (
            event.op.startswith("torch.nn.") and not event.op.startswith(_PLAIN)
        )
        if not isinstance(layer, Layer) and composed:
            return _Step(span, "", several=True)
        if not isinstance(layer, Layer):
            # A bare `squeeze` takes away whatever happens to be 1.
            if (event.op.startswith("operator.") and not inputs) or (called == "squeeze" and len(event.operands) < 2):
                raise _Unforeseen
            return _Step(span, "" if event.op.startswith("operator.") else called, inputs)
        if layer.kind not in _LAYERS or len(inputs) != 1:
            return _Step(span, "", several=True)
        if layer.kind in _WEIGHTS:
            weight = tuple(self._setting(layer, s) for s in _WEIGHTS[layer.kind])
            inputs = (*inputs, _Input("weight", weight, "float"))
        return _Step(span, _LAYERS[layer.kind], inputs, more=True)

    def _inputs(self, operand: Operand) -> Iterator[_Input]:
        value = operand.value
        if isinstance(value, Tensor):
            if not value.kind:
                raise _Unforeseen
            yield _Input(operand.name, self._known(operand.shape or value.shape), value.kind)
        elif operand.parts:
            for part in operand.parts:
                yield from self._inputs(part)
        elif isinstance(value, Seq):
            if any(isinstance(v, Unknown) or getattr(v, "_tensor", None) is not None for v in value.items):
                raise _Unforeseen
            for item in value.items:
                yield from self._inputs(Operand(operand.name, item))
        elif isinstance(value, Unknown) and operand.name != "device":
            raise _Unforeseen

    def _known(self, shape: Shape | None) -> tuple[_Size, ...]:
        if shape is None:
            return ()
        items = self.sizes.shape(shape).items
        return tuple(self._size(i.dim) if not isinstance(i, Run) else self._lost() for i in items)

    def _setting(self, layer: Layer, name: str) -> _Size:
        value = layer.config.get(name)
        as_int = getattr(value, "as_int", None)
        value = as_int() if as_int is not None else value
        return self._size(self.sizes.resolve(value.dim)) if isinstance(value, Int) else self._lost()

    def _size(self, dim: Dim) -> _Size:
        if dim.const is not None:
            return dim.const
        if any(not s.name for s in dim.syms):
            raise _Unforeseen
        for sym in sorted(dim.syms, key=lambda s: s.uid):
            self.numbers.setdefault(sym, -1 - len(self.numbers))
        return self.numbers[dim.sym] if dim.sym is not None else dim

    def bound(self, steps: Sequence[_Step]) -> tuple[_Step, ...]:
        """The steps; a size of names that no axis has by itself is one of its own."""
        alone = {n for s in steps for i in s.inputs for n in i.sizes if isinstance(n, int)}
        names = {sym for sym, n in self.numbers.items() if n in alone}
        own: dict[Dim, int] = {}

        def size(one: _Size) -> _Size:
            if isinstance(one, int) or one.syms <= names:
                return one
            return own.setdefault(one, -1 - len(self.numbers) - len(own))

        return tuple(
            replace(s, inputs=tuple(replace(i, sizes=tuple(map(size, i.sizes))) for i in s.inputs)) for s in steps
        )

    @staticmethod
    def _lost() -> int:
        raise _Unforeseen


class AsForeseen(TorchFunctionMode):
    """Looks whether the operations of a block are those that were foreseen.

    watched: which files' code is of interest. failed: told, at once, of each operation that raises.
    """

    def __init__(self, plan: Foreseen, watched: Callable[[str], bool], failed: Callable[[Failure], None]) -> None:
        super().__init__()
        self.plan = plan
        self.watched = watched
        self.failed = failed
        self.at = 0
        self.astray = False
        self.sizes: dict[int, int] = {}
        self.composed: list[tuple[Dim, int]] = []

    def __enter__(self) -> AsForeseen:
        super().__enter__()
        followed(+1)
        going_as_foreseen(+1)
        return self

    def __exit__(self, *problem: Any) -> None:
        followed(-1)
        going_as_foreseen(-1)
        super().__exit__(*problem)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        __tracebackhide__ = True
        name = getattr(func, "__name__", "")
        if name in QUIET:
            return func(*args, **kwargs) if kwargs else func(*args)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and not self.watched(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return func(*args, **kwargs) if kwargs else func(*args)
        if not self.astray:
            self.astray = not self._agrees(frame, name, args, kwargs)
        try:
            return func(*args, **kwargs) if kwargs else func(*args)
        except Exception as problem:
            self.failed(Failure(problem, func, args, kwargs or {}, sys._getframe(1), frame))
            raise

    def _agrees(self, frame: FrameType, name: str, args: Sequence[Any], kwargs: Mapping[str, Any] | None) -> bool:
        plan, code = self.plan, frame.f_code
        steps = plan.steps
        if code is plan.code:
            span = plan.spans.get(frame.f_lasti)
        elif code.co_filename == plan.code.co_filename:
            span = span_of(code, frame.f_lasti)
        else:
            return False
        while self.at < len(steps) and steps[self.at].several and steps[self.at].span != span:
            self.at += 1
        if self.at == len(steps) or steps[self.at].span != span:
            return False
        step = steps[self.at]
        if step.several:
            return True
        self.at += 1
        if step.called and step.called != name:
            return False
        given: list[Any] = []
        try:
            _gather(args, given)
            if kwargs:
                _gather(kwargs.values(), given)
            more = len(given) - len(step.inputs)
            return (more == 0 or (more > 0 and step.more)) and all(map(self._one, step.inputs, given))
        except Exception:  # A tensor that has no sizes, such as a nested one.
            return False

    def _one(self, wanted: _Input, given: Any) -> bool:
        shape = given.shape
        dtype = given.dtype
        kind = _kinds.get(dtype)
        if kind is None:
            kind = _kinds[dtype] = kind_of(given)
        if len(shape) != len(wanted.sizes) or kind != wanted.kind:
            return False
        sizes = self.sizes
        for want, size in zip(wanted.sizes, shape, strict=True):
            if not isinstance(want, int):
                self.composed.append((want, size))
            elif (want if want >= 0 else sizes.setdefault(want, size)) != size:
                return False
        return True

    def went_as_foreseen(self) -> bool:
        """Whether all of it was done, nothing else was, and every size was the one that it is called."""
        if self.astray or not all(step.several for step in self.plan.steps[self.at :]):
            return False
        known = {sym: Dim.of(self.sizes[n]) for sym, n in self.plan.numbers.items() if n in self.sizes}
        return all(dim.substitute(known).const == size for dim, size in self.composed)


# What the elements of a tensor of this type are.
_kinds: dict[torch.dtype, str] = {}


def _gather(values: Iterable[Any], found: list[Any]) -> None:
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, tuple | list):
            _gather(value, found)
