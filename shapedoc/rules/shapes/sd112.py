"""SD112 mismatched-mask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.finding import Finding, Severity
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.trace import Event, Operand, Problem, Trace
from shapedoc.core.value import Bool, Int, Tensor
from shapedoc.rules.reading.blame import axis_of, clearest, faulty_call, laid_out, layer_of, problems
from shapedoc.rules.reading.flow import shape_at
from shapedoc.rules.reading.layouts import is_mixed_up
from shapedoc.rules.reading.scores import is_tainted
from shapedoc.rules.reading.sized import atom, equal, made_before, only_if
from shapedoc.rules.reading.wording import call_labels, finding, label, severity_of, shape_text, text_of
from shapedoc.rules.rule import Example, Rule

__all__ = ["RULE"]

_KIND = "mismatched-mask"


@dataclass(frozen=True, slots=True)
class _Mask:
    """A mask that an attention module or function does not take."""

    trace: Trace
    event: Event
    problem: Problem
    operand: Operand
    shape: Shape | None

    @property
    def text(self) -> str:
        return atom(text_of(self.trace, self.operand))

    @property
    def parameter(self) -> str:
        return self.problem.detail.get("mask", "") or self.operand.name

    @property
    def name(self) -> str:
        layer = layer_of(self.event)
        return layer.name if layer is not None and layer.name else self.event.short.removesuffix(".forward")


def check(trace: Trace) -> Iterator[Finding]:
    for event, problem in problems(trace, _KIND):
        severity = severity_of(problem.sameness)
        if severity is None:
            continue
        event, problem = clearest(trace, event, problem)
        operand = event.operand(problem.operands[0]) if problem.operands else None
        if problem.detail.get("why") == "causal":
            if not _is_up_to_caller(event):
                yield _causal(trace, event, problem, operand)
        elif operand is not None and not is_tainted(trace, operand):
            yield _found(_Mask(trace, event, problem, operand, shape_at(event, operand)), severity)


def _found(m: _Mask, severity: Severity) -> Finding:
    actual = shape_text(m.event, m.operand.shape)
    wanted = m.problem.detail.get("wanted", "")
    call = faulty_call(m.trace, m.event, (_KIND,))
    layer = layer_of(m.event)
    why, help_ = _cure(m)
    takes = f"{wanted}" if m.event.op.endswith(".forward") else f"what broadcasts to {wanted}"
    return finding(
        m.trace,
        m.event,
        call.span if call is not None else laid_out(m.trace, m.event, m.operand),
        code=RULE.code,
        name=RULE.name,
        severity=severity,
        message=f"`{m.name}` takes {takes} as `{m.parameter}`, got {actual}",
        tensor=text_of(m.trace, m.operand),
        actual=actual,
        expected=wanted if m.event.op.endswith(".forward") else "",
        labels=label(m.operand.span, f"{text_of(m.trace, m.operand)} is {actual}")
        + (label(layer.span, "built here") if layer is not None else ())
        + made_before(m.trace, m.event, m.operand)
        + call_labels(m.event),
        why=why,
        notes=only_if(m.problem),
        help=help_,
        follows=is_mixed_up(m.trace, m.event),
    )


def _cure(m: _Mask) -> tuple[str, str]:
    """The reason, and one step."""
    padding = m.parameter.replace("attn_mask", "key_padding_mask")
    if padding == m.parameter and m.parameter in ("mask", "src_mask", "tgt_mask", "memory_mask"):
        padding = "src_key_padding_mask" if m.parameter == "mask" else m.parameter.replace("_mask", "_key_padding_mask")
    if _is_padding(m):
        if m.event.op.endswith(".forward"):
            return (
                f"`{m.parameter}` has one row for each query, and is shared by the batch; which keys are padding is "
                f"said in `{padding}`",
                f"{padding}={m.text}",
            )
        return (
            "a mask meets the scores from the right: its first axis lies beside the queries",
            f"{m.text}[:, None, None, :], one row for all heads and queries",
        )
    heads = _heads(m)
    if heads is not None:
        return (
            "a mask of three axes has one matrix for every head of every batch element",
            f"{m.text}.repeat_interleave({heads}, dim=0)",
        )
    if "padding" in m.parameter:
        return (
            "a padding mask has one row for each batch element and one value for each key",
            "build it from the tokens that the keys come from",
        )
    return (
        "a mask of queries and keys has one row for each query and one value for each key",
        f"bring it to {m.problem.detail.get('wanted', 'that shape')}",
    )


def _is_padding(m: _Mask) -> bool:
    """Whether the mask is (batch, keys) where (queries, keys) is taken."""
    shape = m.shape
    if shape is None or shape.rank != 2 or "padding" in m.parameter or m.event.sizes is None:
        return False
    batch = _batch(m)
    return batch is not None and (shape.axes[0].same(batch) or equal(m.event, shape.axes[0], batch))


def _batch(m: _Mask) -> Axis | None:
    """The batch axis of the query."""
    for name in ("query", "src", "tgt"):
        shape = shape_at(m.event, m.event.operand(name))
        if shape is None or not shape.axes or shape.rank is None:
            continue
        layer = layer_of(m.event)
        if layer is None:
            return shape.axes[0] if shape.rank >= 3 else None
        for axis in shape.axes[:-1]:
            if m.event.sizes is not None and m.event.sizes.role(axis, "batch") is not None:
                return axis
        flag = layer.config.get("batch_first")
        if shape.rank == 3 and isinstance(flag, Bool) and flag.value is not None:
            return shape.axes[0 if flag.value else 1]
    return None


def _heads(m: _Mask) -> str | None:
    """The number of heads, where the mask lacks them in its first axis."""
    layer, batch = layer_of(m.event), _batch(m)
    config = layer.config.get("num_heads") if layer is not None else None
    if m.shape is None or m.shape.rank != 3 or batch is None or not isinstance(config, Int) or m.event.sizes is None:
        return None
    first = axis_of(m.event, m.operand, 0)
    if first is None or not equal(m.event, first, batch):
        return None
    return m.event.sizes.show(config.dim)


def _causal_operand(event: Event) -> Operand | None:
    return event.operand("is_causal") or event.operand("tgt_is_causal")


def _is_up_to_caller(event: Event) -> bool:
    """Whether the mask and the flag are both arguments of a function that nobody is seen to call with both."""
    causal, mask = _causal_operand(event), event.operand("attn_mask")
    chosen = causal is not None and isinstance(causal.value, Bool) and causal.value.parameter.endswith("()")
    return chosen and mask is not None and isinstance(mask.value, Tensor) and mask.value.event < 0


def _causal(trace: Trace, event: Event, problem: Problem, operand: Operand | None) -> Finding:
    """`is_causal` beside a mask, or without the mask that it is a hint about."""
    causal = _causal_operand(event)
    name = event.short.removesuffix(".forward")
    both = not event.op.endswith(".forward")
    text = text_of(trace, operand) if operand is not None else ""
    return finding(
        trace,
        event,
        causal.span if causal is not None else None,
        code=RULE.code,
        name=RULE.name,
        severity="error",
        message=f"`{name}` takes a mask or is_causal=True, not both"
        if both
        else f"`{name}` needs `{problem.operands[0] if problem.operands else 'attn_mask'}` beside is_causal=True",
        tensor=text,
        labels=label(event.span, "called here") + call_labels(event),
        why="with is_causal it builds the causal mask itself"
        if both
        else "is_causal is a hint about the mask that is passed",
        help=f"put the causal part into {text or 'the mask'}, and leave is_causal out"
        if both
        else "attn_mask=nn.Transformer.generate_square_subsequent_mask(T)",
    )


RULE = Rule(
    code="SD112",
    name="mismatched-mask",
    severity="error",
    summary="An attention module or function gets a mask of a shape that it does not take.",
    what="Compares `attn_mask`, `key_padding_mask` and `is_causal` with what `nn.MultiheadAttention`, "
    "`nn.Transformer*` and `F.scaled_dot_product_attention` take.",
    why="`attn_mask` is (queries, keys) or (batch * heads, queries, keys), `key_padding_mask` is (batch, keys). A "
    "padding mask passed as `attn_mask` raises, or, where the batch is as large as the sequence is long, hides keys by "
    "the wrong rule.",
    instead="Pass which keys are padding as `key_padding_mask`, repeat a mask of three axes for the heads "
    "(`repeat_interleave`), and give scaled_dot_product_attention a mask with axes for heads and queries.",
    source="PyTorch documentation, torch.nn.MultiheadAttention, torch.nn.functional.scaled_dot_product_attention.",
    bad=(
        Example(
            """\
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)

    def forward(self, x, is_pad):
        batch_size, T, d_model = x.shape
        batch_size, T = is_pad.shape
        output, weights = self.attention(x, x, x, attn_mask=is_pad)  # <- SD112
        return output


tokens = torch.tensor([[4, 2, 7, 0, 0], [3, 9, 1, 5, 0]])
result = Block(8, 2)(torch.randn(2, 5, 8), tokens == 0)
""",
            raises="RuntimeError",
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)

    def forward(self, x, hidden):
        output, weights = self.attention(x, x, x, attn_mask=hidden)  # <- SD112
        return output


hidden = torch.ones(2, 5, 5, dtype=torch.bool).triu(diagonal=1)
result = Block(8, 4)(torch.randn(2, 5, 8), hidden)
""",
            raises="RuntimeError",
        ),
    ),
    good=(
        Example(
            """\
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)

    def forward(self, x, is_pad):
        batch_size, T, d_model = x.shape
        batch_size, T = is_pad.shape
        output, weights = self.attention(x, x, x, key_padding_mask=is_pad)
        return output


tokens = torch.tensor([[4, 2, 7, 0, 0], [3, 9, 1, 5, 0]])
result = Block(8, 2)(torch.randn(2, 5, 8), tokens == 0)
"""
        ),
        Example(
            """\
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)

    def forward(self, x, hidden):
        hidden = hidden.repeat_interleave(self.n_heads, dim=0)
        output, weights = self.attention(x, x, x, attn_mask=hidden)
        return output


hidden = torch.ones(2, 5, 5, dtype=torch.bool).triu(diagonal=1)
result = Block(8, 4)(torch.randn(2, 5, 8), hidden)
"""
        ),
    ),
    check=check,
    fix=(
        "Unsafe, since it changes results: passes the mask as the argument that takes its shape, gives it "
        "the axes that it lacks, or repeats it for every head."
    ),
    kind="both",
)
