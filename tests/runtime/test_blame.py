"""Who is wrong: single faults injected into right calls; never the wrong argument, and a tie is called one."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from shapedoc.runtime.blame import blame
from shapedoc.source.contracts import DimExpr
from shapedoc.source.contracts.jaxtyping import read_string

Shapes = dict[str, tuple[int, ...]]

# For each function: what its parameters state, right sizes, and the names that its weights fix.
SIGNATURES: dict[str, tuple[dict[str, str], dict[str, int], tuple[str, ...]]] = {
    "additive": (
        {"s_prev": "B 1 d_s", "h": "B T d_h", "W_a": "d_s d_attn", "U_a": "d_h d_attn", "v_a": "d_attn"},
        {"B": 7, "T": 11, "d_s": 5, "d_h": 13, "d_attn": 17},
        ("d_s", "d_h", "d_attn"),
    ),
    "scaled_dot_product": (
        {"q": "B H T_dec d_k", "k": "B H T_enc d_k", "v": "B H T_enc d_v", "mask": "B T_enc"},
        {"B": 3, "H": 2, "T_dec": 5, "T_enc": 7, "d_k": 11, "d_v": 13},
        ("H", "d_k", "d_v"),
    ),
    "multi_head": (
        {"x": "B T d", "W_q": "d d_inner", "W_k": "d d_inner", "W_v": "d d_inner", "W_o": "d_inner d"},
        {"B": 3, "T": 7, "d": 10, "d_inner": 12},
        ("d", "d_inner"),
    ),
    "luong": (
        {"s_t": "B d_s", "memory": "B T d_h", "W": "d_s d_h", "lengths": "B"},
        {"B": 5, "T": 7, "d_s": 6, "d_h": 11},
        ("d_s", "d_h"),
    ),
    "cell": (
        {"y": "B d_emb", "state": "B d_s", "context": "B d_h", "W": "d_s d_s", "U": "d_emb+d_h d_s"},
        {"B": 4, "d_emb": 3, "d_s": 6, "d_h": 9},
        ("d_emb", "d_s", "d_h"),
    ),
}


def specs_of(name: str) -> dict[str, tuple[DimExpr, ...]]:
    found: dict[str, tuple[DimExpr, ...]] = {}
    for parameter, text in SIGNATURES[name][0].items():
        read = read_string(text)
        assert not isinstance(read, str)
        found[parameter] = read
    return found


def shapes_of(name: str) -> Shapes:
    stated, sizes, _ = SIGNATURES[name]
    return {p: tuple(int(eval(d, {}, sizes)) for d in text.split()) for p, text in stated.items()}


def faults(name: str, deltas: tuple[int, ...]) -> Iterator[tuple[str, Shapes]]:
    """Every argument with one thing wrong: a size, two axes exchanged, an axis too many."""
    right = shapes_of(name)
    for parameter, shape in right.items():
        for i, size in enumerate(shape):
            for delta in deltas:
                if size + delta > 0:
                    yield parameter, {**right, parameter: (*shape[:i], size + delta, *shape[i + 1 :])}
        if len(shape) >= 2:
            yield parameter, {**right, parameter: (*shape[:-2], shape[-1], shape[-2])}
        if len(shape) == 3:
            yield parameter, {**right, parameter: (shape[1], shape[0], shape[2])}
        yield parameter, {**right, parameter: (1, *shape)}


def drawn() -> list[tuple[str, str, Shapes]]:
    """All single faults of additive attention, and 100 of the other four functions."""
    first = [("additive", *fault) for fault in faults("additive", (1,))]
    others = [(name, *f) for name in SIGNATURES if name != "additive" for f in faults(name, (-1, 1, 2))]
    return first + random.Random(0).sample(others, 100)


@pytest.mark.parametrize("history", ["none", "weights", "every size"])
def test_no_fault_is_blamed_on_another_argument(history: str) -> None:
    exact = tie = 0
    for name, guilty, shapes in drawn():
        _, sizes, fixed = SIGNATURES[name]
        known = {n: sizes[n] for n in fixed} if history == "weights" else sizes if history == "every size" else {}
        verdict = blame(specs_of(name), shapes, {}, known)
        if verdict is None:
            continue  # Another T is as right as the first where one argument alone has it.
        assert (guilty,) in verdict.candidates, (name, guilty, shapes, verdict)
        exact += not verdict.is_tie
        tie += verdict.is_tie
    assert exact / (exact + tie) >= {"none": 0.7, "weights": 0.95, "every size": 1.0}[history]


def test_right_calls_blame_nobody() -> None:
    for name in SIGNATURES:
        assert blame(specs_of(name), shapes_of(name), {}) is None


def test_two_that_disagree_and_no_third_are_a_tie() -> None:
    verdict = blame({"a": _dims("B d"), "b": _dims("B k")}, {"a": (3, 5), "b": (4, 6)}, {})
    assert verdict is not None
    assert verdict.candidates == (("a",), ("b",))
    assert verdict.is_tie


def test_a_third_that_agrees_with_one_decides() -> None:
    specs = {"a": _dims("B d"), "b": _dims("B k"), "c": _dims("B")}
    verdict = blame(specs, {"a": (3, 5), "b": (4, 6), "c": (3,)}, {})
    assert verdict is not None
    assert verdict.candidates == (("b",),)
    assert verdict.known["B"] == 3


def test_earlier_calls_do_not_outvote_a_whole_batch_of_another_size() -> None:
    specs = {"a": _dims("B d"), "b": _dims("B k"), "c": _dims("B T")}
    verdict = blame(specs, {"a": (4, 5), "b": (4, 6), "c": (3, 7)}, {}, {"B": 9})
    assert verdict is not None
    assert verdict.candidates == (("c",),)


def _dims(text: str) -> tuple[DimExpr, ...]:
    read = read_string(text)
    assert not isinstance(read, str)
    return read
