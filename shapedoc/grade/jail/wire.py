"""The protocol between the parent and a child: bounded frames of JSON and raw ``.npy``; nothing is ever unpickled.

A frame is its JSON's length (4 bytes, big-endian), the JSON, and the arrays whose sizes in bytes the JSON lists under
``sizes``. The parent reads frames that a hostile child may have written: every number is checked before it is believed.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from shapedoc.grade.plan import Build, Call, Decode, Plan, Ref, Step, Train, Value

__all__ = ["BadFrame", "FrameReader", "TooMuch", "decode_plan", "encode_plan", "frame", "npy"]

Array: TypeAlias = npt.NDArray[Any]

_JSON_BYTES = 64 << 10
_ARRAYS = 512
_HEADER_BYTES = 2048
_AXES = 16
# Numbers only: booleans, integers, floats, complex ones.
_KINDS = "biufc"
_LENGTH = struct.Struct(">I")
_STEPS: dict[str, type[Step]] = {"build": Build, "call": Call, "train": Train, "decode": Decode}


class BadFrame(ValueError):
    """What the child sent is no reply."""


class TooMuch(BadFrame):
    """The child sent more than it may."""


def npy(array: Array) -> bytes:
    """The bytes of a ``.npy`` file; ValueError for an array of objects."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array), allow_pickle=False)
    return buffer.getvalue()


def frame(record: Mapping[str, object], blobs: Sequence[bytes] = ()) -> bytes:
    """A frame; `blobs` are ``.npy`` files."""
    text = json.dumps({**record, "sizes": [len(blob) for blob in blobs]}).encode()
    return b"".join((_LENGTH.pack(len(text)), text, *blobs))


class FrameReader:
    """Frames out of what a child sends, piece by piece. `limit` bounds the bytes of all frames together."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken = 0
        self._held = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[dict[str, Any], list[Array]]]:
        """Give the frames that are complete now. Raises BadFrame, TooMuch."""
        self._taken += len(data)
        if self._taken > self._limit:
            raise TooMuch(f"it sent more than {self._limit >> 20} MB")
        self._held += data
        while (whole := self._next()) is not None:
            yield whole

    def _next(self) -> tuple[dict[str, Any], list[Array]] | None:
        if len(self._held) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._held)
        if not 2 <= length <= _JSON_BYTES:
            raise BadFrame("it sent something that is no reply")
        start = _LENGTH.size + length
        if len(self._held) < start:
            return None
        record, sizes = _record(bytes(self._held[_LENGTH.size : start]))
        end = start + sum(sizes)
        if end > self._limit:
            raise TooMuch(f"it announced more than {self._limit >> 20} MB")
        if len(self._held) < end:
            return None
        arrays = []
        for size in sizes:
            arrays.append(_array(bytes(self._held[start : start + size])))
            start += size
        del self._held[:end]
        return record, arrays


def _record(text: bytes) -> tuple[dict[str, Any], list[int]]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise BadFrame("it sent something that is no reply") from None
    match record:
        case {"sizes": [*sizes]} if len(sizes) <= _ARRAYS and all(type(size) is int and size > 0 for size in sizes):
            return record, sizes
    raise BadFrame("it sent something that is no reply")


def _array(data: bytes) -> Array:
    """An array of numbers that fills `data` exactly; nothing is allocated before the header is known to be true."""
    stream = io.BytesIO(data)
    try:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise BadFrame("it sent an array of another format")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream, max_header_size=_HEADER_BYTES)
    except BadFrame:
        raise
    except Exception as problem:
        raise BadFrame("it sent an array with a broken header") from problem
    if dtype.kind not in _KINDS or dtype.names is not None or dtype.subdtype is not None:
        raise BadFrame("it sent an array that holds no numbers")
    if len(shape) > _AXES or any(type(size) is not int or size < 0 for size in shape):
        raise BadFrame("it sent an array with a broken shape")
    count = 1
    for size in shape:
        count *= size
    if count * dtype.itemsize != len(data) - stream.tell():
        raise BadFrame("it sent an array that is not as large as it says")
    flat = np.frombuffer(data, dtype=dtype, offset=stream.tell())
    array: Array = flat.reshape(shape, order="F" if fortran else "C").copy()
    return array


def encode_plan(source: str, plan: Plan) -> bytes:
    """A submission's source and what is to be done with it, for the child; one frame."""
    blobs: list[bytes] = []
    steps = [_encode_step(step, blobs) for step in plan.steps]
    text = json.dumps({"source": source, "seed": plan.seed, "steps": steps, "sizes": [len(b) for b in blobs]})
    data = text.encode("utf-8", "surrogatepass")
    return b"".join((_LENGTH.pack(len(data)), data, *blobs))


def decode_plan(data: bytes) -> tuple[str, Plan]:
    """The way back; `data` comes from the parent and is trusted."""
    (length,) = _LENGTH.unpack_from(data)
    start = _LENGTH.size + length
    record = json.loads(data[_LENGTH.size : start].decode("utf-8", "surrogatepass"))
    arrays = []
    for size in record["sizes"]:
        arrays.append(np.load(io.BytesIO(data[start : start + size]), allow_pickle=False))
        start += size
    steps = tuple(_decode_step(step, arrays) for step in record["steps"])
    return record["source"], Plan(steps, record["seed"])


def _encode_step(step: Step, blobs: list[bytes]) -> dict[str, object]:
    kind = next(name for name, type_ in _STEPS.items() if isinstance(step, type_))
    return {"step": kind, **{each.name: _encode(getattr(step, each.name), blobs) for each in fields(step)}}


def _decode_step(record: dict[str, Any], arrays: list[Array]) -> Step:
    type_ = _STEPS[record.pop("step")]
    return type_(**{name: _decode(value, arrays) for name, value in record.items()})


def _encode(value: Value | Step, blobs: list[bytes]) -> object:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case np.ndarray() | np.generic():
            blobs.append(npy(np.asarray(value)))
            return {"array": len(blobs) - 1}
        case Ref():
            return {"ref": value.id, "path": list(value.path)}
        case Build():
            return {"build": _encode_step(value, blobs)}
        case tuple():
            return {"tuple": [_encode(each, blobs) for each in value]}
        case list():
            return [_encode(each, blobs) for each in value]
        case Mapping():
            return {"dict": [[key, _encode(each, blobs)] for key, each in value.items()]}
    raise TypeError(f"a plan cannot hold a {type(value).__name__}")


def _decode(value: Any, arrays: list[Array]) -> Any:
    match value:
        case {"array": index}:
            return arrays[index]
        case {"ref": name, "path": path}:
            return Ref(name, tuple(path))
        case {"build": step}:
            return _decode_step(step, arrays)
        case {"tuple": each}:
            return tuple(_decode(one, arrays) for one in each)
        case {"dict": pairs}:
            return {key: _decode(one, arrays) for key, one in pairs}
        case list():
            return [_decode(each, arrays) for each in value]
    return value
