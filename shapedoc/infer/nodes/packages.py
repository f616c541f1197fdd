"""Parts of other packages that are known to keep shapes, or to make pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.value import Int, Layer, NoneValue, Seq, Unknown, Value
from shapedoc.infer.machine import Arg, Machine, span_of
from shapedoc.infer.nodes.library import library
from shapedoc.infer.values import Symbolic
from shapedoc.source import ir

__all__: list[str] = []

Keywords = Mapping[str, Arg]
Node = ir.Expr | ir.Stmt

_TIMM = ("timm.layers", "timm.layers.drop", "timm.models.layers", "timm.models.layers.drop")
_WEIGHTS = ("timm.layers", "timm.layers.weight_init", "timm.models.layers", "timm.models.layers.weight_init")
_HELPERS = ("timm.layers", "timm.layers.helpers", "timm.models.layers", "timm.models.layers.helpers")


@library(*(f"{p}.DropPath" for p in _TIMM), "torchvision.ops.StochasticDepth", "torchvision.ops.DropBlock2d")
def dropped(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    """A layer that drops whole samples or regions; what is left keeps its shape."""
    layer = Layer("torch.nn.Identity", {}, span_of(node, m.path))
    m.emit("torch.nn.Identity", node, (), layer)
    return layer


@library(*(f"{p}.drop_path" for p in _TIMM), *(f"{p}.{n}" for p in _WEIGHTS for n in ("trunc_normal_", "lecun_normal_",
         "trunc_normal_tf_", "variance_scaling_")), "torchvision.ops.stochastic_depth")  # fmt: skip
def kept(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    """The first argument, its elements changed."""
    return args[0].value if args else Unknown("nothing passed")


@library(*(f"{p}.to_2tuple" for p in _HELPERS))
def pair(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    """A number twice; a tuple as it is."""
    value = args[0].value if args else NoneValue()
    if isinstance(value, Symbolic) and value.size:
        value = value.as_int()
    if isinstance(value, Int):
        return Seq((value, value))
    return value if isinstance(value, Seq) else Unknown("a pair of what is not known")
