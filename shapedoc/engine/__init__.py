"""A run from paths to a report: discover, read, screen, infer, rules, suppressions, selection."""

from __future__ import annotations

from shapedoc.engine.request import KNOWLEDGE, Request, RequestError, Settings, StandardInput
from shapedoc.engine.running import cache_folder, look, notebook_reader, run, settings_of, source_reader, text_reader

__all__ = [
    "KNOWLEDGE",
    "Request",
    "RequestError",
    "Settings",
    "StandardInput",
    "cache_folder",
    "look",
    "notebook_reader",
    "run",
    "settings_of",
    "source_reader",
    "text_reader",
]
