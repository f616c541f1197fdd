"""What a class asks of its constructor's parameters: other answers are walked where they may show something new."""

from __future__ import annotations

import pytest

from shapedoc.infer import analyse
from shapedoc.source import lower_ast

SCORER = """\
import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self, d, wide=False):
        super().__init__()
        self.wide = wide
        self.near = nn.Linear(d, d)
        self.far = nn.Linear(d, 2 * d)

    def forward(self, x):
{padding}
        if self.wide:
            return torch.tanh(self.far(x))
        return torch.relu(self.near(x))
"""
CALLER = """

def both(x):
    return Scorer(6, True)(x), Scorer(6, False)(x)


both(torch.randn(2, 3, 6))
"""
DEAR = "        x = x + 0 * x * 1 - 0\n" * 60


def walked(text: str, short: str) -> list[str]:
    """The functions that the calls of an operation lie in, outermost first, one for each event."""
    trace = analyse(lower_ast.lower(text), text, "a.py")
    return [event.calls[0].function for event in trace.events if event.short == short]


def test_the_other_answer_is_walked() -> None:
    assert walked(SCORER.format(padding=""), "tanh") == ["Scorer.forward"]
    assert walked(SCORER.format(padding=""), "relu") == ["Scorer.forward"]


def test_a_cheap_class_is_walked_with_every_answer_by_itself() -> None:
    assert "Scorer.forward" in walked(SCORER.format(padding="") + CALLER, "tanh")


def test_a_dear_class_is_not_where_a_caller_decided_both_ways() -> None:
    assert walked(SCORER.format(padding=DEAR), "tanh") == ["Scorer.forward"]
    assert set(walked(SCORER.format(padding=DEAR) + CALLER, "tanh")) == {"both"}


def test_a_very_dear_class_is_walked_once() -> None:
    assert walked(SCORER.format(padding=DEAR * 5), "tanh") == []
    assert walked(SCORER.format(padding=DEAR * 5), "relu") == ["Scorer.forward"]


FLAGGED = """\
from torch import nn


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.near = nn.Linear(d, d)

    def forward(self, x, training=True):
        x = self.near(x)
        if not training:
            return x.tanh()
        return x.relu()
"""


def test_the_other_value_of_a_flag_of_forward_is_walked() -> None:
    assert walked(FLAGGED, "relu") == ["Model.forward"]
    assert walked(FLAGGED, "tanh") == ["Model.forward"]
    assert walked(FLAGGED.replace("not training", "training"), "tanh") == ["Model.forward"]


REFUSED = """\
import torch
from torch import nn


class Loss(nn.Module):
    def __init__(self, drop=True, weigh=False):
        super().__init__()
        {check}
        self.drop, self.weigh = drop, weigh

    def forward(self, x):
        if self.drop:
            x = torch.relu(x)
        if self.weigh:
            x = torch.tanh(x)
        return x
"""


@pytest.mark.parametrize(
    "check",
    ["assert not (drop and weigh)", 'if drop and weigh:\n            raise ValueError("one of the two")'],
)
def test_what_a_constructor_refuses_is_walked_with_the_other_setting_off(check: str) -> None:
    def ways(check: str) -> set[tuple[str, ...]]:
        text = REFUSED.format(check=check)
        trace = analyse(lower_ast.lower(text), text, "a.py")
        return {tuple(e.short for e in trace.events[start:end]) for _, start, end, _ in trace.entries if end > start}

    assert ways("pass") == {("relu",), ("relu", "tanh")}
    assert ways(check) == {("relu",), ("tanh",)}


def test_what_is_refused_with_every_setting_is_not_walked() -> None:
    text = REFUSED.format(check="assert not weigh")
    assert walked(text, "relu") == ["Loss.forward"]
    assert walked(text, "tanh") == []
