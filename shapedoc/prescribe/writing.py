"""Tests written to a file: created or appended to, and never over another one."""

from __future__ import annotations

import ast
from pathlib import Path

__all__ = ["write_test"]


def write_test(path: Path, test: str) -> str:
    """Write a test module, or add its tests to a module that is there; what was done, in words.

    A file that holds a test of the same name, or helpers of the same names that differ, is left as it is.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(test, encoding="utf-8")
        return f"written to {path}"
    old = path.read_text(encoding="utf-8")
    try:
        standing = {node.name: ast.unparse(node) for node in _functions(old)}
    except SyntaxError:
        return f"{path} does not parse and was left as it is"
    new = {node.name: node for node in _functions(test)}
    taken = [name for name, node in new.items() if standing.get(name, ast.unparse(node)) != ast.unparse(node)]
    if taken:
        return f"{path} has another `{taken[0]}` and was left as it is"
    added = [name for name in new if name not in standing]
    if not added:
        return f"{path} has this test already"
    lines = test.splitlines(keepends=True)
    parts = ["".join(lines[new[name].lineno - 1 : new[name].end_lineno]) for name in added]
    imports = [line for line in lines if line.startswith(("import ", "from ", "FILE = ")) and line not in old]
    body = old.rstrip("\n") + "\n\n\n" + "\n\n\n".join(part.rstrip("\n") for part in parts) + "\n"
    path.write_text(_with_imports(body, imports), encoding="utf-8")
    return f"added to {path}"


def _functions(text: str) -> list[ast.FunctionDef]:
    return [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]


def _with_imports(text: str, imports: list[str]) -> str:
    """The text with more imports, behind its docstring."""
    if not imports:
        return text
    body = ast.parse(text).body
    first = body[0]
    at = first.end_lineno if isinstance(first, ast.Expr) and first.end_lineno is not None else 0
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:at], "\n" if at else "", *imports, *lines[at:]])
