"""SD602 batch-first-mixup."""

from __future__ import annotations

from collections.abc import Iterator

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.span import Label
from shapedoc.core.trace import Trace
from shapedoc.rules.layout.half_returned import half_returned
from shapedoc.rules.layout.half_turned import half_turned
from shapedoc.rules.reading.blame import setting_span
from shapedoc.rules.reading.layouts import Evidence, Layout, mixed_up
from shapedoc.rules.reading.wording import call_labels, finding, label, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]


def check(trace: Trace) -> Iterator[Finding]:
    for weight, layout, against in mixed_up(trace).values():
        yield _found(trace, layout, against, "error" if weight > 2 or not layout.explicit else "warning")
    yield from half_returned(trace, RULE.code, RULE.name)
    yield from half_turned(trace, RULE.code, RULE.name)


def _found(trace: Trace, layout: Layout, against: tuple[Evidence, ...], severity: Severity) -> Finding:
    event, text = layout.event, text_of(trace, layout.input)
    actual = shape_text(event, layout.input.shape)
    kind = layout.layer.kind.rpartition(".")[2]
    built = setting_span(trace, layout.layer, "batch_first") if layout.explicit else layout.layer.span
    said = f"with batch_first={layout.first}" if layout.explicit else "without batch_first"
    reason = against[0].text
    axis = 0 if not layout.first else 1
    labels = label(event.span, f"{text} is {actual}") + tuple(
        Label(e.event.span, e.text) for e in against if e.event is not event
    )
    return finding(
        trace,
        event,
        built,
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"`{kind}` {said} takes axis {axis} of {text} for time, but {_short(reason)}",
        tensor=text,
        actual=actual,
        expected=_expected((event.sizes is not None and actual) or "", layout),
        labels=labels + call_labels(event),
        why="the module then runs along the batch, and what belongs to one example flows into the next",
        notes=tuple(e.text for e in against[1:]),
        help=f"build it with batch_first={not layout.first}, or pass {_exchange(text)}",
    )


def _short(text: str) -> str:
    return text if text.startswith("its ") else f"other code {text}"


def _exchange(text: str) -> str:
    return f"({text}).transpose(0, 1)" if any(c in text for c in " +*/@") else f"{text}.transpose(0, 1)"


def _expected(actual: str, layout: Layout) -> str:
    parts = actual.strip("()").split(", ")
    if len(parts) != 3:
        return ""
    return f"({parts[1]}, {parts[0]}, {parts[2]})"


RULE = Rule(
    code="SD602",
    name="batch-first-mixup",
    severity="error",
    summary="A module takes the batch for time and time for the batch.",
    what="Knows from `batch_first` which axis of its input a recurrent module, `nn.MultiheadAttention` or a "
    "`nn.Transformer*` takes for time, and compares that with the author's names for the axes, with what cells and "
    "other modules take them for, with `output[:, -1]`, and with the size of a square mask. Of the two halves of a "
    "state that go one way, both are turned or none.",
    why="`(B, T, d)` into a module built without `batch_first=True` runs: the recurrence, or the attention, goes "
    "over the "
    "examples of the batch. Results depend on what else is in the batch, and the last step is that of the last "
    "example.",
    instead="Build the module with `batch_first=True`, or transpose its input.",
    source="PyTorch documentation, torch.nn.GRU, torch.nn.MultiheadAttention (batch_first, default False).",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Reader(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim)  # <- SD602

    def forward(self, tokens):
        batch_size, seq_len = tokens.shape
        output, _ = self.gru(self.embed(tokens))
        return output[:, -1]


torch.manual_seed(0)
result = Reader(11, 6)(torch.randint(11, (4, 4)))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn

torch.manual_seed(0)
batch_size, seq_len, dim = 3, 3, 6
attention = nn.MultiheadAttention(dim, 2)  # <- SD602
x = torch.randn(batch_size, seq_len, dim)
result, _ = attention(x, x, x)
"""
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Reader(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)

    def forward(self, tokens):
        batch_size, seq_len = tokens.shape
        output, _ = self.gru(self.embed(tokens))
        return output[:, -1]


torch.manual_seed(0)
result = Reader(11, 6)(torch.randint(11, (4, 4)))
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn

torch.manual_seed(0)
batch_size, seq_len, dim = 3, 3, 6
attention = nn.MultiheadAttention(dim, 2, batch_first=True)
x = torch.randn(batch_size, seq_len, dim)
result, _ = attention(x, x, x)
"""
        ),
    ),
    check=check,
    fix="Unsafe, since it changes results: builds the module with `batch_first` as its inputs need it.",
    kind="silent",
)
