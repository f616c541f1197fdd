"""The models that state no shape: what is inferred of their variables is what the table of expected shapes says.

Names are the author's on one side and the table's on the other, so that only their pattern is compared: one name of
the table is one size of the function, wherever it stands.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

import pytest

from fixtures.exhibit import ROOT
from shapedoc.core.dim import Dim
from shapedoc.core.shape import Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.value import Tensor, Value
from shapedoc.infer import analyse
from shapedoc.infer.machine import Machine
from shapedoc.infer.stated.statements import Statements
from shapedoc.infer.values import Function, Symbolic
from shapedoc.source import lower_ast

TABLE = tomllib.loads((ROOT / "expected_shapes.toml").read_text(encoding="utf-8"))
FUNCTIONS = [(file, function) for file, functions in TABLE.items() for function in functions]
# Nobody says how many axes their parameters have, whether an axis of a mask is 1, or what the model is that they call.
OPEN = frozenset(
    (
        ("correct/student/attn_np.py", "softmax"),
        ("correct/student/attn_np.py", "additive_attention"),
        ("correct/student/attn_np.py", "dot_attention"),
        ("correct/student/attn_np.py", "general_attention"),
        ("correct/student/attn_np_batch.py", "unroll"),
        ("correct/student/sdpa_np.py", "attention"),
        ("correct/student/bahdanau_gru.py", "train_step"),
        ("correct/student/kv_cache_gen.py", "decode"),
        ("correct/student/transformer_time_first.py", "train_batch"),
        ("correct/student/copy_model.py", "loss_of"),
    )
)


@dataclass(frozen=True, slots=True)
class End:
    """The end of one call of a function: its tensors, which of them are its parameters, and what is known of sizes."""

    function: str
    tensors: dict[str, Shape]
    parameters: frozenset[str]
    sizes: Sizes


@cache
def ends(file: str) -> tuple[End, ...]:
    """Every call of a function in a file, as the analysis leaves it."""
    found: list[End] = []
    returned = Statements.returned

    def noting(self: Statements, m: Machine, function: Function, value: Value) -> Value:
        values = {
            name: v.as_tensor() if isinstance(v, Symbolic) and v.used_as_tensor else v
            for name, v in m.frame.variables.items()
        }
        tensors = {name: v.shape for name, v in values.items() if isinstance(v, Tensor)}
        found.append(End(function.name, tensors, frozenset(p.name for p in function.node.params), m.sizes))
        return returned(self, m, function, value)

    text = (ROOT / file).read_text(encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Statements, "returned", noting)
        analyse(lower_ast.lower(text), text, file)
    return tuple(found)


def differences(end: End, expected: dict[str, str]) -> list[str]:
    """What of the table a call does not bear out; a parameter may have any number of axes where that is not known."""
    names: dict[str, Dim] = {}
    wrong = []
    for name, text in expected.items():
        if name not in end.tensors:
            wrong.append(f"{name}: no tensor for {text}")
            continue
        shape = end.sizes.shape(end.tensors[name])
        if shape.rank is None and name in end.parameters:
            continue
        sizes = [part.strip() for part in text.strip("()").split(",") if part.strip()]
        if shape.rank != len(sizes):
            wrong.append(f"{name}: {end.sizes.show_shape(shape)} for {text}")
            continue
        for axis, size in zip(shape.axes, sizes, strict=True):
            dim = end.sizes.resolve(axis.dim)
            known = names.setdefault(size, dim) if size.isidentifier() else dim
            if known != dim and (dim.value is None or dim.value != known.value):
                wrong.append(f"{name}: {end.sizes.show_shape(shape)} for {text}, where {size} was {known}")
    return wrong


def is_borne_out(file: str, function: str) -> bool:
    """Whether some call of a function leaves its variables as the table says, and something of them is known."""
    expected = TABLE[file][function]
    return any(
        any(end.sizes.shape(end.tensors[name]).rank is not None for name in expected if name in end.tensors)
        and differences(end, expected) == []
        for end in ends(file)
        if end.function == function
    )


@pytest.mark.parametrize(("file", "function"), [pair for pair in FUNCTIONS if pair not in OPEN])
def test_what_is_inferred_is_what_the_table_says(file: str, function: str) -> None:
    left = [differences(end, TABLE[file][function]) for end in ends(file) if end.function == function]
    assert is_borne_out(file, function), left


def test_what_is_left_open_is_open() -> None:
    assert set(FUNCTIONS) >= OPEN
    assert [pair for pair in sorted(OPEN) if is_borne_out(*pair)] == []
