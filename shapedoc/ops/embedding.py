"""Embeddings: from indices to vectors."""

from __future__ import annotations

__all__: list[str] = []
