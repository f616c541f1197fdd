"""The jail: a fork server that has torch, one confined child for each plan, and the parent that trusts neither."""

from __future__ import annotations

__all__: list[str] = []
