"""What an annotation without a shape says: that something is one tensor."""

from __future__ import annotations

from shapedoc.source.ir import Attribute, BinOp, Const, Expr, Name, Subscript

__all__ = ["is_one_tensor"]


def is_one_tensor(annotation: Expr) -> bool:
    """Whether an annotation says that something is one tensor or one array, if it is given."""
    match annotation:
        case Name(id=name) | Attribute(attr=name):
            return name in ("tensor", "ndarray") or name.endswith("Tensor")
        case Subscript(value=Name(id="Optional") | Attribute(attr="Optional"), index=index):
            return is_one_tensor(index)
        case BinOp(op="|", left=left, right=right):
            parts = [part for part in (left, right) if not _is_none(part)]
            return len(parts) == 1 and is_one_tensor(parts[0])
    return False


def _is_none(annotation: Expr) -> bool:
    return isinstance(annotation, Const) and annotation.value is None
