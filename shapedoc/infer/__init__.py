"""The abstract interpreter: from the ir of a file to its trace."""

from __future__ import annotations

from shapedoc.infer.entries.walk import analyse
from shapedoc.infer.machine import Sources

__all__ = ["Sources", "analyse"]
