"""Library modules of a running program as the layers that rules know: what each was built with, and where."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.span import Span
from shapedoc.core.trace import Operand
from shapedoc.core.value import Bool, Float, Int, Layer, NoneValue, Str, Unknown, Value
from shapedoc.infer.spans import span_of
from shapedoc.ops.registry import LayerOp, OpParam, find_layer
from shapedoc.runtime.places import source_file
from shapedoc.source import ir
from shapedoc.source.expected import last_name

if TYPE_CHECKING:
    from shapedoc.runtime.recorder import RunRecorder

__all__ = ["built_module", "kind_of_module", "layer_of"]

# Settings that a module keeps under another name, or as something else.
_KEPT: dict[tuple[str, str], Callable[[Any], object]] = {
    ("MultiheadAttention", "bias"): lambda m: m.in_proj_bias is not None,
    ("TransformerEncoderLayer", "d_model"): lambda m: m.self_attn.embed_dim,
    ("TransformerEncoderLayer", "nhead"): lambda m: m.self_attn.num_heads,
    ("TransformerEncoderLayer", "dim_feedforward"): lambda m: m.linear1.out_features,
    ("TransformerEncoderLayer", "batch_first"): lambda m: m.self_attn.batch_first,
    ("TransformerDecoderLayer", "d_model"): lambda m: m.self_attn.embed_dim,
    ("TransformerDecoderLayer", "nhead"): lambda m: m.self_attn.num_heads,
    ("TransformerDecoderLayer", "dim_feedforward"): lambda m: m.linear1.out_features,
    ("TransformerDecoderLayer", "batch_first"): lambda m: m.self_attn.batch_first,
    ("TransformerEncoder", "encoder_layer"): lambda m: m.layers[0],
    ("TransformerDecoder", "decoder_layer"): lambda m: m.layers[0],
    ("Transformer", "num_encoder_layers"): lambda m: len(m.encoder.layers),
    ("Transformer", "num_decoder_layers"): lambda m: len(m.decoder.layers),
}


def kind_of_module(module: Any) -> LayerOp | None:
    """The library module that an object is exactly, not by inheritance."""
    cls = type(module)
    return find_layer(f"torch.nn.{cls.__name__}") if cls.__module__.startswith("torch.nn.modules") else None


def layer_of(recorder: RunRecorder, module: Any, owner: object = None) -> Layer | None:
    """The layer of a library module; None where the table does not know it.

    owner: the object whose attribute it may be, to see where one that was built before the recording was.
    """
    layer = recorder.shadows.layer(module)
    entry = kind_of_module(module)
    if entry is None:
        return None
    if layer is None:
        layer = _found_later(recorder, module, entry, owner)
        recorder.shadows.put_layer(module, layer)
    config = {p.name: _setting(recorder, module, layer, p) for p in entry.config if not p.variadic and not p.keywords}
    layer.config = config
    return layer


def _found_later(recorder: RunRecorder, module: Any, entry: LayerOp, owner: object) -> Layer:
    """A layer that was built unseen: what it was given stands in the constructor of its owner."""
    nowhere = Layer(entry.kind, {}, Span(0, 0, 0, 0))
    held = getattr(owner, "__dict__", {}).get("_modules", {})
    name = next((n for n, m in held.items() if m is module), None)
    found = recorder.figures.built_as(owner, name) if name is not None else None
    if name is None or found is None:
        return nowhere
    call, file, read = found
    if find_layer(f"torch.nn.{last_name(call)}") not in (entry, None):
        return nowhere  # Another one has taken its place since.
    config: dict[str, Value] = {}
    for setting, node in _written(entry, call):
        value = read(node)
        if value is not None:
            config[setting] = value
    path = "" if file.path == (recorder.activations.main or file.path) else file.path
    return Layer(entry.kind, config, span_of(call, path), name)


def _written(entry: LayerOp, call: ir.Call) -> list[tuple[str, ir.Expr]]:
    """The arguments of a constructor's call, by the setting that each is."""
    names = [p.name for p in entry.config if not p.keyword_only]
    plain = [(names[i], a) for i, a in enumerate(call.args) if i < len(names) and not isinstance(a, ir.Starred)]
    return plain + [(k, v) for k, v in call.keywords if k is not None]


def _setting(recorder: RunRecorder, module: Any, layer: Layer, parameter: OpParam) -> Value:
    """One setting: as it was written where the module was built, if that is what the module has."""
    kept = _KEPT.get((type(module).__name__, parameter.name))
    try:
        real = kept(module) if kept is not None else getattr(module, parameter.name, parameter.default)
    except AttributeError:
        real = parameter.default
    written = layer.config.get(parameter.name)
    if parameter.name == "bias" and real is not None and not isinstance(real, bool | str):
        real = True
    inner = layer_of(recorder, real) if kind_of_module(real) is not None else None
    if inner is not None:
        return inner
    match real:
        case None:
            return Bool(False) if parameter.name == "bias" else NoneValue()
        case bool():
            return Bool(real)
        case int():
            if isinstance(written, Int) and recorder.sizes.resolve(written.dim).value == real:
                return written
            return Int(Dim.of(real) if real <= 1 else _unnamed(real))
        case float():
            return Float(real, known=True)
        case str():
            return Str(real)
    return written if written is not None else Unknown("a setting")


def _unnamed(size: int) -> Dim:
    return Dim.of(Sym(value=size, flexible=True))


def built_module(recorder: RunRecorder, module: Any, frame: FrameType) -> None:
    """A module has been initialised: keep what a library's, or the constructor of one of the author's, was given."""
    from shapedoc.infer.operands import Arg

    if kind_of_module(module) is None:
        if recorder.activations.watched(frame.f_code.co_filename) and frame.f_code.co_name == "__init__":
            recorder.shadows.put_built(module, {k: v for k, v in frame.f_locals.items() if k != "self"})
        return
    author: FrameType | None = frame
    while author is not None and author.f_locals.get("self") is module and author.f_code.co_name == "__init__":
        author = author.f_back
    if author is None or not recorder.activations.watched(author.f_code.co_filename):
        return
    place = recorder.locate(author)
    if place is None or not isinstance(place.node, ir.Call) or source_file(author.f_code.co_filename) is None:
        return
    entry = kind_of_module(module)
    activation = recorder.activation
    assert entry is not None
    assert activation is not None
    config: dict[str, Value] = {}
    operands: list[Operand] = []
    for name, node in _written(entry, place.node):
        value = recorder.figures.expression(node, activation)
        if value is not None:
            config[name] = value
        elif isinstance(node, ir.Const):
            config[name] = recorder.arguments.value(node.value)
        known = config.get(name, Unknown("an argument"))
        arg = Arg(known, node)
        operands.append(Operand(name, arg.value, span=span_of(node, recorder.path)))
    layer = Layer(entry.kind, config, span_of(place.node, recorder.path))
    event = recorder.emit(entry.kind, place.node, tuple(operands), layer)
    statement = place.statement
    if isinstance(statement, ir.Assign) and statement.value is place.node:
        for target in statement.targets:
            if isinstance(target, ir.Attribute):
                layer.name, event.target = target.attr, f"self.{target.attr}"
            elif isinstance(target, ir.Name):
                layer.name = event.target = target.id
    recorder.shadows.put_layer(module, layer)
