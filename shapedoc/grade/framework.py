"""Which framework a submission is written in, by its imports."""

from __future__ import annotations

import ast
from typing import Literal

from shapedoc.grade.plan import Framework

__all__ = ["framework_of"]


def framework_of(asked: Literal["torch", "numpy", "either"], source: str) -> Framework:
    """The framework whose arrays a submission gets; torch where it imports torch, or nothing that says otherwise."""
    if asked != "either":
        return asked
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return "torch"
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return "numpy" if "numpy" in names and "torch" not in names else "torch"
