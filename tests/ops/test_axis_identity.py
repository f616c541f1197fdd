"""What modules and einops pass on besides sizes: the identity of axes, their factors, and their roles."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from shapedoc.core.dim import ONE, Dim, Sym
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.sizes import Kind, Sizes
from shapedoc.core.span import Span
from shapedoc.core.trace import Problem
from shapedoc.core.value import Bool, Int, Layer, NoneValue, Seq, Str, Tensor, Value
from shapedoc.core.verdict import Conflict, Verdict
from shapedoc.ops import Arguments, evaluate, find, find_layer
from shapedoc.ops.calling.bind import build_layer
from shapedoc.ops.packed import is_packed

B, T, S, D, H = (Dim.of(Sym(name)) for name in "BTSDH")


def forward(sizes: Sizes, kind: str, init: list[Value], *args: Value, **options: Value) -> Verdict:
    entry = find_layer(kind)
    assert entry is not None
    layer = Layer(kind, build_layer(entry, Arguments(init, options)), Span(1, 0, 1, 0))
    return evaluate(entry.forward, Arguments(args, {}), sizes, 7, layer).verdict


def call(sizes: Sizes, name: str, *args: Value, **keywords: Value) -> Verdict:
    op = find(name)
    assert op is not None
    return evaluate(op, Arguments(args, keywords), sizes, 7).verdict


def axes_of(value: Value) -> tuple[Axis, ...]:
    assert isinstance(value, Tensor)
    return value.shape.axes


def tensor(*dims: Dim, kind: str = "float") -> Tensor:
    return Tensor(Shape.of(*dims), kind="float" if kind == "float" else "int")


def pair(verdict: Verdict) -> tuple[Value, Value]:
    assert isinstance(verdict.value, Seq)
    first, second = verdict.value.items
    return first, second


def problems(verdict: Verdict) -> tuple[Problem, ...]:
    return verdict.problems if isinstance(verdict, Conflict) else ()


def test_a_linear_map_keeps_its_rows_and_makes_a_feature() -> None:
    sizes, x = Sizes(), tensor(B, T, D)
    out = axes_of(forward(sizes, "torch.nn.Linear", [Int(D), Int(H)], x).value)
    assert out[:2] == x.shape.axes[:2]
    assert not out[2].same(x.shape.axes[2])
    assert sizes.role(out[2], "feature") == sizes.role(x.shape.axes[2], "feature") == 7
    assert sizes.role(out[0], "row") == sizes.role(out[1], "row") == 7
    assert sizes.role(out[0], "feature") is None


@pytest.mark.parametrize("batch_first", [True, False])
def test_a_recurrent_module_marks_batch_and_time_as_it_takes_them(batch_first: bool) -> None:
    sizes, x = Sizes(), tensor(B, T, D)
    verdict = forward(sizes, "torch.nn.GRU", [Int(D), Int(H)], x, batch_first=Bool(batch_first))
    output, h_n = pair(verdict)
    batch, time = x.shape.axes[:2] if batch_first else x.shape.axes[1::-1]
    assert sizes.role(batch, "batch") == sizes.role(time, "time") == 7
    assert sizes.role(batch, "time") is None
    assert axes_of(output)[:2] == x.shape.axes[:2]
    assert axes_of(h_n)[1] is batch
    assert axes_of(h_n)[0].dim == ONE
    assert not axes_of(h_n)[0].visible


def test_directions_and_layers_are_factors() -> None:
    init: list[Value] = [Int(D), Int(H), Int(Dim.of(2))]
    output, states = pair(forward(Sizes(), "torch.nn.LSTM", init, tensor(T, B, D), bidirectional=Bool(True)))
    last = axes_of(output)[-1]
    assert last.dim == 2 * H
    assert [f.dim for f in last.factors] == [Dim.of(2), H]
    assert isinstance(states, Seq)
    first = axes_of(states.items[0])[0]
    assert first.dim == 4
    assert [f.dim for f in first.factors] == [Dim.of(2), Dim.of(2)]


def test_attention_weights_have_the_axes_of_batch_queries_and_keys() -> None:
    sizes, query, key = Sizes(), tensor(B, T, D), tensor(B, S, D)
    verdict = forward(
        sizes, "torch.nn.MultiheadAttention", [Int(D), Int(Dim.of(8))], query, key, key, batch_first=Bool(True)
    )
    output, weights = pair(verdict)
    assert axes_of(output)[:2] == query.shape.axes[:2]
    batch, queries, keys = axes_of(weights)
    assert batch.same(query.shape.axes[0])
    assert batch.same(key.shape.axes[0])
    assert queries is query.shape.axes[1]
    assert keys is key.shape.axes[1]


def test_a_packed_sequence_comes_back_in_either_layout() -> None:
    sizes, x = Sizes(), tensor(B, T, D)
    lengths = Tensor(Shape.of(B), kind="int")
    packed = call(sizes, "torch.nn.utils.rnn.pack_padded_sequence", x, lengths, batch_first=Bool(True)).value
    output, h_n = pair(forward(sizes, "torch.nn.GRU", [Int(D), Int(H)], packed))
    assert isinstance(output, Tensor)
    assert is_packed(output)
    assert axes_of(h_n)[1] is x.shape.axes[0]
    padded, counted = pair(call(sizes, "torch.nn.utils.rnn.pad_packed_sequence", output, batch_first=Bool(True)))
    assert axes_of(padded)[:2] == x.shape.axes[:2]
    assert axes_of(counted) == x.shape.axes[:1]


def rearranged(x: Tensor, pattern: str, lengths: Mapping[str, Value] | None = None) -> tuple[Axis, ...]:
    return axes_of(call(Sizes(), "einops.rearrange", x, Str(pattern), **(lengths or {})).value)


def test_axes_that_einops_joins_come_apart_again() -> None:
    x = tensor(B, T, H, D)
    joined = rearranged(x, "b t h d -> b t (h d)")
    assert joined[2].dim == H * D
    assert joined[2].factors == x.shape.axes[2:]
    again = rearranged(Tensor(Shape(joined)), "b t (h d) -> b h t d", {"h": Int(H)})
    assert again == (x.shape.axes[0], x.shape.axes[2], x.shape.axes[1], x.shape.axes[3])


def test_axes_joined_the_other_way_round_do_not_come_apart() -> None:
    x = tensor(B, H, D)
    joined = rearranged(x, "b h d -> b (d h)")
    again = rearranged(Tensor(Shape(joined)), "b (h d) -> b h d", {"h": Int(H)})
    assert [a.dim for a in again] == [B, H, D]
    assert not again[1].same(x.shape.axes[1])


def test_a_repeated_one_is_visible_and_a_batch_of_one_is_not() -> None:
    x = tensor(B, D)
    out = axes_of(call(Sizes(), "einops.rearrange", x, Str("b d -> b 1 d")).value)
    assert out[1].visible
    assert not axes_of(call(Sizes(), "einops.repeat", x, Str("b d -> b t d"), t=Int(T)).value)[1].visible


def test_a_length_that_is_divided_is_one_size_with_its_quotient() -> None:
    sizes, x = Sizes(), tensor(B, T, D)
    out = axes_of(call(sizes, "einops.rearrange", x, Str("b t (h d) -> b h t d"), h=Int(H)).value)
    assert sizes.resolve(out[1].dim * out[3].dim) == sizes.resolve(D)


def test_a_loss_that_broadcasts_is_reported_and_one_that_cannot_is_loud() -> None:
    sizes = Sizes()
    sizes.apart(B, T)
    verdict = call(sizes, "torch.nn.functional.mse_loss", tensor(B, ONE), tensor(B))
    assert [(p.kind, p.loud, p.detail["result"]) for p in problems(verdict)] == [("loss-broadcast", False, "(B, B)")]
    assert not problems(call(sizes, "torch.nn.functional.mse_loss", tensor(B, T), tensor()))
    wrong = call(sizes, "torch.nn.functional.cross_entropy", tensor(B, T, D), tensor(B, T, kind="int"))
    (problem,) = problems(wrong)
    assert (problem.kind, problem.sizes, problem.detail["class_axis"]) == ("mismatched-loss", ("D", "T"), "1")
    assert problem.sameness is not None
    assert problem.sameness.kind is Kind.ONLY_IF


def test_a_feature_is_no_position_of_a_target_even_across_functions() -> None:
    sizes = Sizes()
    steps = Dim.of(Sym("steps", flexible=True, owner="forward"))
    logits = forward(sizes, "torch.nn.Linear", [Int(D), Int(H)], tensor(B, steps, D)).value
    (problem,) = problems(call(sizes, "torch.nn.functional.cross_entropy", logits, tensor(B, steps, kind="int")))
    assert problem.axes == (2, 1)
    assert problem.sameness is not None
    assert problem.sameness.wrong
    assert sizes.resolve(steps) == steps


def test_a_module_without_an_axis_says_which_one_it_takes() -> None:
    verdict = forward(Sizes(), "torch.nn.Softmax", [], tensor(B, T, D))
    (problem,) = problems(verdict)
    assert (problem.kind, problem.axes, problem.loud) == ("implicit-softmax-axis", (0,), False)
    assert not problems(forward(Sizes(), "torch.nn.Softmax", [], Tensor(Shape.unknown())))
    assert not problems(forward(Sizes(), "torch.nn.Softmax", [], tensor(B, T, D), dim=Int(Dim.of(-1))))


def test_patches_of_an_image_are_counted_as_floor_division_counts_them() -> None:
    sizes, image, patch = Sizes(), Dim.of(Sym("image")), Dim.of(16)
    x = tensor(B, Dim.of(3), image, image)
    verdict = forward(sizes, "torch.nn.Conv2d", [Int(Dim.of(3)), Int(D), Int(patch)], x, stride=Int(patch))
    count = sizes.floordiv(image, patch)
    assert [sizes.resolve(a.dim) for a in axes_of(verdict.value)] == [B, D, count, count]


def test_unused_masks_are_no_fault() -> None:
    sizes, x = Sizes(), tensor(B, T, D)
    verdict = forward(
        sizes, "torch.nn.TransformerEncoderLayer", [Int(D), Int(Dim.of(2))], x, NoneValue(), batch_first=Bool(True)
    )
    assert axes_of(verdict.value)[:2] == x.shape.axes[:2]
    assert not problems(verdict)


def test_a_gated_axis_is_the_one_that_was_gated() -> None:
    sizes, x = Sizes(), tensor(B, D * 2, T)
    out = axes_of(call(sizes, "torch.nn.functional.glu", x, Int(Dim.of(1))).value)
    assert out[1].same(x.shape.axes[1])
    assert sizes.resolve(out[1].dim) == D
