"""Watching torch: a function mode that hands every operation of watched code to a recorder."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.value import Int, Layer
from shapedoc.infer.operands import Arg
from shapedoc.runtime.composite import inside_einops
from shapedoc.runtime.eager import as_written
from shapedoc.runtime.layers import built_module, layer_of
from shapedoc.runtime.op_names import PASSIVE, is_reflected, name_of, operator_of
from shapedoc.runtime.places import Place
from shapedoc.runtime.recorder import RunRecorder
from shapedoc.runtime.shadows import is_array
from shapedoc.runtime.sizes import AxisSize
from shapedoc.source import ir

__all__ = ["between", "described", "watching"]

_TORCH = torch.__file__.rpartition("/")[0]


class _Mode(TorchFunctionMode):
    """Hands torch functions to the recorder."""

    def __init__(self, recorder: RunRecorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: object,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        __tracebackhide__ = True
        kwargs = kwargs or {}
        recorder = self.recorder
        if recorder.inside or recorder.full:
            return func(*args, **kwargs)
        called = getattr(func, "__name__", "")
        caller = sys._getframe(1)
        if called in PASSIVE or _is_looking(caller):
            return func(*args, **kwargs)
        place = recorder.safely(partial(recorder.locate, caller))
        if place is None:
            return func(*args, **kwargs)
        recorder.inside += 1
        try:
            return _operation(recorder, place, func, called, args, kwargs)
        finally:
            recorder.inside -= 1


def _is_looking(frame: FrameType) -> bool:
    """Whether this tool or another checker of types looks at a tensor that the program has: no step of the program."""
    return frame.f_code.co_filename == "<shapedoc.check>" or frame.f_globals.get("__name__", "").startswith(_CHECKERS)


_CHECKERS = ("shapedoc.", "jaxtyping.", "beartype.")


def _operation(
    recorder: RunRecorder,
    place: Place,
    func: Callable[..., Any],
    called: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    __tracebackhide__ = True
    if called == "__get__":
        name = name_of(func)
        if name == "torch.Tensor.shape":
            real = func(*args)
            return recorder.safely(partial(sizes_of, recorder, place, args[0], real)) or real
        if name not in _MADE:
            result = func(*args, **kwargs)
            if name == "torch.Tensor.data" and is_array(result):
                recorder.safely(lambda: recorder.shadows.put(result, recorder.shadows.of(args[0])))
            return result
        return _recorded(recorder, name, place, args, {}, partial(func, *args), node=place.node, method=True)
    if called == "size":
        real = func(*args, **kwargs)
        known = recorder.safely(partial(_size, recorder, place, real, args, kwargs))
        return real if known is None else known
    if called == "__iter__":
        return iter(_rows(recorder, place, args[0]))
    direct, library = recorder.safely(partial(between, recorder, sys._getframe(2))) or (False, "shapedoc.")
    if library.startswith("einops."):
        return inside_einops(recorder, place, sys._getframe(2), func, args, kwargs)
    if not direct and (library.startswith(_BUILDING) or library.endswith("__init__")):
        return func(*args, **kwargs)
    name, given, node, method = described(place, func, called, args, direct=direct, library=library)
    return _recorded(recorder, name, place, given, kwargs, partial(func, *args, **kwargs), node=node, method=method)


def described(
    place: Place, func: Callable[..., Any], called: str, args: Sequence[Any], *, direct: bool, library: str
) -> tuple[str, Sequence[Any], ir.Expr | ir.Stmt | None, bool]:
    """An operation as the table knows it: its name, its arguments in their order, its node, whether it is a method."""
    operator = operator_of(place.node, func) if direct else ""
    name = operator or (name_of(func) if direct else library)
    node = place.node if direct and (operator or _calls(place.node, called)) else None
    if operator and is_reflected(func):
        first, second = args[:2]
        return name, (second, first, *args[2:]), node, True
    return name, args, node, name.startswith(("torch.Tensor.", "operator."))


_MADE = frozenset(f"torch.Tensor.{name}" for name in ("T", "mT", "H", "mH", "real", "imag"))


def _calls(node: ir.Expr | ir.Stmt, called: str) -> bool:
    """Whether a node is a call of this function (or may be, under another name)."""
    return isinstance(node, ir.Call | ir.Subscript)


# Library code that makes and changes parameters, and this tool's own: nothing there is the author's.
_BUILDING = ("shapedoc.", "torch.nn.init.", "torch.optim.", "torch.nn.utils.")


def between(recorder: RunRecorder, frame: FrameType | None) -> tuple[bool, str]:
    """Whether the author's code called the function itself, and the library function that it called, if not."""
    activation, library = recorder.activation, ""
    while frame is not None and activation is not None and frame is not activation.frame:
        library = f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_name}"
        frame = frame.f_back
    return library in ("", "torch._tensor.wrapped") or library.startswith(_THIN), library


# Functions of Python that hand on to one that is recorded under its own name.
_THIN = ("torch._tensor.", "torch.functional.", "torch.nn.functional.", "torch._jit_internal.")


def _recorded(
    recorder: RunRecorder,
    name: str,
    place: Place,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    run: Callable[[], Any],
    *,
    node: ir.Expr | ir.Stmt | None,
    method: bool,
) -> Any:
    __tracebackhide__ = True
    given = recorder.safely(lambda: recorder.arguments.call(args, kwargs, node, method))
    if given is None:
        return run()
    return recorder.perform(name, place, given[0], given[1], run)


# -- sizes


def sizes_of(recorder: RunRecorder, place: Place, tensor: Any, real: Sequence[int]) -> Any:
    """``x.shape`` with sizes that know their names."""
    owner = place.node.value if isinstance(place.node, ir.Attribute) else None
    known = recorder.shadows.of(tensor, owner.id if isinstance(owner, ir.Name) else "")
    axes = recorder.sizes.shape(known.shape).axes
    if len(axes) != len(real):
        return real
    named: list[Dim] = []
    for index, name, line in _targets(place, len(axes)):
        named.append(_name(recorder, axes[index].dim, name, line))
    if len(named) > 1:
        recorder.sizes.apart(*named)
    return torch.Size(AxisSize(n, recorder.sizes.resolve(a.dim)) for n, a in zip(real, axes, strict=True))


def _size(recorder: RunRecorder, place: Place, real: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    if not isinstance(real, int):
        return sizes_of(recorder, place, args[0], real)
    axes = recorder.sizes.shape(recorder.shadows.of(args[0]).shape).axes
    index = args[1] if len(args) > 1 else kwargs.get("dim", 0)
    dim = axes[index].dim
    statement = place.statement
    for target, value in _pairs(statement):
        if value is place.node and isinstance(target, ir.Name):
            dim = _name(recorder, dim, target.id, target.span[0])
    return AxisSize(real, recorder.sizes.resolve(dim))


def _targets(place: Place, rank: int) -> Iterator[tuple[int, str, int]]:
    """Which axes an assignment names: (axis, name, line)."""
    for target, value in _pairs(place.statement):
        if value is place.node and isinstance(target, ir.Sequence):
            yield from _each(target, 0, rank)
        elif isinstance(value, ir.Subscript) and value.value is place.node:
            index = _number(value.index)
            if isinstance(target, ir.Name) and index is not None and -rank <= index < rank:
                yield index, target.id, target.span[0]
            elif isinstance(target, ir.Sequence) and isinstance(value.index, ir.Slice):
                lower = _number(value.index.lower) if value.index.lower is not None else 0
                if lower is not None and value.index.step is None:
                    yield from _each(target, lower % rank if rank else 0, rank)


def _each(target: ir.Sequence, start: int, rank: int) -> Iterator[tuple[int, str, int]]:
    star = next((i for i, t in enumerate(target.items) if isinstance(t, ir.Starred)), None)
    for i, item in enumerate(target.items):
        index = start + i if star is None or i < star else rank - len(target.items) + i
        if isinstance(item, ir.Name) and item.id.strip("_") and 0 <= index < rank:
            yield index, item.id, item.span[0]


def _pairs(statement: ir.Stmt | None) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    if not isinstance(statement, ir.Assign) or statement.value is None:
        return
    for target in statement.targets:
        yield target, statement.value
        if isinstance(target, ir.Sequence) and isinstance(statement.value, ir.Sequence):
            yield from zip(target.items, statement.value.items, strict=False)


def _number(node: ir.Expr | None) -> int | None:
    match node:
        case ir.Const(value=int(number)):
            return number
        case ir.UnaryOp(op="-", operand=ir.Const(value=int(number))):
            return -number
    return None


def _name(recorder: RunRecorder, dim: Dim, name: str, line: int) -> Dim:
    """Name a size that nobody named; what a size of this name was apart from before, it is too."""
    dim = recorder.sizes.resolve(dim)
    sym, activation = dim.sym, recorder.activation
    if sym is None or sym.name or not sym.flexible or activation is None:
        return dim
    named = recorder.figures.named(name, sym.value)
    if named is None:
        named = Dim.of(Sym(name, value=sym.value, flexible=True, owner=activation.function, line=line))
    recorder.sizes.bind(sym, named)
    earlier = activation.names.get(name)
    if earlier is not None:
        recorder.sizes.alike(named, earlier)
    activation.names.setdefault(name, named)
    return named


def _rows(recorder: RunRecorder, place: Place, tensor: Any) -> list[Any]:
    """What iterating over a tensor gives, each row an event of its own."""
    rows = list(tensor.unbind(0))
    known = recorder.shadows.of(tensor)
    for i, row in enumerate(rows[:8]):

        def given(row: Any = row) -> Any:
            return row

        args = [Arg(known, place.node if isinstance(place.node, ir.Expr) else None), Arg(Int(Dim.of(i)))]
        recorder.perform("operator.getitem", place, args, {}, given)
    return rows


# -- modules


class _Stack(threading.local):
    """The recorders of a thread, the innermost last."""

    def __init__(self) -> None:
        self.recorders: list[RunRecorder] = []


class _Patch:
    """What stands in for two methods of ``nn.Module`` while there is a recorder in any thread.

    Not for ``__call__`` itself, which calls the other one at once: to exchange it takes Python a look at every class of
    modules, since calling is what a class does by a slot.
    """

    def __init__(self) -> None:
        self.stack = _Stack()
        self.lock = threading.Lock()
        self.users = 0
        self.call = torch.nn.Module._call_impl
        self.init = torch.nn.Module.__init__

    def push(self, recorder: RunRecorder) -> None:
        """A recorder of this thread begins."""
        self.stack.recorders.append(recorder)
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.call, self.init = torch.nn.Module._call_impl, torch.nn.Module.__init__
                torch.nn.Module._call_impl, torch.nn.Module.__init__ = _called, _initialised

    def pop(self) -> None:
        """The innermost recorder of this thread ends."""
        self.stack.recorders.pop()
        with self.lock:
            self.users -= 1
            if self.users == 0:
                torch.nn.Module._call_impl, torch.nn.Module.__init__ = self.call, self.init


_patch = _Patch()


_CALLING = torch.nn.Module._wrapped_call_impl.__code__


def _called(module: Any, *args: Any, **kwargs: Any) -> Any:
    __tracebackhide__ = True
    frame = sys._getframe(1)
    if frame.f_code is _CALLING and frame.f_back is not None:
        frame = frame.f_back
    return _through(len(_patch.stack.recorders), frame, module, args, kwargs)


def _through(level: int, frame: FrameType, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call a module under the recorders from `level` down to the outermost."""
    __tracebackhide__ = True
    if level == 0:
        return _patch.call(module, *args, **kwargs)
    recorder = _patch.stack.recorders[level - 1]
    run = partial(_through, level - 1, frame, module, args, kwargs)
    found = None
    if not recorder.inside and not recorder.full:
        found = recorder.safely(lambda: _layer_call(recorder, module, frame, args, kwargs))
    if found is None:
        return run()
    layer, place, given, keywords = found
    recorder.inside += 1
    try:
        return recorder.perform(f"{layer.kind}.forward", place, given, keywords, run, layer)
    finally:
        recorder.inside -= 1


def _initialised(module: Any, *args: Any, **kwargs: Any) -> None:
    _patch.init(module, *args, **kwargs)
    for recorder in _patch.stack.recorders:
        if not recorder.inside and not recorder.full:
            recorder.safely(partial(built_module, recorder, module, sys._getframe(1)))


@contextmanager
def watching(recorder: RunRecorder) -> Iterator[RunRecorder]:
    """Record what watched code does in this block, in this thread."""
    _patch.push(recorder)
    try:
        with as_written(), _Mode(recorder):
            yield recorder
    finally:
        _patch.pop()
        events = recorder.trace.events
        recorder.trace.entries.append(("", 0, len(events), recorder.sizes))


def _layer_call(
    recorder: RunRecorder, module: Any, frame: FrameType, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Layer, Place, list[Arg], dict[str, Arg]] | None:
    """The layer that is called, where, and with what; None for what is no library module, or no watched code's."""
    layer = layer_of(recorder, module, frame.f_locals.get("self"))
    place = recorder.locate(frame) if layer is not None else None
    if layer is None or place is None:
        return None
    direct = recorder.activation is not None and frame is recorder.activation.frame
    given, keywords = recorder.arguments.call(args, kwargs, place.node if direct else None, method=False)
    return layer, place, given, keywords
