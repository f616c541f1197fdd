"""Long and deeply nested files: the work grows as the text does, and nothing crashes."""

from __future__ import annotations

import random
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shapedoc.core.value import Unknown, Value
from shapedoc.engine.analysis import analyse
from shapedoc.engine.depth import room_to_nest
from shapedoc.engine.garbage import collecting_seldom
from shapedoc.engine.request import Settings
from shapedoc.infer.branches.join import join_different
from shapedoc.infer.machine import Machine
from shapedoc.source import ir
from shapedoc.source.read import Source, read_source

HEAD = "import torch\nfrom torch import nn\n\n"


def straight(count: int) -> str:
    line = "    x = torch.softmax(x @ x.transpose(1, 2), dim=-1) @ x\n"
    return HEAD + "def attend(x):\n    B, T, D = x.shape\n" + line * count + "    return x\n"


def functions(count: int) -> str:
    body = "    B, T, D = x.shape\n    w = torch.softmax(x @ x.transpose(1, 2), dim=-1)\n    return w @ x\n\n\n"
    return HEAD + "".join(f"def attend_{i}(x):\n{body}" for i in range(count))


def classes(count: int) -> str:
    body = """\
    def __init__(self, d):
        super().__init__()
        self.up = nn.Linear(d, 2 * d)
        self.down = nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


"""
    return HEAD + "".join(f"class Block{i}(nn.Module):\n{body}" for i in range(count))


def driver(count: int) -> str:
    return HEAD + "x = torch.randn(2, 3, 4)\n" + "x = torch.tanh(x) * 2\n" * count


def nested_calls(depth: int) -> str:
    return HEAD + "def f(x):\n    return " + "torch.tanh(" * depth + "x" + ")" * depth + "\n"


def call_chain(depth: int) -> str:
    steps = "".join(f"def f{i}(x):\n    return f{i - 1}(x)\n\n\n" for i in range(1, depth))
    return HEAD + "def f0(x):\n    return x.relu()\n\n\n" + steps


def call_tree(depth: int) -> str:
    steps = "".join(f"def f{i}(x):\n    return f{i - 1}(x) + f{i - 1}(x)\n\n\n" for i in range(1, depth))
    return HEAD + "def f0(x):\n    return x.relu()\n\n\n" + steps


def nested_loops(depth: int) -> str:
    loops = "".join(f"{' ' * (i + 1)}for i{i} in range(x.size(0)):\n" for i in range(depth))
    return HEAD + "def f(x):\n" + loops + " " * (depth + 1) + "x = torch.tanh(x) + x\n return x\n"


def nested_branches(depth: int) -> str:
    tests = "".join(f"{' ' * (i + 1)}if flags[{i}]:\n" for i in range(depth))
    return HEAD + "def f(x, flags):\n" + tests + " " * (depth + 1) + "x = torch.tanh(x)\n return x\n"


def branches(count: int) -> str:
    one = "    if flags[{0}]:\n        x = torch.tanh(x)\n    else:\n        x = x * {0}\n"
    return HEAD + "def f(x, flags):\n" + "".join(one.format(i) for i in range(count)) + "    return x\n"


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], int]:
    """How many expressions are evaluated for a text, in which nothing may be found."""
    steps = 0
    evaluate = Machine.eval

    def counting(self: Machine, node: ir.Expr) -> Value:
        nonlocal steps
        steps += 1
        return evaluate(self, node)

    monkeypatch.setattr(Machine, "eval", counting)

    def measure(text: str) -> int:
        nonlocal steps
        steps = 0
        with room_to_nest():
            analysis = analyse("a.py", text, Settings())
        assert analysis.error is None
        assert analysis.findings == []
        return steps

    return measure


@pytest.mark.parametrize(
    ("write", "size"),
    [
        (straight, 40),
        (functions, 40),
        (classes, 25),
        (driver, 80),
        (nested_calls, 80),
        (branches, 15),
        (nested_branches, 9),
        (nested_loops, 10),
    ],
)
def test_twice_the_text_is_twice_the_work(write: Callable[[int], str], size: int, work: Callable[[str], int]) -> None:
    once, twice = work(write(size)), work(write(2 * size))
    assert size <= once
    assert twice <= 2.2 * once + 20


@pytest.mark.parametrize(
    ("write", "size", "most"),
    [
        (nested_calls, 200, 1_000),
        (nested_loops, 50, 3_000),
        (branches, 30, 1_000),
        (nested_branches, 50, 1_000),
        (call_chain, 100, 20_000),
        (call_tree, 16, 150_000),
    ],
)
def test_deep_code_is_bounded(write: Callable[[int], str], size: int, most: int, work: Callable[[str], int]) -> None:
    assert 0 < work(write(size)) <= most


def test_what_is_unknown_in_two_branches_comes_from_each_event_once() -> None:
    source = Unknown("a call", (3, 5)), Unknown("another", (5, 3))
    joined = join_different(source)
    assert isinstance(joined, Unknown)
    assert joined.events == (3, 5)


@pytest.mark.full
@pytest.mark.parametrize(("write", "lines"), [(functions, 6), (classes, 9)])
def test_twenty_thousand_lines_take_four_times_as_long_as_five_thousand(
    write: Callable[[int], str], lines: int
) -> None:
    short, long = write(5_000 // lines), write(20_000 // lines)
    with collecting_seldom():
        analyse("a.py", functions(10), Settings())
        start = time.process_time()
        analyse("a.py", short, Settings())
        middle = time.process_time()
        assert analyse("a.py", long, Settings()).error is None
        assert time.process_time() - middle <= 8 * (middle - start)


def _library(limit: int | None) -> list[Path]:
    paths = sorted((Path(sysconfig.get_path("stdlib")) / "test").rglob("*.py"))
    return paths if limit is None else random.Random(3).sample(paths, min(limit, len(paths)))


@pytest.mark.parametrize("limit", [6, pytest.param(None, marks=pytest.mark.full)])
def test_nothing_crashes_on_the_tests_of_the_standard_library(limit: int | None) -> None:
    for path in _library(limit):
        source = read_source(path)
        if isinstance(source, Source):
            codes = {f.code for f in analyse(str(path), source.text, Settings()).findings}
            assert codes <= {"SD901"}, path
