"""Text in: discovery, decoding, two lowerings into one ir, names, contracts and suppressions."""

from __future__ import annotations

__all__: list[str] = []
