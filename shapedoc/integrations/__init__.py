"""Where a person's code meets the tool: the decorator, the import hook, the pytest plugin, Jupyter."""

from __future__ import annotations

__all__: list[str] = []
