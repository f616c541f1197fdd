"""Recurrent modules and cells."""

from __future__ import annotations

__all__: list[str] = []
