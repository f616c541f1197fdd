"""Library functions that are no tensor operations: ``math.sqrt``, ``copy.deepcopy``, module lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from shapedoc.core.dim import ONE
from shapedoc.core.value import Bool, DictValue, Float, Int, Layer, NoneValue, Seq, Str, Tensor, Unknown, Value
from shapedoc.infer import numbers
from shapedoc.infer.branches.join import join
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.nodes.elements import elements
from shapedoc.infer.values import Container, Instance, Partial, Symbolic
from shapedoc.source import ir

__all__ = ["find"]

Keywords = Mapping[str, Arg]
Node = ir.Expr | ir.Stmt
Function = Callable[[Machine, Sequence[Arg], Keywords, Node], Value]

_FUNCTIONS: dict[str, Function] = {}


def find(qualified: str) -> Function | None:
    """The function of this qualified name."""
    return _FUNCTIONS.get(qualified)


def library(*names: str) -> Callable[[Function], Function]:
    """Register the function for these qualified names."""

    def register(function: Function) -> Function:
        for name in names:
            _FUNCTIONS[name] = function
        return function

    return register


def _number(value: Value) -> Value:
    return value.as_int() if isinstance(value, Symbolic) and not value.used_as_tensor else value


@library("math.sqrt", "numpy.sqrt", "torch.sqrt", "cmath.sqrt")
def sqrt(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    value = args[0].value if args else Unknown("sqrt of nothing")
    if isinstance(value, Symbolic) and not value.used_as_tensor:
        value = value.as_int()
    if isinstance(value, Int | Float):
        return numbers.square_root(value)
    if isinstance(value, Tensor) and not value.shape.items and value.event >= 0:
        event = m.trace.events[value.event]
        source = event.value("data")
        if isinstance(source, Int | Float):
            return numbers.square_root(source)
    return m.operate("torch.sqrt", node, args, keywords)


@library(
    "math.log",
    "math.exp",
    "math.ceil",
    "math.floor",
    "math.log2",
    "math.cos",
    "math.sin",
    "math.prod",
    "numpy.prod",
    "math.pow",
    "numpy.power",
    "math.isqrt",
)
def real(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    qualified = node.func.attr if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) else ""
    values = [_number(a.value) for a in args]
    if any(isinstance(v, Tensor) for v in values):
        if qualified in ("power", "prod"):
            return m.operate(f"numpy.{qualified}", node, args, keywords)
        return m.operate("torch.exp", node, args[:1])
    if qualified in ("pow", "power") and len(values) == 2 and all(isinstance(v, Int | Float) for v in values):
        left, right = values
        assert isinstance(left, Int | Float)
        assert isinstance(right, Int | Float)
        return numbers.arithmetic("**", left, right, m.sizes)
    if qualified == "prod" and values and isinstance(values[0], Seq) and values[0].rest is None:
        total: Value = Int(ONE)
        factors = [_number(v) for v in values[0].items]
        for v in factors:
            if not isinstance(v, Int) or not isinstance(total, Int):
                signed = any(isinstance(f, Int) and (f.dim.value or 0) < 0 for f in factors)
                return Unknown("a number that may be below 0") if signed else m.fresh_int()
            total = Int(total.dim * v.dim)
        return total
    if qualified in ("ceil", "floor", "isqrt"):
        return values[0] if values and isinstance(values[0], Int) and qualified != "isqrt" else m.fresh_int()
    return Float()


@library("copy.deepcopy", "copy.copy")
def deepcopy(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    value = args[0].value if args else Unknown("a copy of nothing")
    if isinstance(value, Layer):
        return Layer(value.kind, value.config, value.span, value.name, value.event)
    if isinstance(value, Instance):
        return Instance(value.cls, dict(value.attributes), value.open)
    return value


@library("functools.partial")
def partial(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    if not args:
        return Unknown("partial of nothing")
    return Partial(args[0].value, tuple(a.value for a in args[1:]), {k: a.value for k, a in keywords.items()})


@library("torch.nn.ModuleList", "torch.nn.ParameterList", "torch.nn.Sequential")
def module_list(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    name = node.func.attr if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) else ""
    if isinstance(node, ir.Call) and isinstance(node.func, ir.Name):
        name = node.func.id
    kind = f"torch.nn.{name if name in ('ModuleList', 'ParameterList') else 'Sequential'}"
    value = args[0].value if args else keywords["modules"].value if "modules" in keywords else Seq((), "list")
    if kind == "torch.nn.Sequential":
        if len(args) == 1 and isinstance(value, DictValue):
            return Container(kind, Seq(tuple(value.items.values()), "list"), tuple(str(k) for k in value.items))
        return Container(kind, Seq(tuple(a.value for a in args), "list"), loops=m.loops)
    got = elements(m, value, node)
    if got.exact:
        return Container(kind, Seq(got.items, "list"), loops=m.loops)
    return Container(kind, Seq((), "list", join(m, got.items[-1:], node), got.length))


@library("torch.nn.ModuleDict", "torch.nn.ParameterDict", "collections.OrderedDict")
def module_dict(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    value = args[0].value if args else DictValue({})
    if isinstance(value, Seq) and value.rest is None:
        pairs: dict[object, Value] = {}
        for item in value.items:
            if not isinstance(item, Seq) or len(item.items) != 2 or not isinstance(item.items[0], Str):
                return Unknown("a dict of modules")
            pairs[item.items[0].value] = item.items[1]
        value = DictValue(pairs)
    return value if isinstance(value, DictValue) else Unknown("a dict of modules")


@library(
    "torch.no_grad",
    "torch.enable_grad",
    "torch.inference_mode",
    "torch.manual_seed",
    "torch.autograd.set_detect_anomaly",
    "random.seed",
    "numpy.random.seed",
    "torch.set_grad_enabled",
    "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all",
    "torch.set_default_dtype",
    "warnings.warn",
    "warnings.filterwarnings",
    "torch.set_printoptions",
    "numpy.set_printoptions",
)
def nothing(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    return NoneValue()


@library(
    "torch.is_tensor",
    "torch.cuda.is_available",
    "torch.jit.is_scripting",
    "torch.is_floating_point",
    "torch.allclose",
    "torch.equal",
    "numpy.allclose",
    "random.random",
    "torch.is_grad_enabled",
    "torch.jit.is_tracing",
    "torch.onnx.is_in_onnx_export",
    "numpy.array_equal",
    "numpy.isclose",
)
def flag(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    return Bool()


@library("torch.jit.script", "torch.compile", "torch.autograd.Variable", "torch.jit.annotate", "typing.cast")
def through(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    return args[-1].value if args else Unknown("nothing passed")


@library("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.std.tqdm", "rich.progress.track")
def watched(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    """What a progress bar is shown of."""
    value = args[0].value if args else keywords["iterable"].value if "iterable" in keywords else None
    return value if value is not None else Unknown("a progress bar of nothing")


@library("torch._assert", "timm.layers._assert", "timm.layers.trace_utils._assert")
def asserted(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    from shapedoc.infer.branches.asserted import assume

    if args and args[0].node is not None:
        assume(m, args[0].node)
    return NoneValue()


@library("torch.finfo", "numpy.finfo", "torch.iinfo")
def finfo(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    largest = Float(3.4e38, known=True)
    return DictValue(
        {"min": Float(-3.4e38, known=True), "max": largest, "eps": Float(), "tiny": Float()}, complete=False
    )


@library("torch.utils.checkpoint.checkpoint")
def checkpoint(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    from shapedoc.infer.nodes.calls import call_value

    return call_value(m, args[0].value, args[1:], {}, node) if args else Unknown("nothing passed")


@library("torch.Size")
def size(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    return args[0].value if args else Seq(())


@library("collections.namedtuple", "collections.defaultdict")
def unfollowed(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    return Unknown("a library function that is not followed")
