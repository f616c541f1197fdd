"""The protocol: what goes in comes out, and nothing hostile is believed."""

from __future__ import annotations

import io
import json
import pickle
import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapedoc.grade.jail.wire import BadFrame, FrameReader, TooMuch, decode_plan, encode_plan, frame, npy
from shapedoc.grade.plan import Build, Call, Decode, Plan, Ref, Train

LIMIT = 1 << 20


def test_a_plan_comes_out_as_it_went_in() -> None:
    build = Build("m", "Model", (3, "a", None), {"d": 2.5}, load={"w.weight": np.eye(2)}, seed=4)
    steps = (
        build,
        Call("c", "m.f", ((np.ones(2), [1, True]), Ref("m", (0, "x"))), {"k": {"a": np.zeros((0, 3))}}, wrt=(0, "k")),
        Train("t", Build("b", "Model"), {"source": np.arange(6).reshape(1, 2, 3)}, np.zeros((1, 2, 3), int), 0.1),
        Decode("d", "t", np.ones((2, 3), int), None, 1, 4),
    )
    source, plan = decode_plan(encode_plan("def f(): 'é\ud800'\n", Plan(steps, seed=9)))
    assert source == "def f(): 'é\ud800'\n"
    assert plan.seed == 9
    made, call, train, decode = plan.steps
    assert isinstance(made, Build)
    assert made.load is not None
    assert (made.args, made.kwargs, made.seed) == ((3, "a", None), {"d": 2.5}, 4)
    np.testing.assert_array_equal(made.load["w.weight"], np.eye(2))
    assert isinstance(call, Call)
    assert call.args[1] == Ref("m", (0, "x"))
    assert call.wrt == (0, "k")
    assert isinstance(train, Train)
    assert train.build.target == "Model"
    assert isinstance(decode, Decode)
    assert decode.names == ("source", "target", "lengths")


@given(st.lists(st.sampled_from(["<f4", "<f8", "<i8", "|b1", "<c8"]), max_size=4), st.integers(1, 50))
def test_frames_come_in_pieces(types: list[str], piece: int) -> None:
    arrays = [np.arange(6).reshape(2, 3).astype(each) for each in types]
    data = frame({"id": "a"}, [npy(each) for each in arrays]) + frame({"end": True})
    reader = FrameReader(LIMIT)
    got = [whole for start in range(0, len(data), piece) for whole in reader.feed(data[start : start + piece])]
    assert [record.get("id") for record, _ in got] == ["a", None]
    for mine, theirs in zip(arrays, got[0][1], strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


def _head(shape: str, descr: str = "'<f8'") -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def _with(blob: bytes) -> bytes:
    return frame({"id": "a"}, [blob])


OBJECTS = io.BytesIO()
np.save(OBJECTS, np.array([{}], dtype=object), allow_pickle=True)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff" * 4096,
        struct.pack(">I", 4) + b"nope",
        struct.pack(">I", 2) + b"[]",
        struct.pack(">I", 13) + b'{"sizes":[0]}',
        struct.pack(">I", 14) + b'{"sizes":[-1]}',
        struct.pack(">I", 16) + b'{"sizes":[true]}',
        struct.pack(">I", 60_000) + b"[" * 60_000,
        _with(OBJECTS.getvalue()),
        _with(pickle.dumps([1])),
        _with(_head("(1000000000000,)")),
        _with(_head("(-1,)") + b"\0" * 8),
        _with(_head("(1,)", "'|O'") + b"\0" * 8),
        _with(_head("(1,)", "[('a', '<f8')]") + b"\0" * 8),
        _with(_head("(1,)", "'|S8'") + b"\0" * 8),
        _with(_head("(1,)", "'<M8[s]'") + b"\0" * 8),
        _with(_head("(True,)") + b"\0" * 8),
        _with(_head("(1.0,)") + b"\0" * 8),
        _with(_head("(" + "1," * 40 + ")") + b"\0" * 8),
        _with(_head("(" * 900 + ")" * 900) + b"\0" * 8),
        _with(_head("(2,)") + b"\0" * 8),
        _with(b"\x93NUMPY\x02\x00" + b"\0" * 40),
    ],
)  # fmt: skip
def test_nothing_hostile_is_believed(data: bytes) -> None:
    with pytest.raises(BadFrame):
        list(FrameReader(LIMIT).feed(data))


def test_more_than_allowed_is_refused_before_it_is_held() -> None:
    with pytest.raises(TooMuch):
        list(FrameReader(100).feed(b"\0" * 101))
    announced = json.dumps({"sizes": [1 << 40]}).encode()
    with pytest.raises(TooMuch):
        list(FrameReader(LIMIT).feed(struct.pack(">I", len(announced)) + announced))


@given(st.binary(max_size=300))
def test_any_bytes_give_frames_or_badframe(data: bytes) -> None:
    with suppress(BadFrame):
        list(FrameReader(LIMIT).feed(data))
