"""NumPy operations whose arguments differ from torch's."""

from __future__ import annotations

__all__: list[str] = []
