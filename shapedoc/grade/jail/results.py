"""What a submission returned, as bytes of ``.npy`` files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from shapedoc.grade.jail.wire import npy

__all__ = ["RESULTS", "TooLarge", "Unusable", "blobs_of"]

RESULTS = 8
"""How many arrays a result may hold; the rest is left out."""

_DEPTH = 3


class Unusable(TypeError):
    """A result that holds no numbers; `kinds` says what it holds."""

    def __init__(self, message: str, kinds: list[str]) -> None:
        super().__init__(message)
        self.kinds = kinds


class TooLarge(ValueError):
    """A result of more bytes than may be sent."""


def blobs_of(result: Any, room: int, most: int = RESULTS) -> tuple[list[bytes], list[str]]:
    """The arrays of a result in order, tuples and dictionaries flattened, and what each was.

    Raises Unusable for a result without numbers, TooLarge for one of more than `room` bytes.
    """
    parts = _parts(result, 0)[:most]
    kinds = [_kind(part) for part in parts]
    blobs = []
    for part, kind in zip(parts, kinds, strict=True):
        size = _bytes(part)
        room -= size
        if room < 0:
            raise TooLarge(f"a result of {size >> 20} MB")
        array = _array(part)
        if array is None:
            raise Unusable(f"returned a {kind} where numbers are expected", kinds)
        blobs.append(npy(array))
    return blobs, kinds


def _parts(result: Any, depth: int) -> list[Any]:
    if depth < _DEPTH:
        if isinstance(result, tuple) or (isinstance(result, list) and not _plain(result)):
            return [part for each in list(result)[: 2 * RESULTS] for part in _parts(each, depth + 1)]
        if isinstance(result, Mapping):
            return [part for each in list(result.values())[: 2 * RESULTS] for part in _parts(each, depth + 1)]
    return [result]


def _plain(result: list[Any]) -> bool:
    """Whether a list is an array written out."""
    return bool(result) and all(isinstance(each, int | float | list) for each in result)


def _kind(part: Any) -> str:
    type_ = type(part)
    if isinstance(part, torch.Tensor):
        return "torch.Tensor"
    return (type_.__name__ if type_.__module__ == "builtins" else f"{type_.__module__}.{type_.__name__}")[:80]


def _bytes(part: Any) -> int:
    if isinstance(part, torch.Tensor):
        return int(part.numel() * part.element_size())
    return int(part.nbytes) if isinstance(part, np.ndarray) else 0


def _array(part: Any) -> np.ndarray[Any, np.dtype[Any]] | None:
    """An array of numbers; None where there are none. None itself is an empty array."""
    if part is None:
        return np.empty(0, np.float32)
    if isinstance(part, torch.Tensor):
        # What a subclass overrides has no say here.
        with torch._C.DisableTorchFunctionSubclass():
            if part.layout != torch.strided:
                return None
            plain = part.detach().resolve_conj().resolve_neg().cpu()
            found = (plain.float() if plain.dtype == torch.bfloat16 else plain).numpy()
    else:
        try:
            found = np.asarray(part)
        except (ValueError, TypeError):
            return None
    array = np.array(found, order="C", copy=True, subok=False)
    return array if array.dtype.kind in "biufc" else None
