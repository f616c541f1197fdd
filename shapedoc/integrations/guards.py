"""The quickest way to see that a call is like the last one: what ``torch.compile`` guards its own code with.

A guard is a function of the arguments that takes no look-up, no hash and no object for a shape. It is stricter than the
signature (strides apart, it holds all that a kernel is chosen by), so that what it refuses is looked up as ever.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from shapedoc.runtime.patterns import shape_of

__all__ = ["Form", "conditions", "forms_of", "guard_of", "held"]

# What a parameter takes. tensor: always a tensor. choice: a tensor, None, a number or a text. object: anything else,
# told by its identity; module: the same, with a flag whether it trains. rest: `*args` and `**kwargs`, empty so far.
Form = Literal["tensor", "choice", "object", "module", "rest"]

_PLAIN = (int, bool, str, float, type(None))


def guard_of(tensors: Sequence[Any]) -> Callable[..., bool] | None:
    """A function that says of as many tensors whether they are like these; None where torch has none to give."""
    torch = sys.modules.get("torch")
    if torch is None or not all(type(t) in (torch.Tensor, torch.nn.Parameter) for t in tensors):
        return None
    try:
        made: Callable[..., bool] = torch._C._dynamo.guards.TensorGuards(
            *tensors,
            dynamic_dims_sizes=[list(t.shape) for t in tensors],
            dynamic_dims_strides=[[None] * t.dim() for t in tensors],
        ).check
        return made if made(*tensors) else None
    except Exception:  # Another torch, a tensor without sizes, or twice the same one.
        return None


def forms_of(values: Mapping[str, Any], tensors: frozenset[str], rest: frozenset[str]) -> dict[str, Form] | None:
    """How each parameter is guarded, as a first call shows it; None where one is a container, or none a tensor.

    tensors: the parameters that were tensors in every call. rest: `*args` and `**kwargs`.
    """
    forms: dict[str, Form] = {}
    for name, value in values.items():
        if name in rest:
            forms[name] = "rest"
        elif name in tensors:
            forms[name] = "tensor"
        elif type(value) in _PLAIN or shape_of(value) is not None:
            forms[name] = "choice"
        elif isinstance(value, tuple | list | dict):
            return None
        else:
            forms[name] = "module" if hasattr(value, "training") else "object"
    # The modes of torch, autocast and inference, are seen by what they do to tensors.
    return forms if "tensor" in forms.values() else None


def held(forms: Mapping[str, Form], values: Mapping[str, Any], *, joined: bool) -> list[Any] | None:
    """What the arguments of later calls are compared with, as `conditions` names it; None where it cannot be said."""
    tensors = [values[n] for n, form in forms.items() if form == "tensor"]
    groups = [tensors] if joined and tensors else [[t] for t in tensors]
    found: list[Any] = [guard_of(group) for group in groups]
    guards = list(found)
    for name, form in forms.items():
        value = values[name]
        if form == "choice":
            guard = None if type(value) in _PLAIN else guard_of([value])
            if type(value) not in _PLAIN:
                guards.append(guard)
            found += (None, guard) if guard is not None else (type(value), value)
        elif form in ("object", "module"):
            if isinstance(value, tuple | list | dict) or (form == "module") != hasattr(value, "training"):
                return None
            found += (id(value), value.training) if form == "module" else (id(value),)
        elif form == "rest" and value:
            return None
    return None if any(guard is None for guard in guards) else found


def conditions(forms: Mapping[str, Form], *, joined: bool) -> tuple[list[str], list[str]]:
    """The names of what is held, and the conditions on the arguments, as code."""
    tensors = [n for n, form in forms.items() if form == "tensor"]
    names, tests = [], []
    for i, group in enumerate([tensors] if joined and tensors else [[n] for n in tensors]):
        names.append(f"_g{i}")
        tests.append(f"_g{i}({', '.join(group)})")
    for i, (name, form) in enumerate(forms.items()):
        if form == "choice":
            names += (f"_k{i}", f"_v{i}")
            tests.append(f"(_v{i}({name}) if _k{i} is None else _type({name}) is _k{i} and {name} == _v{i})")
        elif form in ("object", "module"):
            names.append(f"_i{i}")
            tests.append(f"_id({name}) == _i{i}")
            if form == "module":
                names.append(f"_t{i}")
                tests.append(f"{name}.training is _t{i}")
        elif form == "rest":
            tests.append(f"not {name}")
    return names, tests
