"""The output formats, one a file; each has a function ``render(report, context)`` that yields lines."""

from __future__ import annotations

__all__: list[str] = []
