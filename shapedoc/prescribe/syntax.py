"""The concrete syntax of a file, by place: which node stands at a span, what encloses it, and how to write there.

Edits are made of spans and texts, so that everything that they do not touch (comments, line ends, spacing) survives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from shapedoc.core.fix import Edit
from shapedoc.core.span import Span
from shapedoc.core.text import split_lines
from shapedoc.source import lower_cst

__all__ = ["Argument", "Syntax"]

_ATOMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.Integer,
    cst.Float,
    cst.Tuple,
    cst.List,
    cst.SimpleString,
)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call: its keyword ("" for a positional one), its star, and where its value stands."""

    keyword: str
    star: str
    value: cst.BaseExpression
    span: Span | None


@dataclass(slots=True)
class Syntax:
    """A text and its tree."""

    text: str
    lowered: lower_cst.Lowered
    _spans: dict[int, Span] = field(default_factory=dict)
    _order: list[tuple[Span, cst.CSTNode]] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)

    @staticmethod
    def of(text: str) -> Syntax:
        """Parse a text. Raises SourceError where libcst cannot read it."""
        syntax = Syntax(text, lower_cst.lower(text))
        for place, node in (*syntax.lowered.expressions.items(), *syntax.lowered.statements.items()):
            span = Span(*place)
            syntax._spans[id(node)] = span
            syntax._order.append((span, node))
        starts = [0]
        for line in split_lines(text):
            starts.append(starts[-1] + len(line))
        syntax._starts = starts
        return syntax

    # -- places

    def offset(self, line: int, column: int) -> int:
        """The character at a place."""
        return self._starts[line - 1] + column

    def source(self, span: Span) -> str:
        """The text of a span, as it stands."""
        return self.text[self.offset(span.line, span.column) : self.offset(span.end_line, span.end_column)]

    def span(self, node: cst.CSTNode) -> Span | None:
        """Where a node stands, parentheses around it left out."""
        return self._spans.get(id(node))

    def at(self, span: Span) -> cst.CSTNode | None:
        """The expression that stands exactly there."""
        return self.lowered.expressions.get((span.line, span.column, span.end_line, span.end_column))

    def around(self, span: Span) -> list[tuple[Span, cst.CSTNode]]:
        """Every expression and statement that encloses a span (itself included), the smallest first."""
        place = Span(span.line, span.column, span.end_line, span.end_column)
        found = [(s, n) for s, n in self._order if s.contains(place)]
        return sorted(found, key=lambda pair: (self._length(pair[0]), not isinstance(pair[1], cst.BaseExpression)))

    def inside(self, span: Span) -> list[tuple[Span, cst.CSTNode]]:
        """Every expression and statement within a span, in order of the text, outer ones first."""
        place = Span(span.line, span.column, span.end_line, span.end_column)
        found = [(s, n) for s, n in self._order if place.contains(s)]
        return sorted(found, key=lambda pair: (pair[0].line, pair[0].column, -self._length(pair[0])))

    def _length(self, span: Span) -> int:
        return self.offset(span.end_line, span.end_column) - self.offset(span.line, span.column)

    def statement(self, span: Span) -> tuple[Span, cst.CSTNode] | None:
        """The smallest statement around a span."""
        for place, node in self.around(span):
            if isinstance(node, cst.BaseSmallStatement | cst.BaseCompoundStatement):
                return place, node
        return None

    def function(self, span: Span) -> tuple[Span, cst.FunctionDef] | None:
        """The function around a span."""
        for place, node in self.around(span):
            if isinstance(node, cst.FunctionDef):
                return place, node
        return None

    def klass(self, span: Span) -> tuple[Span, cst.ClassDef] | None:
        """The class around a span."""
        for place, node in self.around(span):
            if isinstance(node, cst.ClassDef):
                return place, node
        return None

    def named(self, name: str) -> Span | None:
        """Where the class or function of a qualified name (``Decoder.forward``) stands."""
        parts = name.split(".")
        for place, node in self._order:
            if isinstance(node, cst.FunctionDef | cst.ClassDef) and node.name.value == parts[-1]:
                outer = self.klass(Span(place.line, place.column, place.line, place.column)) if len(parts) > 1 else None
                if len(parts) == 1 or (outer is not None and outer[1].name.value == parts[-2]):
                    return place
        return None

    def functions(self) -> Iterator[cst.FunctionDef]:
        """Every function of the file."""
        return (node for _, node in self._order if isinstance(node, cst.FunctionDef))

    def classes(self) -> Iterator[cst.ClassDef]:
        """Every class of the file."""
        return (node for _, node in self._order if isinstance(node, cst.ClassDef))

    # -- calls

    def arguments(self, call: cst.Call) -> list[Argument]:
        """The arguments of a call, in order."""
        return [
            Argument(arg.keyword.value if arg.keyword else "", arg.star, arg.value, self.span(arg.value))
            for arg in call.args
        ]

    def called(self, call: cst.Call) -> str:
        """What is called: the last name of ``nn.functional.softmax``."""
        func = call.func
        if isinstance(func, cst.Attribute):
            return func.attr.value
        return func.value if isinstance(func, cst.Name) else ""

    def receiver(self, call: cst.Call) -> cst.BaseExpression | None:
        """What the method of is called."""
        return call.func.value if isinstance(call.func, cst.Attribute) else None

    # -- edits

    def replace(self, span: Span, text: str) -> Edit:
        """Write something else at a span."""
        return Edit(Span(span.line, span.column, span.end_line, span.end_column), text)

    def insert(self, line: int, column: int, text: str) -> Edit:
        """Write something at a place."""
        return Edit(Span(line, column, line, column), text)

    def whole(self, node: cst.BaseExpression) -> Span | None:
        """Where a node stands with the parentheses that are written around it."""
        span = self.span(node)
        if span is None:
            return None
        start, end = self.offset(span.line, span.column), self.offset(span.end_line, span.end_column)
        within = isinstance(node, cst.Tuple | cst.GeneratorExp)
        for _ in getattr(node, "rpar", ())[within:]:
            end = self.text.index(")", end) + 1
        for _ in getattr(node, "lpar", ())[within:]:
            start = self.text.rindex("(", 0, start)
        return self._between(start, end)

    def _between(self, start: int, end: int) -> Span:
        from bisect import bisect_right

        line, end_line = bisect_right(self._starts, start), bisect_right(self._starts, end)
        if end_line > 1 and self._starts[end_line - 1] == end and end > start:
            end_line -= 1
        return Span(line, start - self._starts[line - 1], end_line, end - self._starts[end_line - 1])

    def postfix(self, node: cst.BaseExpression, text: str) -> tuple[Edit, ...]:
        """Write something after an expression, which binds tighter than operators (``.T``, ``[:, None]``)."""
        span, whole = self.span(node), self.whole(node)
        if span is None or whole is None:
            return ()
        if whole != span:
            return (self.insert(whole.end_line, whole.end_column, text),)
        if isinstance(node, _ATOMS):
            return (self.insert(span.end_line, span.end_column, text),)
        return (
            self.insert(span.line, span.column, "("),
            self.insert(span.end_line, span.end_column, ")" + text),
        )

    def written(self, node: cst.BaseExpression) -> str:
        """The text of an expression, in parentheses where something is to be written after it."""
        span, whole = self.span(node), self.whole(node)
        if span is None or whole is None:
            return ""
        if whole != span:
            return self.source(whole)
        return self.source(span) if isinstance(node, _ATOMS) else f"({self.source(span)})"

    def plain(self, node: cst.BaseExpression) -> str:
        """The text of an expression without parentheses around it."""
        span = self.span(node)
        return self.source(span) if span is not None else ""

    def argument(self, call: cst.Call, text: str) -> tuple[Edit, ...]:
        """Write one more argument at the end of a call."""
        span = self.span(call)
        if span is None:
            return ()
        arguments = self.arguments(call)
        if not arguments:
            end = self.offset(span.end_line, span.end_column) - 1
            place = self._between(end, end)
            return (self.insert(place.line, place.column, text),)
        last = arguments[-1]
        whole = self.whole(last.value)
        if whole is None:
            return ()
        return (self.insert(whole.end_line, whole.end_column, f", {text}"),)

    def without_argument(self, call: cst.Call, index: int) -> tuple[Edit, ...]:
        """Take an argument out of a call, with the comma that goes with it."""
        arguments = call.args
        spans = [self.whole(arg.value) for arg in arguments]
        span = spans[index]
        if span is None:
            return ()
        keyword = arguments[index].keyword
        start = self.offset(span.line, span.column)
        if keyword is not None:
            start = self.text.rindex(keyword.value, 0, start)
        end = self.offset(span.end_line, span.end_column)
        before = spans[index - 1] if index > 0 else None
        after = spans[index + 1] if index + 1 < len(spans) else None
        if before is not None:
            start = self.offset(before.end_line, before.end_column)
        elif after is not None:
            end = self.offset(after.line, after.column)
            following = arguments[index + 1].keyword
            if following is not None:
                end = self.text.rindex(following.value, 0, end)
        return (Edit(self._between(start, end), ""),)
