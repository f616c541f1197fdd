"""Expressions of ``ast`` to ir.

One function per node type, found in a table by the type: a visitor with ``getattr`` would cost more than the parse.
Spans are written out in each function for the same reason.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable

from shapedoc.source.ir import (
    Attribute,
    BinOp,
    BoolOp,
    Call,
    Compare,
    Comprehension,
    Const,
    Dict,
    Expr,
    FString,
    Generator,
    IfExp,
    Lambda,
    Name,
    NamedExpr,
    Opaque,
    Param,
    Sequence,
    Slice,
    Span4,
    Starred,
    Subscript,
    UnaryOp,
)
from shapedoc.source.walk import flatten

__all__ = ["EXPRESSIONS", "OPERATORS", "parameters"]

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
    ast.Not: "not",
    ast.And: "and",
    ast.Or: "or",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def _span(n: ast.expr | ast.arg) -> Span4:
    return (n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0)


def _constant(n: ast.Constant) -> Expr:
    return Const((n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0), n.value)


def _name(n: ast.Name) -> Expr:
    return Name((n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0), n.id)


def _attribute(n: ast.Attribute) -> Expr:
    line, column, attr, value = n.end_lineno or 0, n.end_col_offset or 0, n.attr, n.value
    start = column - len(attr)
    return Attribute(
        (n.lineno, n.col_offset, line, column),
        EXPRESSIONS[type(value)](value),
        attr,
        (line, start if start > 0 else 0, line, column),
    )


def _subscript(n: ast.Subscript) -> Expr:
    value, index = n.value, n.slice
    return Subscript(
        (n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0),
        EXPRESSIONS[type(value)](value),
        EXPRESSIONS[type(index)](index),
    )


def _slice(n: ast.Slice) -> Expr:
    lower, upper, step = n.lower, n.upper, n.step
    return Slice(
        (n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0),
        EXPRESSIONS[type(lower)](lower) if lower else None,
        EXPRESSIONS[type(upper)](upper) if upper else None,
        EXPRESSIONS[type(step)](step) if step else None,
    )


def _starred(n: ast.Starred) -> Expr:
    return Starred(_span(n), EXPRESSIONS[type(n.value)](n.value))


def _call(n: ast.Call) -> Expr:
    func, table = n.func, EXPRESSIONS
    return Call(
        (n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0),
        table[type(func)](func),
        [table[type(a)](a) for a in n.args],
        [(k.arg, table[type(k.value)](k.value)) for k in n.keywords] if n.keywords else [],
    )


def _bin_op(n: ast.BinOp) -> Expr:
    left, right = n.left, n.right
    return BinOp(
        (n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0),
        OPERATORS[type(n.op)],
        EXPRESSIONS[type(left)](left),
        EXPRESSIONS[type(right)](right),
    )


def _unary_op(n: ast.UnaryOp) -> Expr:
    return UnaryOp(_span(n), OPERATORS[type(n.op)], EXPRESSIONS[type(n.operand)](n.operand))


def _bool_op(n: ast.BoolOp) -> Expr:
    return BoolOp(_span(n), OPERATORS[type(n.op)], [EXPRESSIONS[type(v)](v) for v in n.values])


def _compare(n: ast.Compare) -> Expr:
    left = n.left
    return Compare(
        (n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0),
        EXPRESSIONS[type(left)](left),
        [OPERATORS[type(o)] for o in n.ops],
        [EXPRESSIONS[type(c)](c) for c in n.comparators],
    )


def _if_exp(n: ast.IfExp) -> Expr:
    return IfExp(
        _span(n),
        EXPRESSIONS[type(n.test)](n.test),
        EXPRESSIONS[type(n.body)](n.body),
        EXPRESSIONS[type(n.orelse)](n.orelse),
    )


def _tuple(n: ast.Tuple) -> Expr:
    span = (n.lineno, n.col_offset, n.end_lineno or 0, n.end_col_offset or 0)
    return Sequence(span, "tuple", [EXPRESSIONS[type(e)](e) for e in n.elts])


def _list(n: ast.List) -> Expr:
    return Sequence(_span(n), "list", [EXPRESSIONS[type(e)](e) for e in n.elts])


def _set(n: ast.Set) -> Expr:
    return Sequence(_span(n), "set", [EXPRESSIONS[type(e)](e) for e in n.elts])


def _dict(n: ast.Dict) -> Expr:
    keys = [EXPRESSIONS[type(k)](k) if k else None for k in n.keys]
    return Dict(_span(n), keys, [EXPRESSIONS[type(v)](v) for v in n.values])


def _generators(generators: list[ast.comprehension]) -> list[Generator]:
    table = EXPRESSIONS
    return [
        Generator(table[type(g.target)](g.target), table[type(g.iter)](g.iter), [table[type(c)](c) for c in g.ifs])
        for g in generators
    ]


def _list_comp(n: ast.ListComp) -> Expr:
    return Comprehension(_span(n), "list", None, EXPRESSIONS[type(n.elt)](n.elt), _generators(n.generators))


def _set_comp(n: ast.SetComp) -> Expr:
    return Comprehension(_span(n), "set", None, EXPRESSIONS[type(n.elt)](n.elt), _generators(n.generators))


def _generator_exp(n: ast.GeneratorExp) -> Expr:
    return Comprehension(_span(n), "generator", None, EXPRESSIONS[type(n.elt)](n.elt), _generators(n.generators))


def _dict_comp(n: ast.DictComp) -> Expr:
    key, element = EXPRESSIONS[type(n.key)](n.key), EXPRESSIONS[type(n.value)](n.value)
    return Comprehension(_span(n), "dict", key, element, _generators(n.generators))


def _lambda(n: ast.Lambda) -> Expr:
    return Lambda(_span(n), parameters(n.args), EXPRESSIONS[type(n.body)](n.body))


def _optional(n: ast.expr | None) -> Expr | None:
    return EXPRESSIONS[type(n)](n) if n else None


def parameters(arguments: ast.arguments) -> list[Param]:
    """The parameters of a function in source order."""
    params: list[Param] = []
    positional = arguments.posonlyargs + arguments.args
    undefaulted = len(positional) - len(arguments.defaults)
    for index, p in enumerate(positional):
        default = arguments.defaults[index - undefaulted] if index >= undefaulted else None
        params.append(Param(_span(p), p.arg, "pos", _optional(p.annotation), _optional(default)))
    if starred := arguments.vararg:
        params.append(Param(_span(starred), starred.arg, "args", _optional(starred.annotation), None))
    for p, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        params.append(Param(_span(p), p.arg, "kw", _optional(p.annotation), _optional(default)))
    if starred := arguments.kwarg:
        params.append(Param(_span(starred), starred.arg, "kwargs", _optional(starred.annotation), None))
    return params


def _named_expr(n: ast.NamedExpr) -> Expr:
    return NamedExpr(_span(n), Name(_span(n.target), n.target.id), EXPRESSIONS[type(n.value)](n.value))


def _fields(parts: list[ast.expr], span: Span4) -> list[Expr]:
    """The expressions of an f-string or a template string."""
    values: list[Expr] = []
    for part in parts:
        if not isinstance(part, ast.Constant):
            value = part.value if isinstance(part, ast.FormattedValue) else part
            lowered = EXPRESSIONS[type(value)](value)
            flatten(lowered, span)
            values.append(lowered)
    return values


def _joined_str(n: ast.JoinedStr) -> Expr:
    span = _span(n)
    return FString(span, _fields(n.values, span))


def _await(n: ast.Await) -> Expr:
    return Opaque(_span(n), "await", [EXPRESSIONS[type(n.value)](n.value)])


def _yield(n: ast.Yield) -> Expr:
    return Opaque(_span(n), "yield", [EXPRESSIONS[type(n.value)](n.value)] if n.value else [])


def _yield_from(n: ast.YieldFrom) -> Expr:
    return Opaque(_span(n), "yield from", [EXPRESSIONS[type(n.value)](n.value)])


EXPRESSIONS: dict[type[ast.AST], Callable[..., Expr]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Starred: _starred,
    ast.Call: _call,
    ast.BinOp: _bin_op,
    ast.UnaryOp: _unary_op,
    ast.BoolOp: _bool_op,
    ast.Compare: _compare,
    ast.IfExp: _if_exp,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.ListComp: _list_comp,
    ast.SetComp: _set_comp,
    ast.GeneratorExp: _generator_exp,
    ast.DictComp: _dict_comp,
    ast.Lambda: _lambda,
    ast.NamedExpr: _named_expr,
    ast.JoinedStr: _joined_str,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
}

if sys.version_info >= (3, 14):

    def _template_str(n: ast.TemplateStr) -> Expr:
        span = _span(n)
        return Opaque(
            span, "template", _fields([p.value if isinstance(p, ast.Interpolation) else p for p in n.values], span)
        )

    EXPRESSIONS[ast.TemplateStr] = _template_str
