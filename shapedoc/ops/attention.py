"""Attention: multi-head and scaled dot-product."""

from __future__ import annotations

__all__: list[str] = []
