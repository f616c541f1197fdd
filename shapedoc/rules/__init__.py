"""The rules, one file each, called after its code, in a folder for each family (SD1, SD2, ...).

What one family alone asks of a trace stands beside its rules; what several ask stands in `reading`.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pathlib import Path

from shapedoc.rules.rule import Example, Rule

__all__ = ["Example", "Rule", "all_rules"]


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code."""
    files = sorted(Path(__file__).parent.glob("*/sd[0-9][0-9][0-9].py"), key=lambda file: file.stem)
    return tuple(import_module(f"{__name__}.{file.parent.name}.{file.stem}").RULE for file in files)
