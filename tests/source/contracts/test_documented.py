"""The page about contracts says what is read."""

from __future__ import annotations

import re
from pathlib import Path

from shapedoc.source.contracts import ModuleContracts
from shapedoc.source.ir import Assign
from shapedoc.source.lower_ast import lower

PAGE = Path(__file__).parents[3] / "docs" / "contracts.md"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_every_form_of_the_first_example_says_the_same() -> None:
    module = lower(blocks()[0])
    contracts = ModuleContracts(module)
    stated = [[str(b.shape) for b in contracts.after(stmt)] for stmt in module.body]
    assert stated == [["(B, T, C)"]] * 10


def test_no_example_is_unreadable() -> None:
    for block in blocks():
        if "shapedoc:" not in block:
            assert ModuleContracts(lower(block)).unreadable == []


def test_every_assignment_of_the_other_comment_examples_is_understood() -> None:
    for block in blocks()[1:3]:
        module = lower(block)
        contracts = ModuleContracts(module)
        for stmt in module.body:
            assert isinstance(stmt, Assign)
            assert contracts.after(stmt), stmt.span
