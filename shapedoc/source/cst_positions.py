"""Where the nodes of a libcst tree stand, from one pass over its code.

libcst's own position provider copies the tree first and costs as much as three parses. Here the code generator runs
once and counts: each node is noted with the significant tokens (neither blanks nor comments) that it spans, which is
how ``ast`` defines a span, so the two agree once parentheses and separators are taken off.
"""

from __future__ import annotations

from contextlib import _GeneratorContextManager

import libcst as cst
from libcst._nodes.internal import CodegenState

from shapedoc.source.ir import Span4

__all__ = ["Positions"]

_TRIVIA = " \t\f\\\r\n#"


class _Nothing(_GeneratorContextManager[None, None, None]):
    """A context that does nothing and is entered as often as one likes; a generator for each node would cost more."""

    def __init__(self) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


_NOTHING = _Nothing()


class Positions(CodegenState):
    """Significant tokens of a module, and for each node the first of its own and the one after its last."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.line = 1
        self.column = 0
        self.starts: list[tuple[int, int]] = []
        self.ends: list[tuple[int, int]] = []
        self.ranges: dict[int, tuple[int, int]] = {}
        self.open: list[int] = []
        module._codegen(self)

    def of(self, node: cst.CSTNode) -> tuple[int, int]:
        """The tokens of a node, everything that its code generator wrote (parentheses, a comma after it)."""
        return self.ranges[id(node)]

    def span(self, first: int, after: int) -> Span4:
        """The span of the tokens from `first` up to `after`."""
        line, column = self.starts[first]
        end_line, end_column = self.ends[after - 1]
        return (line, column, end_line, end_column)

    @property
    def code(self) -> str:
        """The text that the tree stands for; positions are right where it is the text that was parsed."""
        return "".join(self.tokens)

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        line, column = self.line, self.column
        if "\n" in value:
            self.line = line + value.count("\n")
            self.column = len(value) - value.rfind("\n") - 1
        else:
            self.column = column + len(value)
        if value[:1] not in _TRIVIA:
            self.starts.append((line, column))
            self.ends.append((self.line, self.column))

    def add_indent_tokens(self) -> None:
        self.tokens.extend(self.indent_tokens)
        for token in self.indent_tokens:
            self.column += len(token)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.open.append(len(self.starts))

    def after_codegen(self, node: cst.CSTNode) -> None:
        self.ranges[id(node)] = (self.open.pop(), len(self.starts))

    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _GeneratorContextManager[None, None, None]:
        return _NOTHING
