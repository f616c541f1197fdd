"""The op table: what every tensor operation does to shapes."""

from __future__ import annotations

from shapedoc.ops.calling.bind import Arguments, Outcome, evaluate
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.registry import Op, find, find_layer, layer, op, table

__all__ = ["Arguments", "Op", "OpContext", "Outcome", "evaluate", "find", "find_layer", "layer", "op", "table"]
