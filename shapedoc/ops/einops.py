"""einops: rearrange, reduce, repeat and their kin."""

from __future__ import annotations

__all__: list[str] = []
