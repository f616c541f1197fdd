"""One run with a distinct prime for every name: the trace of a function or a module at sizes that cannot agree."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from itertools import islice, product
from math import lcm
from typing import Any

import torch

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Axis, Shape
from shapedoc.core.trace import Trace
from shapedoc.core.value import Tensor
from shapedoc.runtime.behave.contract import Contract, parse
from shapedoc.runtime.behave.draw import Inputs, draw
from shapedoc.runtime.recording import Recording, record
from shapedoc.runtime.shadows import kind_of

__all__ = ["probe", "probed"]

_PRIMES = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71)
_BATCH = 3
# A whole number of a module that heads, groups or layers may be counted by.
_FEW = range(2, 33)
# What library modules call the width of what they are given.
_TAKEN = ("in_features", "input_size", "embed_dim", "d_model")
_MOST_WIDTHS = 40


def probe(
    target: Callable[..., Any], shapes: str | Mapping[str, str], *, sizes: Mapping[str, int] | None = None
) -> Trace:
    """Run a function or a module once, with another prime for every name of a size, and return its trace.

    shapes: the arguments by axis names, ``{"x": "B T d_model", "tokens": "int<V B T"}`` or one line,
    ``"x: B T d_model, mask: keep B T"``, as for `shapedoc.behave`. sizes: numbers for some of the names. A name that
    a module keeps as a number (``self.d_model``) has that number. Where the target raises, sizes are tried that the
    small numbers in the module or the arguments divide, so that ``d_model // n_heads`` is exact, and the widths that
    its layers take.

    Raises what the target raises where no sizes will do, with a note that says which were tried, and ContractError for
    shapes that cannot be read.
    """
    return probed(target, shapes, sizes=sizes).trace


def probed(
    target: Callable[..., Any], shapes: str | Mapping[str, str], *, sizes: Mapping[str, int] | None = None
) -> Recording:
    """The recording behind `probe`."""
    text = shapes if isinstance(shapes, str) else ", ".join(f"{name}: {dims}" for name, dims in shapes.items())
    contract = parse(text if "->" in text else f"{text} -> result:")
    problem: Exception | None = None
    tried: list[str] = []
    for chosen in _choices(contract, target, sizes or {}):
        try:
            return _run(target, contract, chosen)
        except Exception as raised:
            problem = problem or raised
            tried.append(", ".join(f"{name}={size}" for name, size in chosen.items()))
    assert problem is not None
    problem.add_note(f"probed with {tried[0]}; give the sizes that it was built for, as in sizes={{'d_model': 16}}")
    raise problem


def _choices(contract: Contract, target: object, given: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Sizes to try: primes, multiples of what may have to divide them, all distinct, then what layers take."""
    numbers = _numbers(target)
    names = [n for n in contract.axis_names() if n not in given]
    fixed = {**{n: numbers[n] for n in names if n in numbers}, **given}
    small = {v for v in numbers.values() if v in _FEW}
    small |= {int(a.value) for a in contract.arguments if a.kind == "number" and int(a.value) in _FEW}
    used = set(fixed.values())
    primes = [p for p in _PRIMES if p not in used]
    features = [n for n in names if n not in fixed and _is_feature(contract, n)]
    sizes: dict[str, int] = {}
    for factor in dict.fromkeys((1, reduce(lcm, small, 1), 2 * reduce(lcm, small, 1), 4)):
        sizes, left = dict(fixed), list(primes)
        for name in names:
            if name in sizes:
                continue
            prime = _BATCH if name == contract.batch else left.pop(0)
            sizes[name] = prime * factor if name in features else prime
        yield sizes
    if features:
        for widths in islice(product(_widths(target), repeat=len(features)), _MOST_WIDTHS):
            yield {**sizes, **dict(zip(features, widths, strict=True))}


def _is_feature(contract: Contract, name: str) -> bool:
    """Whether a size is that of the last axis of a tensor."""
    return any(name in a.dims[-1:] and len(a.dims) > 1 and a.kind == "float" for a in contract.arguments)


def _widths(target: object) -> list[int]:
    """The widths that the layers of a module take, in their order."""
    parts = target.modules() if isinstance(target, torch.nn.Module) else ()
    found = [value for part in parts for n in _TAKEN if type(value := getattr(part, n, None)) is int]
    return list(dict.fromkeys(found))


def _numbers(target: object) -> dict[str, int]:
    """The whole numbers that a module and its parts keep by name, where they agree."""
    found: dict[str, int] = {}
    if not isinstance(target, torch.nn.Module):
        return found
    for part in target.modules():
        for name, value in vars(part).items():
            if type(value) is int and value > 1 and not name.startswith("_"):
                found[name] = value if found.get(name, value) == value else 0
    return {name: value for name, value in found.items() if value}


def _run(target: Callable[..., Any], contract: Contract, sizes: dict[str, int]) -> Recording:
    inputs: Inputs = draw(contract, sizes, 0)
    arguments: dict[str, Any] = {}
    for a in contract.arguments:
        if a.kind == "number":
            arguments[a.name] = int(a.value) if float(a.value).is_integer() else a.value
        else:
            value = torch.as_tensor(inputs[a.name])
            arguments[a.name] = value.to(torch.get_default_dtype()) if value.is_floating_point() else value
    path = _file(target)
    with record(lambda p: p == path) as recording, torch.no_grad():
        _name(recording, contract, arguments, sizes)
        names = _parameters(target)
        if set(arguments) <= names:
            target(**arguments)
        else:
            target(*arguments.values())
    return recording


def _name(recording: Recording, contract: Contract, arguments: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    """Tell the recorder what the axes of the arguments are called."""
    recorder = recording.recorder
    symbols = {n: Dim.of(Sym(n, value=v, origin="stated")) for n, v in sizes.items()}
    recorder.sizes.apart(*symbols.values())
    for argument in contract.arguments:
        value = arguments[argument.name]
        if not isinstance(value, torch.Tensor):
            continue
        axes = []
        for dim, size in zip(argument.dims, value.shape, strict=True):
            axes.append(Axis(symbols.get(dim) or recorder.shadows.anonymous(int(size))))
        known = Tensor(Shape(tuple(axes)), kind_of(value), name=argument.name, source=argument.name)
        recorder.shadows.put(value, known)


def _parameters(target: Callable[..., Any]) -> set[str]:
    called = target.forward if isinstance(target, torch.nn.Module) else target
    return set(inspect.signature(called).parameters)


def _file(target: Callable[..., Any]) -> str:
    called = type(target).forward if isinstance(target, torch.nn.Module) else target
    code = getattr(inspect.unwrap(called), "__code__", None)
    return code.co_filename if code is not None else ""
