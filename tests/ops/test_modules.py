"""What layers know besides the shape of their output: their parameters, and how little they need to be told."""

from __future__ import annotations

from random import Random

import pytest
import torch

from shapedoc.core.shape import Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.span import Span
from shapedoc.core.value import Layer, Tensor, Value
from shapedoc.core.value import Unknown as UnknownValue
from shapedoc.core.verdict import Lost, Unknown
from shapedoc.ops import Arguments, evaluate, table
from shapedoc.ops.calling.bind import build_layer
from tests.ops import oracle, subject
from tests.ops.drawing import Call
from tests.ops.test_against_torch import ENTRIES, drawn, falsehood, said, shown

LAYERS = [entry for entry in ENTRIES if entry[3]]
# A lazy module has no parameters before its first call.
LEARNED = [e for e in LAYERS if table()[1][e[0]].parameters is not None and "Lazy" not in e[0]]


@pytest.mark.parametrize("entry", LEARNED, ids=[e[0] for e in LEARNED])
def test_parameters_are_those_of_the_real_module(entry: tuple[str, tuple[str, ...], str, bool]) -> None:
    kind = entry[0]
    parameters = table()[1][kind].parameters
    assert parameters is not None
    for _, call, _, result in drawn(*entry):
        if isinstance(result, oracle.Raised):
            continue
        sizes = Sizes()
        found = parameters(Layer(kind, config_of(call, kind), Span(1, 0, 1, 0)), sizes)
        real = tensors_of(oracle.built(kind, call))
        for name, tensor in found.items():
            shape = tuple(a.dim.const for a in sizes.shape(tensor.shape).axes)
            assert name in real, f"{shown(kind, call)}: no `{name}`"
            assert len(shape) == len(real[name]), f"{shown(kind, call)}: {name} {shape}, not {real[name]}"
            pairs = zip(shape, real[name], strict=True)
            assert all(ours in (None, theirs) for ours, theirs in pairs), f"{shown(kind, call)}: {name} {shape}"
            assert tensor.learned
        missing = {n for n in real if "." not in n and n != "num_batches_tracked"} - set(found)
        assert not missing, f"{shown(kind, call)}: {missing}"


def config_of(call: Call, kind: str) -> dict[str, Value]:
    arguments = Arguments(subject.values(call.init), subject.named(call.options))
    return dict(build_layer(table()[1][kind], arguments))


def tensors_of(module: object) -> dict[str, tuple[int, ...]]:
    assert isinstance(module, torch.nn.Module)
    named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {name: tuple(t.shape) for name, t in named.items() if not isinstance(t, torch.nn.UninitializedParameter)}


@pytest.mark.parametrize("entry", LAYERS, ids=[e[0] for e in LAYERS])
def test_says_nothing_false_of_a_layer_built_of_the_unknown(entry: tuple[str, tuple[str, ...], str, bool]) -> None:
    """With some settings and some of its inputs unknown, a layer that works raises no alarm."""
    kind = entry[0]
    layer_op = table()[1][kind]
    for i, (_, call, _, result) in enumerate(drawn(*entry)):
        if isinstance(result, oracle.Raised):
            continue
        random, hidden = Random(f"{kind} {i}"), subject.Hidden(f"{kind} {i}")
        init = [veiled(v, random) for v in subject.values(call.init)]
        options = {k: veiled(v, random) for k, v in subject.named(call.options).items()}
        # A tensor without axes is left as it is: that `dim=0` of one exists is taken to be more.
        inputs = [
            veiled(subject.veiled(v, hidden), random, 0.0 if isinstance(v, Tensor) and not v.shape.items else 0.2)
            for v in subject.values(call.args)
        ]
        keywords = {k: subject.veiled(v, hidden) for k, v in subject.named(call.kwargs).items()}
        sizes = Sizes()
        try:
            module = Layer(kind, build_layer(layer_op, Arguments(init, options)), Span(1, 0, 1, 0))
        except Lost:
            continue
        verdict = evaluate(layer_op.forward, Arguments(inputs, keywords), sizes, 1, module).verdict
        ours = subject.Answer(verdict, sizes, hidden.numbers)
        assert not ours.loud, f"{shown(kind, call)} works, but we say {said(ours)}"
        if not isinstance(verdict, Unknown):
            assert not falsehood(ours, verdict.value, result), shown(kind, call)


def veiled(value: Value, random: Random, share: float = 0.4) -> Value:
    return UnknownValue("hidden") if random.random() < share else value


def test_an_unknown_size_of_a_layer_is_one_size_in_all_its_calls() -> None:
    kind = "torch.nn.Linear"
    entry = table()[1][kind]
    layer = Layer(kind, build_layer(entry, Arguments([UnknownValue("?"), UnknownValue("?")], {})), Span(1, 0, 1, 0))
    sizes = Sizes()
    outputs = []
    for _ in range(2):
        value = evaluate(entry.forward, Arguments([Tensor(Shape.of(2, 5))], {}), sizes, 1, layer).verdict.value
        assert isinstance(value, Tensor)
        outputs.append(sizes.shape(value.shape).axes[-1].dim)
    assert outputs[0] == outputs[1]
    wrong = evaluate(entry.forward, Arguments([Tensor(Shape.of(2, 7))], {}), sizes, 1, layer).verdict
    assert subject.Answer(wrong, sizes, {}).loud
