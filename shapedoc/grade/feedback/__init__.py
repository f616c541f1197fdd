"""Feedback: what went wrong, on the student's own input, and how to go on."""

from __future__ import annotations

__all__: list[str] = []
