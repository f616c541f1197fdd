"""Python's own functions that ask what an object is, and what it has."""

from __future__ import annotations

from collections.abc import Sequence

from shapedoc.core.value import Bool, Layer, Library, NoneValue, Seq, Str, Unknown, Value
from shapedoc.infer.branches.join import join
from shapedoc.infer.branches.kinds import is_of
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.nodes import attributes
from shapedoc.infer.nodes.builtins import Keywords, Node, builtin
from shapedoc.infer.values import Builtin, Choice, Instance
from shapedoc.source import ir

_LAYERS = Library("torch.nn")
_RECURRENT = (Library("torch.nn.LSTM"), Library("torch.nn.GRU"))


@builtin("isinstance", "issubclass")
def isinstance_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    return is_of(args[0].value, args[1].value) if len(args) == 2 else Bool()


@builtin("hasattr")
def hasattr_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    if len(args) == 2 and isinstance(args[0].value, Instance) and isinstance(args[1].value, Str):
        name = args[1].value.value
        if name is not None and (name in args[0].value.attributes or args[0].value.cls.find(name)):
            return Bool(True)
    return Bool()


@builtin("getattr")
def getattr_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    if len(args) < 2:
        return Unknown("getattr without a name")
    name = args[1].value
    if not isinstance(name, Str) or name.value is None:
        if args[0].value == _LAYERS and "rnn" in _words(args[1].node):
            return Choice(_RECURRENT)
        return Unknown("an attribute whose name is not known")
    expression = ir.Attribute(node.span, args[0].node or ir.Const(node.span, None), name.value, node.span)
    got = attributes.get(m, args[0].value, name.value, expression)
    if isinstance(got, Unknown) and len(args) > 2:
        return join(m, [got, args[2].value], node)
    return got


def _words(node: ir.Expr | ir.Stmt | None) -> str:
    """The names in an expression that chooses: ``rnn_type``, ``self.rnn_type.upper()``, ``options["rnn_type"]``."""
    match node:
        case ir.Name(id=word):
            return word.lower()
        case ir.Attribute(value=value, attr=word):
            return f"{_words(value)} {word.lower()}"
        case ir.Call(func=func):
            return _words(func)
        case ir.Subscript(value=value, index=index):
            return f"{_words(value)} {_words(index)}"
        case ir.Const(value=str() as word):
            return word.lower()
    return ""


@builtin("type")
def type_(m: Machine, args: Sequence[Arg], keywords: Keywords, node: Node) -> Value:
    value = args[0].value if args else NoneValue()
    match value:
        case Instance():
            return value.cls
        case Layer():
            return Library(value.kind)
        case Seq(kind="list" | "tuple" as kind):
            return Builtin(kind)
        case Str():
            return Builtin("str")
        case _:
            return Unknown("a type")
