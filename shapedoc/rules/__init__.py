"""The rules, one file each; the file that a rule stands in is called after its code."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

from shapedoc.rules.rule import Example, Rule

__all__ = ["Example", "Rule", "all_rules"]


@lru_cache(maxsize=1)
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code."""
    names = sorted(m.name for m in iter_modules(__path__) if m.name.startswith("sd") and m.name[2:5].isdigit())
    return tuple(import_module(f"{__name__}.{name}").RULE for name in names)
