"""What everything else is made of: sizes, shapes, verdicts, traces, findings and fixes. Standard library only."""

from __future__ import annotations

__all__: list[str] = []
