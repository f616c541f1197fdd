"""Library modules that map features or change layout: linear maps, activations, dropout, flatten."""

from __future__ import annotations

__all__: list[str] = []
