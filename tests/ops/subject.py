"""The op table's answer to a drawn call, with numbers or with names for sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.span import Span
from shapedoc.core.value import (
    Bool,
    Dtype,
    EllipsisValue,
    Float,
    Int,
    Kind,
    Layer,
    NoneValue,
    Seq,
    SliceValue,
    Str,
    Tensor,
    Value,
)
from shapedoc.core.verdict import Conflict, Lost, Unknown, Verdict
from shapedoc.ops import Arguments, evaluate, find, find_layer
from shapedoc.ops.calling.bind import build_layer
from shapedoc.ops.packed import PACKED, PACKED_BATCH_FIRST
from tests.ops.drawing import Call, D, L, Packed, T, dim_of

__all__ = ["Answer", "Hidden", "answer", "contradiction", "difference", "laid_out", "named", "values", "veiled"]

_DTYPES: dict[str, Kind] = {
    "bool": "bool", "bool_": "bool", "complex64": "complex", "float16": "float", "float32": "float",
    "float64": "float", "int32": "int", "int64": "int", "uint8": "int", "long": "int",
}  # fmt: skip


class Hidden:
    """Takes knowledge of drawn tensors away: some sizes, the leading or the trailing axes, or the whole shape.

    tensors: what was made, with the shape it really has. numbers: what the hidden sizes are.
    """

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)
        self.tensors: list[tuple[Tensor, tuple[int, ...]]] = []
        self.numbers: dict[Sym, int] = {}

    def shape(self, sizes: Sequence[int]) -> Shape:
        """The shape of a tensor of these sizes, as far as it is shown."""
        how = self.random.choice(["shown", "sizes", "sizes", "leading", "trailing", "all"])
        if len(sizes) < 2 and how in ("leading", "trailing", "all"):
            how = "sizes"  # the first axis and the last are taken to be two
        axes: list[Axis | Run] = []
        for n in sizes:
            if how == "shown" or (how != "all" and self.random.random() < 0.5):
                axes.append(Axis(Dim.of(int(n))))
            else:
                sym = Sym(flexible=True)
                self.numbers[sym] = int(n)
                axes.append(Axis(Dim.of(sym)))
        if how == "all":
            axes = [Run()]
        elif how == "leading":
            axes[: self.random.randint(0, len(axes))] = [Run()]
        elif how == "trailing":
            axes[self.random.randint(1, 2) :] = [Run()]
        return Shape(tuple(axes))


class Answer:
    """A verdict, with all that was learnt put into its shapes."""

    def __init__(self, verdict: Verdict, sizes: Sizes, numbers: Mapping[Sym, int]) -> None:
        self.verdict = verdict
        self.sizes = sizes
        self.numbers = numbers

    @property
    def loud(self) -> bool:
        """Whether it says that torch or NumPy raises."""
        return isinstance(self.verdict, Conflict) and any(p.loud for p in self.verdict.problems)

    @property
    def unknown(self) -> bool:
        return isinstance(self.verdict, Unknown)

    def number(self, axis: Axis) -> int | None:
        """The size of an axis; None for one that is not known."""
        total = 0
        for monomial, coefficient in self.sizes.resolve(axis.dim):
            for s in monomial:
                value = s.value if s.value is not None else self.numbers.get(s)
                if value is None:
                    return None
                coefficient *= value
            total += coefficient
        return total


def answer(
    name: str,
    call: Call,
    symbols: Mapping[int, Sym] | None = None,
    *,
    layer: bool = False,
    hidden: Hidden | None = None,
) -> Answer:
    """What the table says of a call; with `symbols`, sizes are names; with `hidden`, of less than is known."""
    sizes = Sizes()
    numpy = name.startswith(("numpy.", "scipy."))
    names = symbols is not None
    arguments = Arguments(_all(call.args, numpy, names), _named(call.kwargs, numpy, names))
    if hidden is not None:
        arguments = Arguments(
            [veiled(v, hidden) for v in arguments.positional],
            {k: veiled(v, hidden) for k, v in arguments.keywords.items()},
        )
    numbers = {s: n for n, s in (symbols or {}).items()} | (hidden.numbers if hidden else {})
    if layer:
        kind = find_layer(name)
        assert kind is not None
        try:
            config = build_layer(kind, Arguments(_all(call.init, numpy, names), _named(call.options, numpy, names)))
        except Lost as lost:
            return Answer(Unknown(lost.reason, Tensor(Shape.unknown())), sizes, numbers)
        module = Layer(name, config, Span(1, 0, 1, 0))
        return Answer(evaluate(kind.forward, arguments, sizes, 1, module).verdict, sizes, numbers)
    op = find(name)
    assert op is not None
    return Answer(evaluate(op, arguments, sizes, 1).verdict, sizes, numbers)


def values(given: Sequence[object], *, numpy: bool = False) -> list[Value]:
    """Drawn arguments, with numbers for sizes."""
    return _all(given, numpy, False)


def named(given: Mapping[str, object], *, numpy: bool = False) -> dict[str, Value]:
    """Drawn arguments by name, with numbers for sizes."""
    return _named(given, numpy, False)


def _named(values: Mapping[str, object], numpy: bool, names: bool) -> dict[str, Value]:
    return {k: _value(v, numpy, names) for k, v in values.items()}


def _all(values: Sequence[object], numpy: bool, names: bool) -> list[Value]:
    return [_value(v, numpy, names) for v in values]


def _value(value: object, numpy: bool, names: bool) -> Value:
    match value:
        case T(shape=shape, kind=kind, array=array):
            dims = [dim_of(n) if names else Dim.of(int(n)) for n in shape]
            return Tensor(Shape.of(*dims), kind=kind, library="numpy" if numpy or array else "torch")
        case Packed(padded=padded, batch_first=batch_first):
            tensor = _value(padded, numpy, names)
            assert isinstance(tensor, Tensor)
            tensor.source = PACKED_BATCH_FIRST if batch_first else PACKED
            return tensor
        case L(kind=kind, init=init, options=options):
            entry = find_layer(kind)
            assert entry is not None
            config = build_layer(entry, Arguments(_all(init, numpy, names), _named(options, numpy, names)))
            return Layer(kind, config, Span(1, 0, 1, 0))
        case D(name=name):
            return Dtype(_DTYPES[name], name)
        case None:
            return NoneValue()
        case bool():
            return Bool(value)
        case int():
            return Int(dim_of(value) if names else Dim.of(int(value)))
        case float():
            return Float(value, known=True)
        case str():
            return Str(value)
        case list():
            return Seq(tuple(_all(value, numpy, names)), "list")
        case tuple():
            return Seq(tuple(_all(value, numpy, names)))
        case slice():
            return SliceValue(*_all((value.start, value.stop, value.step), numpy, names))
        case _:
            assert value is ...
            return EllipsisValue()


def veiled(value: Value, hidden: Hidden) -> Value:
    """The value with less known of its tensors."""
    match value:
        case Tensor(shape=shape):
            real = tuple(a.dim.const or 0 for a in shape.axes)
            tensor = Tensor(hidden.shape(real), kind=value.kind, library=value.library, source=value.source)
            hidden.tensors.append((tensor, real))
            return tensor
        case Seq(items=items):
            return Seq(tuple(veiled(v, hidden) for v in items), value.kind)
        case _:
            return value


def laid_out(value: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The real sizes of a packed sequence, which come time first, in the order that the value has."""
    return (shape[1], shape[0], *shape[2:]) if value.source == PACKED_BATCH_FIRST else shape


def contradiction(ours: Answer, shape: Shape, real: Sequence[int]) -> str:
    """How what is known of a shape contradicts the real one, or ""."""
    known = ours.sizes.shape(shape)
    head, tail = known.prefix, known.suffix
    if known.rank is not None and known.rank != len(real):
        return f"{known}, not {tuple(real)}"
    if len(known.axes) > len(real):
        return f"{known}, not {tuple(real)}"
    pairs = [*zip(head, real, strict=False), *zip(reversed(tail), reversed(real), strict=False)]
    for axis, size in pairs:
        number = ours.number(axis)
        if number is not None and number != size:
            return f"{known}, not {tuple(real)}"
    return ""


def difference(ours: Answer, value: Value, theirs: object, *, data: bool = False) -> str:
    """How a value differs from the real result, or "" where it does not."""
    shape, kind = getattr(theirs, "shape", None), getattr(theirs, "kind", None)
    if shape is not None:
        return _tensor_difference(ours, value, shape, kind, data)
    if isinstance(theirs, tuple):
        if not isinstance(value, Seq):
            return f"{len(theirs)} results, not {type(value).__name__}"
        items = value.items
        if value.rest is not None:
            length = None if value.length is None else ours.number(Axis(value.length))
            if length is not None and length + len(items) != len(theirs):
                return f"{length + len(items)} results, not {len(theirs)}"
            items = (*items, *[value.rest] * (len(theirs) - len(items)))
        if len(items) != len(theirs):
            return f"{len(items)} results, not {len(theirs)}"
        found = (difference(ours, v, t, data=data) for v, t in zip(items, theirs, strict=True))
        return next((text for text in found if text), "")
    return "a tensor for what is none" if isinstance(value, Tensor) and not data else ""


def _tensor_difference(ours: Answer, value: Value, shape: tuple[int, ...], kind: object, data: bool) -> str:
    if isinstance(value, Int | Float | Bool) and shape == ():
        return ""
    if not isinstance(value, Tensor):
        return f"{type(value).__name__}, not a tensor of shape {shape}"
    shape = laid_out(value, shape)
    known = ours.sizes.shape(value.shape)
    if known.rank is None:
        return "" if data else f"rank unknown, not {shape}"
    numbers = [ours.number(a) for a in known.axes]
    if len(numbers) != len(shape):
        return f"{known}, not {shape}"
    for number, size in zip(numbers, shape, strict=True):
        if number != size and not (number is None and data):
            return f"{known}, not {shape}"
    return "" if value.kind == kind else f"kind {value.kind!r}, not {kind!r}"
