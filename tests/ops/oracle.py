"""The real thing: a drawn call made with torch, NumPy or einops, and what came out."""

from __future__ import annotations

import copy
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import einops
import einops.layers.torch
import numpy as np
import torch

from shapedoc.core.value import Kind
from tests.ops import scipy_reference
from tests.ops.drawing import Call, D, L, Packed, T

__all__ = ["Raised", "Result", "Shaped", "built", "real", "real_layer"]

# Tensors of a few elements are not worth a thread.
torch.set_num_threads(1)

_ROOTS: dict[str, object] = {
    "copy": copy,
    "einops": einops,
    "numpy": np,
    "operator": operator,
    "scipy": scipy_reference,
    "torch": torch,
}
_TORCH_DTYPES = {"float": torch.float32, "int": torch.int64, "bool": torch.bool, "complex": torch.complex64}
_NUMPY_DTYPES = {"float": np.float64, "int": np.int64, "bool": np.bool_, "complex": np.complex128}
# These need another device; there, they give what `cpu` gives here. A gradient is there after a backward pass, and has
# the shape of what it belongs to.
_ELSEWHERE = {
    "torch.Tensor.grad": "torch.Tensor.data",
    "torch.Tensor.cuda": "torch.Tensor.cpu",
    "torch.Tensor.pin_memory": "torch.Tensor.cpu",
    "torch.cuda.BoolTensor": "torch.BoolTensor",
    "torch.cuda.FloatTensor": "torch.FloatTensor",
    "torch.cuda.LongTensor": "torch.LongTensor",
}
_NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims", "dims": "axes"}


@dataclass(frozen=True, slots=True)
class Shaped:
    """A tensor of the result: its sizes and the kind of its elements."""

    shape: tuple[int, ...]
    kind: Kind


@dataclass(frozen=True, slots=True)
class Raised:
    """The call raised."""

    error: str


# Numbers of Python, and what is no tensor, come as None.
Result = Shaped | tuple["Result", ...] | None | Raised


def lookup(name: str) -> object:
    """What stands under a qualified name."""
    first, *rest = name.split(".")
    found = _ROOTS[first]
    for part in rest:
        found = getattr(found, part)
    return found


def real(name: str, call: Call) -> Result:
    """The result of a call of a function, a method or an attribute."""
    return _quietly(lambda device: _call(name, call, device), name)


def real_layer(kind: str, call: Call) -> Result:
    """The result of building a layer and calling it."""

    def build(device: str) -> object:
        module = built(kind, call, device)
        assert callable(module)
        return module(*_plain(call.args, device), **_named(call.kwargs, device))

    return _quietly(build, kind)


def built(kind: str, call: Call, device: str = "meta") -> object:
    """The layer of a call."""
    made = lookup(kind)
    assert callable(made)
    with torch.device(device):
        return made(*_plain(call.init, device), **_named(call.options, device))


def _quietly(run: Callable[[str], object], name: str) -> Result:
    """What comes out on the meta device, or on the CPU where that refuses.

    Whether the call works is for the CPU to say: the meta device lets some wrong axes pass.
    """
    if name.startswith(("numpy.", "einops.", "scipy.")):
        return _once(run, "cpu")
    real = _once(run, "cpu")
    if isinstance(real, Raised):
        return real
    meta = _once(run, "meta")
    return real if isinstance(meta, Raised) else meta


def _once(run: Callable[[str], object], device: str) -> Result:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return _shaped(run(device))
    except Exception as raised:
        # Whatever a library raises is its answer.
        return Raised(f"{type(raised).__name__}: {raised}")


def _call(name: str, call: Call, device: str) -> object:
    name = _ELSEWHERE.get(name, name)
    library = "numpy" if name.startswith(("numpy.", "scipy.")) else "torch"
    where = "numpy" if library == "numpy" else device
    args, kwargs = _plain(call.args, where), _named(call.kwargs, where)
    if library == "numpy":
        kwargs = {_NUMPY_NAMES.get(k, k): v for k, v in kwargs.items()}
    owner, _, member = name.rpartition(".")
    if member in ("setitem", "__setitem__"):
        operator.methodcaller("__setitem__", *args[1:])(args[0])
        return args[0]
    if owner in ("torch.Tensor", "numpy.ndarray"):
        found = getattr(args[0], member)
        return found(*args[1:], **kwargs) if callable(found) else found
    function = lookup(name)
    if owner in ("numpy.random.Generator", "numpy.random.RandomState"):
        made = np.random.default_rng(0) if owner.endswith("Generator") else np.random.RandomState(0)
        function = getattr(made, member)
    assert callable(function)
    return function(*args, **kwargs)


def _named(values: Mapping[str, object], device: str) -> dict[str, object]:
    return {k: _one(v, device) for k, v in values.items()}


def _plain(values: Sequence[object], device: str) -> list[object]:
    return [_one(v, device) for v in values]


def _one(value: object, device: str) -> object:
    match value:
        case T(shape=shape, kind=kind, fill=fill, array=array):
            number = (0 if kind in ("int", "bool") else 1) if fill is None else fill
            sizes = [int(n) for n in shape]
            if device == "numpy" or array:
                return np.full(sizes, number, dtype=_NUMPY_DTYPES[kind])
            return torch.full(sizes, number, dtype=_TORCH_DTYPES[kind], device=device)
        case Packed(padded=padded, batch_first=batch_first):
            sequence = _one(padded, device)
            batch, time = padded.shape[:2] if batch_first else padded.shape[1::-1]
            lengths = [int(time)] * int(batch)
            return torch.nn.utils.rnn.pack_padded_sequence(sequence, lengths, batch_first)
        case L(kind=kind, init=init, options=options):
            built = lookup(kind)
            assert callable(built)
            return built(*_plain(init, device), **_named(options, device))
        case D(name=name):
            return getattr(np if device == "numpy" else torch, name)
        case bool() | str() | float() | None:
            return value
        case int():
            return int(value)
        case list():
            return [_one(v, device) for v in value]
        case tuple():
            return tuple(_one(v, device) for v in value)
        case slice():
            return slice(_one(value.start, device), _one(value.stop, device), _one(value.step, device))
        case _:
            return value


def _shaped(value: object) -> Result:
    match value:
        case torch.nn.utils.rnn.PackedSequence():
            return _shaped(torch.nn.utils.rnn.pad_packed_sequence(value)[0])
        case torch.Tensor():
            return Shaped(tuple(value.shape), _torch_kind(value.dtype))
        case np.ndarray() | np.generic():
            return Shaped(tuple(value.shape), _numpy_kind(value.dtype))
        case tuple() | list():
            return tuple(_shaped(v) for v in value)
        case _:
            return None


def _torch_kind(dtype: torch.dtype) -> Kind:
    if dtype == torch.bool:
        return "bool"
    if dtype.is_complex:
        return "complex"
    return "float" if dtype.is_floating_point else "int"


def _numpy_kind(dtype: np.dtype) -> Kind:
    kinds: dict[str, Kind] = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
    return kinds.get(dtype.kind, "")
