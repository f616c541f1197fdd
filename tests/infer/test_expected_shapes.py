"""The models that state no shape: what is inferred of their variables is what the table of expected shapes says.

Names are the author's on one side and the table's on the other, so that only their pattern is compared: one name of
the table is one size of the function, wherever it stands.
"""

from __future__ import annotations

import tomllib
from functools import cache

import pytest

from fixtures.exhibit import ROOT
from shapedoc.core.dim import Dim
from shapedoc.core.trace import Event, Trace
from shapedoc.infer import analyse
from shapedoc.source import lower_ast

TABLE = tomllib.loads((ROOT / "expected_shapes.toml").read_text(encoding="utf-8"))
FUNCTIONS = [(file, function) for file, functions in TABLE.items() for function in functions]
# Nobody says how many axes their parameters have, or their sizes lie behind code that is not followed.
OPEN = frozenset(
    (
        ("correct/student/attn_np.py", "softmax"),
        ("correct/student/attn_np.py", "additive_attention"),
        ("correct/student/attn_np.py", "dot_attention"),
        ("correct/student/attn_np.py", "general_attention"),
        ("correct/student/attn_np_batch.py", "unroll"),
        ("correct/student/sdpa_np.py", "attention"),
        ("correct/student/bahdanau_gru.py", "train_step"),
        ("correct/student/luong_time_first.py", "train"),
        ("correct/student/lstm_seq2seq.py", "loss_fn"),
        ("correct/student/gpt.py", "train_loss"),
        ("correct/student/transformer_mha.py", "Transformer.generate_mask"),
        ("correct/student/transformer_mha.py", "MultiHeadAttention.split_heads"),
        ("correct/student/transformer_mha.py", "MultiHeadAttention.combine_heads"),
        ("correct/student/einops_attn.py", "Attention.forward"),
        ("correct/student/classifier.py", "classify_loss"),
        ("correct/student/rope.py", "rotate_half"),
        ("correct/student/kv_cache_gen.py", "decode"),
        ("correct/student/transformer_time_first.py", "train_batch"),
        ("correct/student/beam.py", "beam_search"),
        ("correct/student/copy_model.py", "loss_of"),
    )
)


@cache
def trace(file: str) -> Trace:
    text = (ROOT / file).read_text(encoding="utf-8")
    return analyse(lower_ast.lower(text), text, file)


def walks(seen: Trace, function: str) -> list[dict[str, Event]]:
    """The last tensor of every variable, for each walk over the function."""
    found: dict[int, dict[str, Event]] = {}
    for event in seen.events:
        if event.function.rpartition(".")[2] in (function, function.rpartition(".")[2]) and event.target:
            found.setdefault(event.calls[-1].id if event.calls else 0, {})[event.target] = event
    return list(found.values())


def differences(variables: dict[str, Event], expected: dict[str, str]) -> list[str]:
    """What of the table a walk does not bear out."""
    names: dict[str, Dim] = {}
    wrong = []
    for name, text in expected.items():
        event = variables.get(name)
        if event is None or event.shape is None or event.sizes is None:
            continue
        shape = event.sizes.shape(event.shape)
        sizes = [part.strip() for part in text.strip("()").split(",") if part.strip()]
        if shape.rank != len(sizes):
            wrong.append(f"{name}: {event.sizes.show_shape(shape)} for {text}")
            continue
        for axis, size in zip(shape.axes, sizes, strict=True):
            dim = event.sizes.resolve(axis.dim)
            if size.isidentifier() and names.setdefault(size, dim) != dim:
                wrong.append(f"{name}: {event.sizes.show_shape(shape)} for {text}, where {size} was {names[size]}")
    return wrong


def is_borne_out(file: str, function: str) -> bool:
    """Whether some walk over a function gives all of its variables that an operation made, and there are any."""
    expected = TABLE[file][function]
    found = [variables for variables in walks(trace(file), function) if variables.keys() & expected.keys()]
    return any(differences(variables, expected) == [] for variables in found)


@pytest.mark.parametrize(("file", "function"), [pair for pair in FUNCTIONS if pair not in OPEN])
def test_what_is_inferred_is_what_the_table_says(file: str, function: str) -> None:
    assert is_borne_out(file, function), [differences(v, TABLE[file][function]) for v in walks(trace(file), function)]


def test_what_is_left_open_is_open() -> None:
    assert set(FUNCTIONS) >= OPEN
    assert [pair for pair in sorted(OPEN) if is_borne_out(*pair)] == []
