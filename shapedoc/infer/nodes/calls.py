"""Calls: arguments, the author's functions and classes, methods of tensors and layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shapedoc.core.trace import Call, Operand
from shapedoc.core.value import (
    Bool,
    Bound,
    DictValue,
    Int,
    Layer,
    Library,
    NoneValue,
    Seq,
    SizeOf,
    SizePart,
    Str,
    Tensor,
    Unknown,
    Value,
)
from shapedoc.core.verdict import Lost
from shapedoc.infer.branches.join import join
from shapedoc.infer.machine import EVALUATE, Arg, Frame, Machine, Signal, lift, span_of
from shapedoc.infer.nodes import builtins, choices, library
from shapedoc.infer.nodes.attributes import TENSOR_ONLY, inherited
from shapedoc.infer.nodes.methods import container_method, of_this_kind, tensor_method
from shapedoc.infer.noticed.misbound import note_bare, note_layer, note_misbound
from shapedoc.infer.operands import operand_of
from shapedoc.infer.supposed.batched import suppose_batch
from shapedoc.infer.supposed.widths import learn_from_width
from shapedoc.infer.unread.keeping import keeps_axes
from shapedoc.infer.unread.module_methods import SELF_METHODS, module_method
from shapedoc.infer.unread.namesakes import namesake
from shapedoc.infer.unread.outputs import written_out
from shapedoc.infer.values import (
    BoundMethod,
    Builtin,
    Choice,
    Class,
    Container,
    Function,
    Instance,
    Partial,
    Setting,
    Super,
    Symbolic,
)
from shapedoc.ops.calling.bind import Arguments, as_tensor, build_layer
from shapedoc.ops.registry import find, find_layer
from shapedoc.source import ir

__all__ = ["call_expression", "call_value", "instantiate", "invoke"]

Keywords = Mapping[str, Arg]


def call_expression(m: Machine, node: ir.Call) -> Value:
    """A call as it stands in the source."""
    if isinstance(node.func, ir.Name) and node.func.id == "super" and m.lookup("super") is None:
        frame = m.frame
        if frame.owner is not None and frame.receiver is not None:
            return Super(frame.receiver, frame.owner)
    func = m.eval(node.func)
    args, keywords, rest = arguments(m, node)
    return call_value(m, func, args, keywords, node, rest=rest)


def arguments(m: Machine, node: ir.Call) -> tuple[list[Arg], dict[str, Arg], bool]:
    """The arguments of a call; whether there are others that are not known."""
    args: list[Arg] = []
    rest = False
    for arg in node.args:
        value = m.eval(arg)
        if not isinstance(arg, ir.Starred):
            args.append(Arg(value, arg))
            continue
        match value:
            case Seq(rest=None):
                args.extend(Arg(v, arg) for v in value.items)
            case SizeOf() if m.sizes.shape(value.tensor.shape).rank is not None:
                args.extend(Arg(Int(a.dim), arg) for a in m.sizes.shape(value.tensor.shape).axes)
            case SizePart() | SizeOf():
                args.append(Arg(value, arg))
            case _:
                rest = True
    keywords: dict[str, Arg] = {}
    for name, part in node.keywords:
        value = m.eval(part)
        if name is not None:
            keywords[name] = Arg(value, part)
        elif isinstance(value, DictValue) and value.complete:
            keywords.update({str(k): Arg(v, part) for k, v in value.items.items()})
        else:
            rest = True
    return args, keywords, rest


def call_value(
    m: Machine, func: Value, args: Sequence[Arg], keywords: Keywords, node: ir.Expr | ir.Stmt, *, rest: bool = False
) -> Value:
    """Call any value."""
    match func:
        case Library(qualified):
            return _call_library(m, qualified, args, keywords, node, rest)
        case Bound(owner, method):
            return _call_bound(m, owner, method, args, keywords, node, rest)
        case BoundMethod(function, receiver):
            return invoke(m, function, [Arg(receiver), *args], keywords, node, rest=rest)
        case Function():
            return invoke(m, func, args, keywords, node, rest=rest)
        case Class():
            return instantiate(m, func, args, keywords, node, rest=rest)
        case Layer():
            return _call_layer(m, func, args, keywords, node, rest)
        case Instance():
            return _call_instance(m, func, args, keywords, node, rest)
        case Container():
            return _call_container(m, func, args, keywords, node)
        case Builtin(name):
            if rest:
                return m.unknown_call(f"{name} of arguments passed on", node, args, keywords)
            return builtins.call(m, name, args, keywords, node)
        case Choice():
            return choices.call_choice(m, func, args, keywords, node, rest)
        case Partial():
            bound = {k: Arg(v) for k, v in func.keywords.items()}
            return call_value(m, func.function, [*(Arg(a) for a in func.args), *args], {**bound, **keywords}, node)
        case Setting(source=qualified):
            return _call_library(m, qualified, args, keywords, node, rest)
    if isinstance(func, Symbolic) and func.name == "get" and len(args) == 2 and isinstance(args[0].value, Str):
        return of_this_kind(m, args[0].value.value or "", args[1].value)
    kept = keeps_axes(m, func, args, keywords, node) if not rest else None
    if kept is not None:
        return kept
    label = func.name if isinstance(func, Symbolic) else "a value that is not known"
    return m.unknown_call(label, node, args, keywords)


def _call_library(
    m: Machine, qualified: str, args: Sequence[Arg], keywords: Keywords, node: ir.Expr | ir.Stmt, rest: bool
) -> Value:
    special = library.find(qualified)
    if special is not None and not rest:
        return special(m, args, keywords, node)
    if qualified.startswith("torch.nn.init.") and args:
        return args[0].value
    if find_layer(qualified) is not None:
        return build(m, qualified, args, keywords, node, rest)
    if find(qualified) is not None:
        return written_out(m, keywords, m.operate(qualified, node, args, keywords, rest=rest))
    like = namesake(qualified, args) if not rest else None
    if like is not None:
        return build(m, like[0], like[1], {}, node, rest)
    return written_out(m, keywords, m.unknown_call(qualified, node, args, keywords))


def build(m: Machine, kind: str, args: Sequence[Arg], keywords: Keywords, node: ir.Expr | ir.Stmt, rest: bool) -> Value:
    """Build a library module."""
    entry = find_layer(kind)
    assert entry is not None
    plain = [_as_config(m, a.value) for a in args]
    named = {k: _as_config(m, a.value) for k, a in keywords.items()}
    try:
        config = build_layer(entry, Arguments(plain, named, rest))
    except Lost as lost:
        return m.unknown_call(f"{kind}: {lost.reason}", node, args, keywords)
    m.configures.update(v.parameter for v in (*plain, *named.values()) if isinstance(v, Bool | Str) and v.parameter)
    note_layer(m, kind, entry.config, args, keywords, node)
    layer = Layer(kind, config, span_of(node, m.path))
    places = [p.name for p in entry.config if not p.keyword_only]
    places += [str(i) for i in range(len(places), len(args))]
    operands = [
        operand_of(n, a.value, a.node, m.path) for n, a in (*zip(places, args, strict=False), *keywords.items())
    ]
    m.emit(kind, node, tuple(operands), layer)
    return layer


def _as_config(m: Machine, value: Value) -> Value:
    value = inherited(m, value) or value
    if isinstance(value, Symbolic) and not value.used_as_tensor:
        return value.as_int()
    return value


def _call_layer(
    m: Machine, layer: Layer, args: Sequence[Arg], keywords: Keywords, node: ir.Expr | ir.Stmt, rest: bool
) -> Value:
    entry = find_layer(layer.kind)
    assert entry is not None
    learn_from_width(m, layer, args)
    suppose_batch(m, layer, args)
    if not args and not keywords and not rest:
        note_bare(m, layer, entry.forward.signature.required, node)
    return m.record(entry.forward, entry.forward.name, node, args, keywords, layer=layer, rest=rest)


def _call_container(
    m: Machine, container: Container, args: Sequence[Arg], keywords: Keywords, node: ir.Expr | ir.Stmt
) -> Value:
    if container.kind != "torch.nn.Sequential" or not args:
        return m.unknown_call(container.kind, node, args, keywords)
    value = args[0].value
    where = args[0].node
    layers = [*container.items.items, *((container.items.rest,) * 2 if container.items.rest is not None else ())]
    for layer in layers:
        value = call_value(m, layer, [Arg(value, where)], {}, node)
        where = None
    return value


def _call_instance(
    m: Machine, instance: Instance, args: Sequence[Arg], keywords: Keywords, node: ir.Expr | ir.Stmt, rest: bool
) -> Value:
    found = instance.cls.find("forward") or instance.cls.find("__call__")
    if found is None or not isinstance(found[0], Function):
        return m.unknown_call(instance.cls.name, node, args, keywords)
    return invoke(m, found[0], [Arg(instance), *args], keywords, node, rest=rest)


def _call_bound(
    m: Machine, owner: Value, method: str, args: Sequence[Arg], keywords: Keywords, node: ir.Expr | ir.Stmt, rest: bool
) -> Value:
    where = node.func.value if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute) else None
    match owner:
        case Tensor():
            return tensor_method(m, owner, method, args, keywords, node, rest)
        case Unknown():
            if method in TENSOR_ONLY:
                given = [Arg(as_tensor(owner), where), *args]
                return m.operate(f"torch.Tensor.{method.rstrip('_')}", node, given, keywords, rest=rest)
            return m.unknown_call(f".{method} of a value that is not known", node, [Arg(owner, where), *args], keywords)
        case Symbolic():
            return tensor_method(m, owner.as_tensor(), method, args, keywords, node, rest)
        case Layer():
            if method == "forward":
                return _call_layer(m, owner, args, keywords, node, rest)
            if find(f"{owner.kind}.{method}") is not None:
                return m.operate(f"{owner.kind}.{method}", node, args, keywords, rest=rest)
            return owner if method in SELF_METHODS else Unknown(f"`{method}` of a layer")
        case Instance():
            return module_method(m, owner, method, args, keywords)
    return container_method(m, owner, method, args, keywords, node)


def instantiate(
    m: Machine, cls: Class, args: Sequence[Arg], keywords: Keywords, node: ir.Expr | ir.Stmt, *, rest: bool = False
) -> Value:
    """An object of one of the author's classes."""
    instance = Instance(cls)
    found = cls.find("__init__")
    if found is not None and isinstance(found[0], Function):
        invoke(m, found[0], [Arg(instance), *args], keywords, node, rest=rest)
        return instance
    if any(isinstance(b, Library) and b.qualified.startswith("torch.") for b in cls.ancestors()):
        return instance  # what a library's constructor is given is not what it sets
    fields = [n for n, v in cls.members.items() if not isinstance(v, Function | Class)]
    for name in fields:
        instance.attributes[name] = cls.members[name]
    for name, arg in zip(fields, args, strict=False):
        instance.attributes[name] = lift(arg.value, name, cls.name, node.span[0])
    for key, arg in keywords.items():
        instance.attributes[key] = lift(arg.value, key, cls.name, node.span[0])
    return instance


def invoke(
    m: Machine,
    function: Function,
    args: Sequence[Arg],
    keywords: Keywords,
    node: ir.Expr | ir.Stmt,
    *,
    rest: bool = False,
) -> Value:
    """Call one of the author's functions: walk its body with the arguments it got."""
    if function.replaced and isinstance(node, ir.Call):
        return m.unknown_call(f"{function.name}: replaced by its decorator", node, args, keywords)
    running = [f for f in m.frames if f.node is function.node]
    if len(running) >= 2 or len(m.frames) > m.max_depth:
        return m.unknown_call(f"{function.name}: recursion", node, args, keywords)
    variables = _bind(m, function, args, keywords, node, rest)
    if isinstance(node, ir.Call) and not rest:
        note_misbound(m, function, args, keywords, node)
    if variables is None:
        # It takes other arguments: where this line runs, something else is called.
        return m.unknown_call(f"{function.name}: other arguments", node, args, keywords)
    if function.name.endswith(".__init__") and args and isinstance(made := args[0].value, Instance):
        made.given = {**variables, **made.given}
    frame = Frame(
        function.name,
        variables,
        function.closure,
        function.owner,
        args[0].value if function.owner is not None and args else None,
        function.module,
        node=function.node,
    )
    m.executed.add(id(function.node))
    m.call_count += 1
    calls, path = m.calls, m.path
    m.calls = (*calls, Call(span_of(node, path), function.name, m.call_count))
    m.frames.append(frame)
    m.path = function.module.path if function.module is not None else ""
    try:
        if isinstance(function.node, ir.Lambda):
            return m.eval(function.node.body)
        if m.on_call is not None:
            m.on_call(m, function, frame)
        result = _result(m, frame, node, m.run(function.node.body))
        if isinstance(result, Tensor) and not path:
            _note_handed_back(m, function, args, result, node)
        return m.on_return(m, function, result) if m.on_return is not None else result
    finally:
        m.frames.pop()
        m.calls, m.path = calls, path


def _note_handed_back(
    m: Machine, function: Function, args: Sequence[Arg], result: Tensor, node: ir.Expr | ir.Stmt
) -> None:
    """Note that a call gives one of its arguments back as it is."""
    given = next((a for a in args if a.value is result and a.node is not None), None)
    if given is not None and given.node is not None and isinstance(node, ir.Call):
        operand = Operand("input", result, span=span_of(given.node), shape=m.sizes.shape(result.shape))
        m.trace.handed_back.setdefault(span_of(node), (function.name, operand))


def _result(m: Machine, frame: Frame, node: ir.Expr | ir.Stmt, signal: Signal) -> Value:
    if frame.parted:
        # What came after a return holds for the shapes only that did not return there.
        m.sizes.join([m.sizes.fork(), *frame.parted])
    if not frame.returned:
        # What does nothing but raise stands for what a subclass does.
        return Unknown(f"{frame.function} raises") if signal == "raise" else NoneValue()
    return join(m, frame.returned, node) if len(frame.returned) > 1 else frame.returned[0]


def _bind(
    m: Machine, function: Function, args: Sequence[Arg], keywords: Keywords, node: ir.Expr | ir.Stmt, rest: bool
) -> dict[str, Value] | None:
    """The variables that a call starts with; None where Python refuses it: too many arguments, or one given twice."""
    variables: dict[str, Value] = {}
    given = list(args)
    named = dict(keywords)
    owner = function.owner.name if function.owner else function.name
    for p in function.node.params:
        line = p.span[0]
        if p.kind == "args":
            variables[p.name] = Unknown("arguments passed on") if rest else Seq(tuple(a.value for a in given))
            given = []
        elif p.kind == "kwargs":
            variables[p.name] = DictValue({k: a.value for k, a in named.items()}, complete=not rest)
            named = {}
        elif p.kind == "pos" and given:
            variables[p.name] = _given(m, function, p.name, lift(given.pop(0).value, p.name, owner, line))
        elif p.name in named:
            variables[p.name] = _given(m, function, p.name, lift(named.pop(p.name).value, p.name, owner, line))
        elif rest:
            variables[p.name] = Unknown("arguments passed on with * or **")
        elif p.name in function.defaults:
            variables[p.name] = lift(function.defaults[p.name], p.name, owner, line)
        else:
            variables[p.name] = Unknown(f"argument `{p.name}` is missing")
    return variables if rest or not (given or named) else None


def _given(m: Machine, function: Function, name: str, value: Value) -> Value:
    """What a parameter is given: a tensor gets its name; a count of which nothing is known may be 0 as a default is."""
    if isinstance(value, Tensor) and not value.name:
        value.name = name
    default = function.defaults.get(name)
    if isinstance(value, Int) and isinstance(default, Int) and default.dim.const == 0:
        sym = m.sizes.resolve(value.dim).sym
        if sym is not None and sym.flexible and not sym.name and sym.value is None:
            m.sizes.bind(sym, m.fresh_count(sym.line).dim)
    return value


EVALUATE[ir.Call] = call_expression
