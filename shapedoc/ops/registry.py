"""The op table: from a qualified name to the function that knows its shapes.

An op is one function, found by its decorator. Its parameters after the first (`at`, see `ops.calling.context`) carry
the names, the order and the defaults that torch or NumPy documents, and annotations that say what the op needs:

Tensor            a tensor (a number becomes one without axes; a value that cannot be followed, one of unknown shape)
Tensor | None     the same, or None
int               a literal whole number; int | None
Dim               a size; Dim | None
Dims              several sizes, given as a tuple, a list, a shape or (as ``*size``) one by one
Ints              several literal whole numbers, likewise; Ints | None
bool              a literal truth value; bool | None takes None for one that is unknown
str               a literal string; str | None
Tensors           a list or tuple of tensors; ``*x: int``, ``*x: Dim`` and ``*x: Tensor`` take several likewise
Value             whatever it is; as ``**names: Value``, every keyword that no other parameter has

An argument that does not fit makes the call Unknown, with the reason. A call that the signature does not accept does
too. What an op returns is what the call returns; see `OpContext` for how it reports conflicts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from shapedoc.core.sizes import Sizes
from shapedoc.core.value import Layer, Tensor, Value

__all__ = [
    "LayerOp",
    "Op",
    "OpParam",
    "Parameters",
    "Signature",
    "find",
    "find_layer",
    "layer",
    "named",
    "op",
    "op_names",
    "table",
]

OpFunction = Callable[..., Value]
Parameters = Callable[[Layer, Sizes], Mapping[str, Tensor]]

_OPS: dict[str, Op] = {}
_LAYERS: dict[str, LayerOp] = {}
# Every module of this package that holds ops, loaded on the first look-up.
_MODULES = (
    "activations",
    "along",
    "attention",
    "cells",
    "convert",
    "convolution",
    "create",
    "decompositions",
    "data",
    "einops",
    "embedding",
    "folding",
    "fused",
    "gather",
    "grids",
    "index",
    "join",
    "layout",
    "linalg",
    "losses",
    "margins",
    "modules",
    "normalisation",
    "numpy_ops",
    "numpy_random",
    "order",
    "packed",
    "pieces",
    "pointwise",
    "pooling",
    "products",
    "recurrent",
    "reduce",
    "repeat",
    "resampling",
    "sampling",
    "spectral",
    "transformer",
    "transposed",
    "turn",
    "view",
)


@dataclass(frozen=True, slots=True, eq=False)
class OpParam:
    """One parameter: its name, what it needs (the annotation), its default, and which kind of parameter it is.

    variadic: ``*args``. keywords: ``**kwargs``, which takes every keyword that no other parameter has.
    """

    name: str
    needs: str
    default: object
    variadic: bool
    keyword_only: bool
    keywords: bool = False
    # What follows from these, worked out once: `kind` is what it needs without ``| None``, or of each of several.
    required: bool = field(init=False)
    optional: bool = field(init=False)
    takes_none: bool = field(init=False)
    kind: str = field(init=False)

    def __post_init__(self) -> None:
        needs, _, optional = self.needs.partition(" | ")
        required = self.default is inspect.Parameter.empty and not self.variadic and not self.keywords
        object.__setattr__(self, "required", required)
        object.__setattr__(self, "optional", bool(optional))
        object.__setattr__(self, "takes_none", bool(optional) or self.default is None)
        object.__setattr__(self, "kind", _SEVERAL.get(needs, needs) if self.variadic else needs)


# ``*dims: int`` takes what ``dims: Ints`` takes.
_SEVERAL = {"Dim": "Dims", "Tensor": "Tensors", "int": "Ints"}


class Signature:
    """The parameters of an op: all of them, their names, those that must be given, and whether any keyword will do."""

    __slots__ = ("names", "params", "required", "takes_any")

    def __init__(self, params: tuple[OpParam, ...]) -> None:
        self.params = params
        self.names = frozenset(p.name for p in params)
        self.required = tuple(p.name for p in params if p.required)
        self.takes_any = any(p.keywords for p in params)


@dataclass(slots=True, eq=False)
class Op:
    """An entry of the table.

    names: every qualified name it serves, the documented one first. own: how many of the function's first parameters
    are not the call's (the context, and for a layer's forward the layer).
    """

    names: tuple[str, ...]
    function: OpFunction
    family: str
    own: int = 1
    _signature: Signature | None = None

    @property
    def signature(self) -> Signature:
        known = self._signature
        if known is None:
            known = self._signature = Signature(_params(self.function, self.own))
        return known

    @property
    def params(self) -> tuple[OpParam, ...]:
        return self.signature.params

    @property
    def name(self) -> str:
        return self.names[0]


@dataclass(frozen=True, slots=True)
class LayerOp:
    """A library module.

    signature: its constructor's parameters, as text. forward: the op of a call, which takes the layer first.
    parameters: what makes its learned tensors (``weight``, ``bias``) from the layer, where the module has any.
    """

    kind: str
    signature: str
    forward: Op
    parameters: Parameters | None = None

    @property
    def settings(self) -> Signature:
        return _config(self.signature)

    @property
    def config(self) -> tuple[OpParam, ...]:
        return self.settings.params


def named(stems: str, *spaces: str) -> list[str]:
    """Qualified names: each of the stems in each of the spaces."""
    return [f"{space}.{stem}" for stem in stems.split() for space in spaces]


def op(*names: str) -> Callable[[OpFunction], OpFunction]:
    """Register a function for these qualified names.

    ``torch.Tensor.x`` serves the method (the tensor is the first parameter); ``numpy.ndarray.x`` likewise.
    """

    def register(function: OpFunction) -> OpFunction:
        entry = Op(names, function, function.__module__.rsplit(".", 1)[-1])
        for name in names:
            if name in _OPS:
                raise ValueError(f"two ops for {name}")
            _OPS[name] = entry
        return function

    return register


def layer(kind: str, config: str, parameters: Parameters | None = None) -> Callable[[OpFunction], OpFunction]:
    """Register a library module: its constructor's signature as text, and the function of its ``forward``.

    The function takes `at`, the Layer, and then forward's own parameters.
    ``@layer("torch.nn.Linear", "in_features: Dim, out_features: Dim, bias: bool = True")``
    """

    def register(function: OpFunction) -> OpFunction:
        if kind in _LAYERS:
            raise ValueError(f"two layers for {kind}")
        forward = Op((f"{kind}.forward",), function, function.__module__.rsplit(".", 1)[-1], own=2)
        _LAYERS[kind] = LayerOp(kind, config, forward, parameters)
        return function

    return register


@cache
def _config(signature: str) -> Signature:
    namespace: dict[str, Callable[..., None]] = {}
    exec(f"from __future__ import annotations\ndef build({signature}): ...", namespace)
    return Signature(_params(namespace["build"], 0))


@cache
def _params(function: Callable[..., object], own: int) -> tuple[OpParam, ...]:
    found = []
    for p in list(inspect.signature(function).parameters.values())[own:]:
        found.append(
            OpParam(
                p.name.rstrip("_") if p.name in ("input_", "from_") else p.name,
                str(p.annotation),
                p.default,
                p.kind is inspect.Parameter.VAR_POSITIONAL,
                p.kind is inspect.Parameter.KEYWORD_ONLY,
                p.kind is inspect.Parameter.VAR_KEYWORD,
            )
        )
    return tuple(found)


_loaded = False


def _load() -> None:
    global _loaded
    if not _loaded:
        for name in _MODULES:
            import_module(f"shapedoc.ops.{name}")
        _loaded = True


def find(qualified: str) -> Op | None:
    """The op of this qualified name."""
    if not _loaded:
        _load()
    return _OPS.get(qualified)


def find_layer(qualified: str) -> LayerOp | None:
    """The library module of this qualified name."""
    if not _loaded:
        _load()
    return _LAYERS.get(qualified)


def table() -> tuple[Mapping[str, Op], Mapping[str, LayerOp]]:
    """The whole table: ops and layers by qualified name."""
    _load()
    return _OPS, _LAYERS


def op_names(entries: Sequence[Op]) -> list[str]:
    """All qualified names of these ops."""
    return [name for entry in entries for name in entry.names]
