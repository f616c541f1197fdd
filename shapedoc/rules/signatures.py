"""The parameters of the author's functions, and the names that their bodies read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from shapedoc.core.span import Span
from shapedoc.source.parse import SourceError, normalise, parse

__all__ = ["Parameter", "Signature", "signatures"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter and where it stands in the head."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """A function: its name with those of its classes, and its parameters."""

    name: str
    parameters: tuple[Parameter, ...]
    node: ast.FunctionDef | ast.AsyncFunctionDef

    @property
    def reads(self) -> frozenset[str]:
        """Every name that its body reads."""
        return _reads(self)

    def ignored(self, wanted_name: Callable[[str], object]) -> list[Parameter]:
        """The parameters with a name that is wanted, and that the body never reads."""
        wanted = [p for p in self.parameters if wanted_name(p.name)]
        return [p for p in wanted if p.name not in self.reads] if wanted else []


@lru_cache(maxsize=256)
def _reads(signature: Signature) -> frozenset[str]:
    names = (n for part in signature.node.body for n in ast.walk(part) if isinstance(n, ast.Name))
    return frozenset(n.id for n in names if not isinstance(n.ctx, ast.Store))


@lru_cache(maxsize=2)
def signatures(text: str) -> tuple[Signature, ...]:
    """Every function of a file; none where the file does not parse."""
    try:
        module = parse(normalise(text))
    except SourceError:
        return ()
    return tuple(_all(module, ""))


# What a function may be defined in.
_BLOCKS = (ast.stmt, ast.excepthandler, ast.match_case)


def _all(node: ast.AST, prefix: str) -> Iterator[Signature]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _all(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield _read(child, prefix)
            yield from _all(child, prefix)
        elif isinstance(child, _BLOCKS):
            yield from _all(child, prefix)


def _read(node: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str) -> Signature:
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return Signature(f"{prefix}{node.name}", tuple(Parameter(a.arg, _span(a)) for a in given), node)


def _span(arg: ast.arg) -> Span:
    return Span(arg.lineno, arg.col_offset, arg.lineno, arg.col_offset + len(arg.arg))
