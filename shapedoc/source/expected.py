"""Code that is written to fail, as it stands in the text."""

from __future__ import annotations

from shapedoc.source import ir

__all__ = ["expects_failure", "last_name"]

# ``pytest.raises``, ``unittest``'s methods and ``contextlib.suppress``, however they are imported.
_MANAGERS = frozenset(("raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "suppress", "RaisesGroup"))


def expects_failure(node: ir.With) -> bool:
    """Whether an exception is expected of the body."""
    return any(last_name(item) in _MANAGERS for item, _ in node.items if isinstance(item, ir.Call))


def last_name(node: ir.Expr) -> str:
    """The last name of what is called, or of a dotted name; "" for anything else."""
    if isinstance(node, ir.Call):
        node = node.func
    return node.attr if isinstance(node, ir.Attribute) else node.id if isinstance(node, ir.Name) else ""
