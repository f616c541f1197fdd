"""Attributes: of tensors, layers, the author's objects and library modules."""

from __future__ import annotations

from functools import lru_cache
from sys import stdlib_module_names

from shapedoc.core.dim import Dim
from shapedoc.core.value import (
    Bool,
    Bound,
    DictValue,
    Dtype,
    Float,
    Int,
    Kind,
    Layer,
    Library,
    NoneValue,
    Seq,
    SizeOf,
    Str,
    Tensor,
    Unknown,
    Value,
)
from shapedoc.core.verdict import Lost
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.sizes_of import prefix_of, shape_of
from shapedoc.infer.unread.replaced import is_set_by_a_method
from shapedoc.infer.values import (
    BoundMethod,
    Choice,
    Class,
    Container,
    Function,
    Instance,
    LocalModule,
    Setting,
    Super,
    Symbolic,
)
from shapedoc.ops.calling.bind import as_tensor
from shapedoc.ops.registry import find, find_layer
from shapedoc.source import ir
from shapedoc.source.names import canonical

__all__ = ["TENSOR_ONLY", "get", "inherited", "is_constant", "is_foreign"]

_COMPUTED = frozenset(("T", "mT", "H", "mH", "real", "imag", "grad"))
_PLAIN = frozenset(("shape", "size", "dim", "ndim", "ndimension", "dtype", "device", "data"))
# Methods that only a tensor or an array has: what they are called on is one (a plot has `scatter` too).
TENSOR_ONLY = frozenset(
    [
        "view",
        "reshape",
        "permute",
        "transpose",
        "unsqueeze",
        "squeeze",
        "contiguous",
        "masked_fill",
        "masked_fill_",
        "matmul",
        "bmm",
        "softmax",
        "expand",
        "expand_as",
        "flatten",
        "chunk",
        "repeat_interleave",
        "view_as",
        "detach",
        "argmax",
        "log_softmax",
        "tanh",
        "sigmoid",
        "swapaxes",
        "astype",
        "cumsum",
        "gather",
        "index_select",
        "baddbmm",
        "addmm",
        "mm",
        "narrow",
        "unbind",
        "unfold",
        "tril",
        "triu",
        "t",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_empty",
        "new_tensor",
        "topk",
        "multinomial",
        "scatter_",
        "scatter_add",
        "scatter_add_",
        "logsumexp",
        "clamp",
        "type_as",
        "argsort",
        "view_as",
        "nonzero",
    ]
)
_DTYPES: dict[str, Kind] = {
    "bool": "bool",
    "bool_": "bool",
    "complex64": "complex",
    "complex128": "complex",
    **dict.fromkeys(["float", "float16", "float32", "float64", "half", "double", "bfloat16"], "float"),
    **dict.fromkeys(["int", "int8", "int16", "int32", "int64", "long", "short", "uint8", "intp"], "int"),
}
_KNOWN = frozenset(("torch", "numpy", "einops", "jaxtyping", "scipy", "torchvision", "jax", "cupy", "tensorflow"))
_CONSTANTS: dict[str, Value] = {
    "math.inf": Float(float("inf"), known=True),
    "math.pi": Float(3.141592653589793, known=True),
    "math.e": Float(2.718281828459045, known=True),
    "numpy.inf": Float(float("inf"), known=True),
    "numpy.pi": Float(3.141592653589793, known=True),
    "numpy.newaxis": NoneValue(),
    "torch.inf": Float(float("inf"), known=True),
    "torch.pi": Float(3.141592653589793, known=True),
    "typing.TYPE_CHECKING": Bool(True),
}


def get(m: Machine, value: Value, name: str, node: ir.Attribute) -> Value:
    """``value.name``."""
    match value:
        case Tensor():
            return _of_tensor(m, value, name, node)
        case Library(qualified):
            found = _of_library(qualified, name)
            return m.setting(found.qualified) if isinstance(found, Library) and is_foreign(found.qualified) else found
        case Instance():
            return _of_instance(m, value, name, node)
        case Symbolic():
            return _of_symbolic(m, value, name, node)
        case Layer():
            return _of_layer(m, value, name, node)
        case Super():
            return _of_super(value, name)
        case Class():
            return _of_class(value, name)
        case LocalModule():
            return value.names.get(name, Unknown(f"`{name}` is not in the module"))
        case Container():
            return Bound(value, name)
        case Choice():
            from shapedoc.infer.nodes.choices import attribute_of_choice

            return attribute_of_choice(m, value, name, node)
        case DictValue(items=items) if name in items and not hasattr(dict, name):
            return items[name]  # the fields of `torch.finfo`
        case Seq(names=names) if name in names and len(names) == len(value.items):
            return value.items[names.index(name)]
        case DictValue() | Seq() | SizeOf() | Str() | Bound() | BoundMethod() | Function() | Dtype():
            return Bound(value, name)
        case Unknown():
            if name == "shape":
                return value
            if name in _COMPUTED:
                given = [Arg(as_tensor(value), node.value)]
                return m.operate(f"torch.Tensor.{name}", node, given) if value.events else Unknown(value.reason)
            return Bound(value, name) if find(f"torch.Tensor.{name}") else Unknown(value.reason, value.events)
    return Unknown(f"attribute `{name}` of this value")


def _of_tensor(m: Machine, tensor: Tensor, name: str, node: ir.Attribute) -> Value:
    match name:
        case "shape":
            return shape_of(m, tensor)
        case "ndim":
            rank = m.sizes.shape(tensor.shape).rank
            return m.fresh_int() if rank is None else Int(Dim.of(rank))
        case "dtype":
            return Dtype(tensor.kind)
        case "device" | "requires_grad" | "is_cuda" | "layout" | "names":
            return Unknown("not a size")
        case "data":
            return tensor
    if name in _COMPUTED:
        return m.operate(
            f"{prefix_of(m, tensor)}.{name}",
            node,
            [Arg(tensor, node.value)],
        )
    return Bound(tensor, name)


@lru_cache(maxsize=4096)
def _of_library(qualified: str, name: str) -> Value:
    full = canonical(f"{qualified}.{name}")
    if full in _CONSTANTS:
        return _CONSTANTS[full]
    if qualified in ("torch", "numpy") and name in _DTYPES and find(full) is None:
        return Dtype(_DTYPES[name], name)
    return Library(full)


@lru_cache(maxsize=4096)
def is_foreign(qualified: str) -> bool:
    """Whether a name belongs to a module that is neither read nor known: what is not called of it is a setting."""
    root = qualified.partition(".")[0]
    return root not in _KNOWN and root not in stdlib_module_names


def is_constant(name: str) -> bool:
    """Whether a name is written as those of settings are: ``MAX_LENGTH``."""
    return len(name) > 1 and name.isupper()


def _of_instance(m: Machine, value: Instance, name: str, node: ir.Attribute) -> Value:
    if name in value.attributes:
        return value.attributes[name]
    found = value.cls.find(name)
    if found is not None:
        member = found[0]
        if isinstance(member, Function):
            role = member.role
            if role == "property":
                from shapedoc.infer.nodes.calls import invoke

                return invoke(m, member, [Arg(value)], {}, node)
            if role == "static":
                return member
            return BoundMethod(member, value.cls if role == "class" else value)
        return member
    if name == "training":
        return Bool()
    if name in ("device", "dtype"):
        return Unknown("not a size")
    if is_set_by_a_method(value.cls, name):
        return Unknown(f"`{name}` is set by another call")
    if any(not isinstance(b, Class) for b in value.cls.ancestors()):
        return Bound(value, name)
    return Unknown(f"attribute `{name}` is not set")


def inherited(m: Machine, value: Value) -> Setting | None:
    """A field that a base class in a file that is not read has set, as a setting; None for anything else.

    ``self.params["d_model"]`` and ``self.vocab_size`` of a ``Decoder(BaseDecoder)`` are the same wherever they stand.
    """
    if not isinstance(value, Bound) or not isinstance(value.owner, Instance):
        return None
    for base in value.owner.cls.ancestors():
        if isinstance(base, Library) and is_foreign(base.qualified):
            return m.setting(f"{value.owner.cls.name}.{value.method}")
    return None


def _of_symbolic(m: Machine, value: Symbolic, name: str, node: ir.Attribute) -> Value:
    if value.used_as_tensor or (not value.size and (name in _PLAIN or name in TENSOR_ONLY)):
        return _of_tensor(m, value.as_tensor(), name, node)
    if value.size and name in ("shape", "size") and name not in value.fields:
        return _of_tensor(m, value.as_tensor(), name, node)
    if not value.size and find(f"torch.Tensor.{name}") is not None:
        return Bound(value, name)
    return value.item(name)


def _of_layer(m: Machine, value: Layer, name: str, node: ir.Attribute) -> Value:
    if name in value.config:
        config = value.config[name]
        if not (name == "bias" and isinstance(config, Bool)):
            return config
    entry = find_layer(value.kind)
    if entry is not None and entry.parameters is not None and name not in value.parameters:
        try:
            value.parameters.update(entry.parameters(value, m.sizes))
        except Lost as lost:
            return Unknown(lost.reason)
        for label, tensor in value.parameters.items():
            tensor.name = tensor.name or f"{value.name or value.kind.rsplit('.', 1)[-1]}.{label}"
    if name in value.parameters:
        return value.parameters[name]
    return Bound(value, name)


def _of_class(value: Class, name: str) -> Value:
    found = value.find(name)
    if found is None:
        return Bound(value, name)
    member = found[0]
    if isinstance(member, Function) and member.role == "class":
        return BoundMethod(member, value)
    return member


def _of_super(value: Super, name: str) -> Value:
    for base in value.cls.bases:
        if isinstance(base, Class):
            found = base.find(name)
            if found is not None and isinstance(found[0], Function):
                return BoundMethod(found[0], value.receiver)
    if name == "__init__":
        return Bound(value.receiver, "__init__")
    return Bound(value.receiver, name)
