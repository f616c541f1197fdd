"""What an exception was about: the exact sub-expression that raised it, and its operands with their shapes.

Nothing is evaluated again: the place is in the traceback, the shapes are in the recording or in the frame.
"""

from __future__ import annotations

from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from shapedoc.core.finding import Finding
from shapedoc.core.span import Label, Span
from shapedoc.core.trace import Event, Operand
from shapedoc.core.value import Seq, Tensor
from shapedoc.runtime.places import Place, SourceFile, place_of, source_file
from shapedoc.source import ir

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapedoc.runtime.recorder import RunRecorder

__all__ = ["CODE", "NAME", "explain", "operands_of"]

CODE, NAME = "SD903", "raised-here"
_LONG = 160
# What is raised where a name, a key or a file is wrong.
_OTHER = (AttributeError, NameError, KeyError, ImportError, OSError)


def explain(
    error: BaseException, recorder: RunRecorder | None, watched: Callable[[str], bool] | None = None
) -> Finding | None:
    """A finding on the sub-expression that raised `error`.

    None where no watched code is in its traceback, and where no shape has to do with it: no tensor went in, or the
    exception is of a kind that shapes do not raise.
    """
    if isinstance(error, _OTHER):
        return None
    watched = watched or (recorder.activations.watched if recorder is not None else None)
    found = _innermost(error.__traceback__, watched)
    if found is None:
        return None
    frame, instruction = found
    source = source_file(frame.f_code.co_filename)
    place = place_of(frame.f_code, instruction)
    if source is None or place is None:
        return None
    span = Span(*place.node.span)
    event = _event(recorder, error, span)
    labels = _recorded(event, recorder) if event is not None and recorder is not None else _local(place, frame, source)
    text = _text(source, place.node.span)
    if not labels:
        return None
    name, _, shape = labels[0].text.rpartition(" is ")
    return Finding(
        code=CODE,
        name=NAME,
        severity="error",
        path=source.path,
        span=span,
        message=f"`{text}` raised {type(error).__name__}: {_first_line(error)}",
        function=place.function,
        tensor=name,
        actual=shape,
        labels=tuple(labels),
        why="the exception was raised by this very sub-expression; its operands had these shapes",
        help="compare the operands above with what the error says: a size, a type or an index does not fit",
    )


def _innermost(traceback: TracebackType | None, watched: Callable[[str], bool] | None) -> tuple[FrameType, int] | None:
    last = None
    while traceback is not None:
        if watched is None or watched(traceback.tb_frame.f_code.co_filename):
            last = (traceback.tb_frame, traceback.tb_lasti)
        traceback = traceback.tb_next
    return last


def _event(recorder: RunRecorder | None, error: BaseException, span: Span) -> Event | None:
    """The event of the operation that raised, if the recorder saw it."""
    for problem, event in reversed(recorder.failures if recorder is not None else ()):
        place = (event.span.line, event.span.column, event.span.end_line, event.span.end_column)
        if problem is error and place == (span.line, span.column, span.end_line, span.end_column):
            return event
    return None


def _recorded(event: Event, recorder: RunRecorder) -> list[Label]:
    labels = []
    for operand in _flat(event):
        if not isinstance(operand.value, Tensor) or operand.shape is None or event.sizes is None:
            continue
        shape = event.sizes.shape(operand.shape)
        named, real = event.sizes.show_shape(shape), tuple(a.dim.value for a in shape.axes)
        if any(not s.name for a in shape.axes for s in event.sizes.resolve(a.dim).syms):
            named = str(real)
        shown = named if named == str(real) else f"{named} = {real}"
        source = source_file(operand.span.path or recorder.trace.path) if operand.span is not None else None
        text = operand.value.name or f"`{operand.name}`"
        if source is not None and operand.span is not None:
            s = operand.span
            text = _text(source, (s.line, s.column, s.end_line, s.end_column))
        labels.append(Label(operand.span or event.span, f"{text} is {shown}"))
    return labels


def _flat(event: Event) -> list[Operand]:
    found: list[Operand] = []
    for operand in event.operands:
        if operand.parts:
            found.extend(operand.parts)
        elif isinstance(operand.value, Seq):
            tensors = [v for v in operand.value.items if isinstance(v, Tensor)]
            found.extend(Operand(f"{operand.name}[{i}]", v, shape=v.shape) for i, v in enumerate(tensors))
        else:
            found.append(operand)
    return found


def _local(place: Place, frame: FrameType, source: SourceFile) -> list[Label]:
    """Operands that are variables or attributes, read where they lie."""
    labels = []
    for node in operands_of(place.node):
        value = _read(node, frame)
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple):
            labels.append(Label(Span(*node.span), f"{_text(source, node.span)} is {tuple(int(n) for n in shape)}"))
    return labels


def operands_of(node: ir.Expr | ir.Stmt) -> list[ir.Expr]:
    """The parts of an expression that an operation takes."""
    match node:
        case ir.BinOp():
            return [node.left, node.right]
        case ir.AugAssign():
            return [node.target, node.value]
        case ir.Compare():
            return [node.left, *node.comparators]
        case ir.Subscript():
            return [node.value]
        case ir.UnaryOp():
            return [node.operand]
        case ir.Attribute():
            return [node.value]
        case ir.Call():
            first = [node.func.value] if isinstance(node.func, ir.Attribute) else []
            parts = [*first, *node.args, *(v for _, v in node.keywords)]
            return [i for p in parts for i in (p.items if isinstance(p, ir.Sequence) else [p])]
    return []


def _read(node: ir.Expr, frame: FrameType) -> Any:
    """The value of a variable, an attribute or ``x.T`` of one, without running any code of the program."""
    match node:
        case ir.Name(id=name):
            return frame.f_locals.get(name, frame.f_globals.get(name))
        case ir.Attribute(value=owner, attr=attr):
            held = getattr(_read(owner, frame), "__dict__", {})
            for table in (held, held.get("_parameters", {}), held.get("_buffers", {}), held.get("_modules", {})):
                if attr in table:
                    return table[attr]
    return None


def _text(source: SourceFile, span: ir.Span4) -> str:
    line, column, end_line, end_column = span
    lines = source.text.splitlines()[line - 1 : end_line]
    if not lines:
        return ""
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    text = " ".join(part.strip() for part in lines)
    return text if len(text) <= _LONG else text[: _LONG - 3] + "..."


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0]
