"""Expressions of libcst to ir."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import libcst as cst

from shapedoc.source import ir
from shapedoc.source.cst_literals import identifier, literal_value, string_parts
from shapedoc.source.cst_positions import Positions
from shapedoc.source.ir import Expr, Span4
from shapedoc.source.parse import SourceError
from shapedoc.source.walk import flatten

__all__ = ["OPERATORS", "Expressions"]

OPERATORS: dict[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.AddAssign: "+",
    cst.Subtract: "-",
    cst.SubtractAssign: "-",
    cst.Multiply: "*",
    cst.MultiplyAssign: "*",
    cst.Divide: "/",
    cst.DivideAssign: "/",
    cst.FloorDivide: "//",
    cst.FloorDivideAssign: "//",
    cst.Modulo: "%",
    cst.ModuloAssign: "%",
    cst.Power: "**",
    cst.PowerAssign: "**",
    cst.MatrixMultiply: "@",
    cst.MatrixMultiplyAssign: "@",
    cst.BitAnd: "&",
    cst.BitAndAssign: "&",
    cst.BitOr: "|",
    cst.BitOrAssign: "|",
    cst.BitXor: "^",
    cst.BitXorAssign: "^",
    cst.LeftShift: "<<",
    cst.LeftShiftAssign: "<<",
    cst.RightShift: ">>",
    cst.RightShiftAssign: ">>",
    cst.Minus: "-",
    cst.Plus: "+",
    cst.BitInvert: "~",
    cst.Not: "not",
    cst.And: "and",
    cst.Or: "or",
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.In: "in",
    cst.NotIn: "not in",
}

_SINGLETONS: dict[str, bool | None] = {"True": True, "False": False, "None": None}


class Expressions:
    """Lowers the expressions of one module; `anchors` leads from a span back to the node that stands there."""

    def __init__(self, positions: Positions) -> None:
        self.positions = positions
        self.anchors: dict[Span4, cst.CSTNode] = {}
        self.table: dict[type[cst.CSTNode], Callable[..., Expr]] = {
            cst.Name: self._name,
            cst.Integer: self._literal,
            cst.Float: self._literal,
            cst.Imaginary: self._literal,
            cst.SimpleString: self._literal,
            cst.ConcatenatedString: self._concatenated,
            cst.FormattedString: self._formatted,
            cst.TemplatedString: self._formatted,
            cst.Ellipsis: self._ellipsis,
            cst.Attribute: self._attribute,
            cst.Subscript: self._subscript,
            cst.Call: self._call,
            cst.BinaryOperation: self._binary,
            cst.UnaryOperation: self._unary,
            cst.BooleanOperation: self._boolean,
            cst.Comparison: self._comparison,
            cst.IfExp: self._if_exp,
            cst.Tuple: self._tuple,
            cst.List: self._list,
            cst.Set: self._set,
            cst.Dict: self._dict,
            cst.StarredElement: self._starred,
            cst.GeneratorExp: self._generator_exp,
            cst.ListComp: self._list_comp,
            cst.SetComp: self._set_comp,
            cst.DictComp: self._dict_comp,
            cst.Lambda: self._lambda,
            cst.NamedExpr: self._named_expr,
            cst.Await: self._await,
            cst.Yield: self._yield,
        }

    def lower(self, node: cst.CSTNode) -> Expr:
        """The ir of one expression."""
        lowered = self.table[type(node)](node)
        self.anchors.setdefault(lowered.span, node)
        return lowered

    def optional(self, node: cst.CSTNode | None) -> Expr | None:
        """The ir of an expression that may be missing."""
        return self.lower(node) if node is not None else None

    def span(self, node: cst.BaseExpression, kept: int = 0) -> Span4:
        """The span of a node without its own parentheses, but for the innermost `kept` pairs."""
        first, after = self.positions.of(node)
        around = max(0, len(node.lpar) - kept)
        return self.positions.span(first + around, after - around)

    def _name(self, n: cst.Name) -> Expr:
        if n.value in _SINGLETONS:
            return ir.Const(self.span(n), _SINGLETONS[n.value])
        return ir.Name(self.span(n), identifier(n.value))

    def _literal(self, n: cst.BaseExpression) -> Expr:
        return ir.Const(self.span(n), literal_value(n))

    def _concatenated(self, n: cst.ConcatenatedString) -> Expr:
        if all(isinstance(part, cst.SimpleString) for part in string_parts(n)):
            return self._literal(n)
        return self._formatted(n)

    def _formatted(self, n: cst.ConcatenatedString | cst.FormattedString | cst.TemplatedString) -> Expr:
        span = self.span(n)
        values: list[Expr] = []
        template = False
        for part in string_parts(n):
            if isinstance(part, cst.SimpleString):
                continue
            template = template or isinstance(part, cst.TemplatedString)
            for piece in part.parts:
                if isinstance(piece, cst.FormattedStringExpression | cst.TemplatedStringExpression):
                    value = self.table[type(piece.expression)](piece.expression)
                    flatten(value, span)
                    values.append(value)
        return ir.Opaque(span, "template", values) if template else ir.FString(span, values)

    def _ellipsis(self, n: cst.Ellipsis) -> Expr:
        return ir.Const(self.span(n), ...)

    def _attribute(self, n: cst.Attribute) -> Expr:
        span, attr = self.span(n), identifier(n.attr.value)
        return ir.Attribute(span, self.lower(n.value), attr, (span[2], max(0, span[3] - len(attr)), span[2], span[3]))

    def _subscript(self, n: cst.Subscript) -> Expr:
        value = self.lower(n.value)
        items = [self._subscript_element(element) for element in n.slice]
        last = n.slice[-1]
        starred = isinstance(last.slice, cst.Index) and bool(last.slice.star)
        if len(items) == 1 and not starred and not isinstance(last.comma, cst.Comma):
            return ir.Subscript(self.span(n), value, items[0])
        span = self.positions.span(self.positions.of(n.slice[0])[0], self.positions.of(last)[1])
        return ir.Subscript(self.span(n), value, ir.Sequence(span, "tuple", items))

    def _subscript_element(self, n: cst.SubscriptElement) -> Expr:
        inner = n.slice
        first, after = self.positions.of(inner)
        if isinstance(inner, cst.Slice):
            parts = self.optional(inner.lower), self.optional(inner.upper), self.optional(inner.step)
            return ir.Slice(self.positions.span(first, after), *parts)
        if not isinstance(inner, cst.Index):
            raise SourceError("unknown form of subscript", *self.positions.starts[first])
        value = self.lower(inner.value)
        return ir.Starred(self.positions.span(first, after), value) if inner.star else value

    def _call(self, n: cst.Call) -> Expr:
        func = self.lower(n.func)
        args, keywords = self.arguments(n.args)
        return ir.Call(self.span(n), func, args, keywords)

    def arguments(self, arguments: Sequence[cst.Arg]) -> tuple[list[Expr], list[tuple[str | None, Expr]]]:
        """The positional and the keyword arguments of a call or a class."""
        args: list[Expr] = []
        keywords: list[tuple[str | None, Expr]] = []
        for argument in arguments:
            value = self.lower(argument.value)
            if argument.keyword is not None:
                keywords.append((identifier(argument.keyword.value), value))
            elif argument.star == "**":
                keywords.append((None, value))
            elif argument.star == "*":
                first, after = self.positions.of(argument)[0], self.positions.of(argument.value)[1]
                args.append(ir.Starred(self.positions.span(first, after), value))
            else:
                args.append(value)
        return args, keywords

    def _binary(self, n: cst.BinaryOperation) -> Expr:
        return ir.BinOp(self.span(n), OPERATORS[type(n.operator)], self.lower(n.left), self.lower(n.right))

    def _unary(self, n: cst.UnaryOperation) -> Expr:
        return ir.UnaryOp(self.span(n), OPERATORS[type(n.operator)], self.lower(n.expression))

    def _boolean(self, n: cst.BooleanOperation) -> Expr:
        """``a and b and c`` is one operation, as in ``ast``; libcst nests it to the left."""
        op = type(n.operator)
        right = [n.right]
        left = n.left
        while isinstance(left, cst.BooleanOperation) and type(left.operator) is op and not left.lpar:
            right.append(left.right)
            left = left.left
        return ir.BoolOp(self.span(n), OPERATORS[op], [self.lower(value) for value in (left, *reversed(right))])

    def _comparison(self, n: cst.Comparison) -> Expr:
        ops = [OPERATORS[type(target.operator)] for target in n.comparisons]
        left = self.lower(n.left)
        return ir.Compare(self.span(n), left, ops, [self.lower(target.comparator) for target in n.comparisons])

    def _if_exp(self, n: cst.IfExp) -> Expr:
        return ir.IfExp(self.span(n), self.lower(n.test), self.lower(n.body), self.lower(n.orelse))

    def _tuple(self, n: cst.Tuple) -> Expr:
        return self._display(n, "tuple", self.span(n, kept=1))

    def _list(self, n: cst.List) -> Expr:
        return self._display(n, "list", self.span(n))

    def _set(self, n: cst.Set) -> Expr:
        return self._display(n, "set", self.span(n))

    def _display(self, n: cst.Tuple | cst.List | cst.Set, kind: Literal["tuple", "list", "set"], span: Span4) -> Expr:
        items = [self.lower(e if isinstance(e, cst.StarredElement) else e.value) for e in n.elements]
        return ir.Sequence(span, kind, items)

    def _starred(self, n: cst.StarredElement) -> Expr:
        first, after = self.positions.of(n)[0], self.positions.of(n.value)[1]
        return ir.Starred(self.positions.span(first, after), self.lower(n.value))

    def _dict(self, n: cst.Dict) -> Expr:
        keys = [self.lower(element.key) if isinstance(element, cst.DictElement) else None for element in n.elements]
        return ir.Dict(self.span(n), keys, [self.lower(element.value) for element in n.elements])

    def _generator_exp(self, n: cst.GeneratorExp) -> Expr:
        """The parentheses belong to a generator expression, also those of a call that it is the only argument of."""
        span = self.span(n, kept=1)
        if not n.lpar:
            first, after = self.positions.of(n)
            span = self.positions.span(first - 1, after + 1)
        return ir.Comprehension(span, "generator", None, self.lower(n.elt), self._generators(n.for_in))

    def _list_comp(self, n: cst.ListComp) -> Expr:
        return ir.Comprehension(self.span(n), "list", None, self.lower(n.elt), self._generators(n.for_in))

    def _set_comp(self, n: cst.SetComp) -> Expr:
        return ir.Comprehension(self.span(n), "set", None, self.lower(n.elt), self._generators(n.for_in))

    def _dict_comp(self, n: cst.DictComp) -> Expr:
        key, element = self.lower(n.key), self.lower(n.value)
        return ir.Comprehension(self.span(n), "dict", key, element, self._generators(n.for_in))

    def _generators(self, clause: cst.CompFor | None) -> list[ir.Generator]:
        generators: list[ir.Generator] = []
        while clause is not None:
            conditions = [self.lower(condition.test) for condition in clause.ifs]
            generators.append(ir.Generator(self.lower(clause.target), self.lower(clause.iter), conditions))
            clause = clause.inner_for_in
        return generators

    def _lambda(self, n: cst.Lambda) -> Expr:
        return ir.Lambda(self.span(n), self.parameters(n.params), self.lower(n.body))

    def parameters(self, n: cst.Parameters) -> list[ir.Param]:
        """The parameters of a function in source order."""
        params = [self._parameter(param, "pos") for param in (*n.posonly_params, *n.params)]
        if isinstance(n.star_arg, cst.Param):
            params.append(self._parameter(n.star_arg, "args"))
        params += [self._parameter(param, "kw") for param in n.kwonly_params]
        if n.star_kwarg is not None:
            params.append(self._parameter(n.star_kwarg, "kwargs"))
        return params

    def _parameter(self, n: cst.Param, kind: Literal["pos", "kw", "args", "kwargs"]) -> ir.Param:
        annotation = n.annotation.annotation if n.annotation is not None else None
        first, after = self.positions.of(n.name)[0], self.positions.of(annotation or n.name)[1]
        span = self.positions.span(first, after)
        return ir.Param(span, identifier(n.name.value), kind, self.optional(annotation), self.optional(n.default))

    def _named_expr(self, n: cst.NamedExpr) -> Expr:
        target = self.lower(n.target)
        if not isinstance(target, ir.Name):
            raise SourceError("`:=` needs a name on its left", *target.span[:2])
        return ir.NamedExpr(self.span(n), target, self.lower(n.value))

    def _await(self, n: cst.Await) -> Expr:
        return ir.Opaque(self.span(n), "await", [self.lower(n.expression)])

    def _yield(self, n: cst.Yield) -> Expr:
        if isinstance(n.value, cst.From):
            return ir.Opaque(self.span(n), "yield from", [self.lower(n.value.item)])
        return ir.Opaque(self.span(n), "yield", [self.lower(n.value)] if n.value is not None else [])
