"""Where nodes stand, as the spans that events carry: each built once."""

from __future__ import annotations

from shapedoc.core.span import Span
from shapedoc.source import ir

__all__ = ["span_of"]


def span_of(node: ir.Expr | ir.Stmt, path: str = "") -> Span:
    """A node's span; `path` where the node is of another file."""
    place = node.span
    try:
        return _spans[path][place]
    except KeyError:
        return _new_span(place, path)


def _new_span(place: ir.Span4, path: str) -> Span:
    known = _spans.get(path)
    if known is None or len(known) > 100_000:
        if len(_spans) > 1_000:
            _spans.clear()
        known = _spans[path] = {}
    span = known[place] = Span(*place, path)
    return span


# By the path, and the place in it.
_spans: dict[str, dict[ir.Span4, Span]] = {}
