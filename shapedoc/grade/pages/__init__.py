"""Reports of marks: a page for each submission (HTML, Markdown, terminal), and one for the class."""

from __future__ import annotations

__all__: list[str] = []
