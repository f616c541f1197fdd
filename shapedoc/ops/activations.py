"""Activations: functions and modules that keep the shape."""

from __future__ import annotations

__all__: list[str] = []
