"""The finding that an argument or a result does not have its stated shape."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import FrameType

from shapedoc.core.finding import Finding
from shapedoc.core.span import Label, Span
from shapedoc.runtime.blame import Blame, agree, expected_shape
from shapedoc.runtime.contracts import Contract, Term
from shapedoc.runtime.places import place_of
from shapedoc.source import ir
from shapedoc.source.contracts import Named

__all__ = ["CODE", "NAME", "of_arguments", "of_result"]

CODE, NAME = "SD904", "argument-mismatch"
_BETWEEN = (os.path.join("torch", "nn", "modules", "module.py"), os.path.join("shapedoc", "runtime", "watch.py"))
_Shapes = Mapping[str, tuple[int, ...]]


def of_arguments(
    contract: Contract, shapes: _Shapes, verdict: Blame, known: Mapping[str, int], caller: FrameType | None
) -> Finding:
    """Who is wrong, which axis, expected and got, and what the others say."""
    specs = {n: t.dims for n, t in contract.params.items()}
    firm = all(contract.params[n].firm for group in verdict.candidates for n in group)
    wrong = verdict.candidates[0]
    place = _call_place(caller, contract, wrong[0])
    path, span, labels = place if place is not None else (contract.path, contract.header, [])
    term = contract.params[wrong[0]]
    if verdict.is_tie:
        names = sorted({n for group in verdict.candidates for n in group})
        what = " or ".join(f"`{n}` {shapes[n]}" for n in names)
        message = f"either {what} is wrong: they do not agree on {_contested(specs, shapes, names)}"
        actual, expected = str(shapes[wrong[0]]), ""
        advice = "compare both with the shapes that are stated; nothing else in the call decides between them"
    else:
        message = "; ".join(_what(contract.params[n], shapes[n], verdict.known) for n in wrong)
        actual = str(shapes[wrong[0]])
        expected = expected_shape(term.dims, verdict.known)
        advice = f"pass {wrong[0]} as {expected_shape(term.dims, verdict.known)}"
    for name, one in contract.params.items():
        if one.span is not None and contract.path == path and name in shapes:
            text = f"{name} is stated as {one.text}" + (f", and is {shapes[name]}" if name not in wrong else "")
            labels.append(Label(one.span, text))
    why = f"`{contract.function}` states {term.text} for `{wrong[0]}`"
    witness = _witness(term, shapes, verdict.known, specs, wrong, known)
    if witness and not verdict.is_tie:
        why += f"; {witness}"
    severity = "error" if firm else "warning"
    return Finding(
        CODE,
        NAME,
        "error" if severity == "error" else "warning",
        path,
        span,
        message,
        contract.function,
        wrong[0],
        actual,
        expected,
        tuple(labels),
        why,
        advice,
    )


def of_result(contract: Contract, term: Term, shape: tuple[int, ...], sizes: Mapping[str, int]) -> Finding:
    """What a function returns is not what it states."""
    what = "the returned value" if term.index is None else f"component {term.index} of the returned value"
    return Finding(
        CODE,
        NAME,
        "error" if term.firm else "warning",
        contract.path,
        term.span or contract.header,
        f"`{contract.function}` returns {shape} where it states {term.text}{_axis(term, shape, sizes)}",
        contract.function,
        what,
        str(shape),
        expected_shape(term.dims, sizes),
        (),
        f"with the sizes of the arguments, {term.text} is {expected_shape(term.dims, sizes)}",
        "mend the computation, or what is stated of it",
    )


def _what(term: Term, shape: tuple[int, ...], sizes: Mapping[str, int]) -> str:
    expected = expected_shape(term.dims, sizes)
    told = term.text if expected == term.text else f"{term.text} = {expected}"
    return f"`{term.name}` is {shape}, should be {told}" + _axis(term, shape, sizes)


def _axis(term: Term, shape: tuple[int, ...], sizes: Mapping[str, int]) -> str:
    """Which axis is wrong: ``: its axis 1 `d_s` is 8, not 6``."""
    if len(term.dims) != len(shape):
        return f": it has {len(shape)} axes, not {len(term.dims)}"
    for i, (dim, size) in enumerate(zip(term.dims, shape, strict=True)):
        one = agree({"": (dim,)}, {"": (size,)}, sizes)
        if one is None:
            return f": its axis {i}, `{dim}`, is {size}, not {expected_shape((dim,), sizes)[1:-2]}"
    return ""


def _contested(specs: Mapping[str, tuple[object, ...]], shapes: _Shapes, names: list[str]) -> str:
    seen: dict[str, int] = {}
    for name in names:
        for dim, size in zip(specs[name], shapes[name], strict=False):
            if isinstance(dim, Named) and seen.setdefault(dim.key, size) != size:
                return f"`{dim.key}` ({seen[dim.key]} and {size})"
    return "their sizes"


def _witness(
    term: Term,
    shapes: _Shapes,
    sizes: Mapping[str, int],
    specs: Mapping[str, tuple[object, ...]],
    wrong: tuple[str, ...],
    known: Mapping[str, int],
) -> str:
    """Where the right sizes come from: other arguments, the module, earlier calls."""
    parts = []
    for dim, size in zip(term.dims, shapes[term.name], strict=False):
        if isinstance(dim, Named) and sizes.get(dim.key, size) != size:
            others = [n for n, d in specs.items() if n not in wrong and n in shapes and _has(d, dim.key)]
            if others:
                parts.append(f"`{dim.key}` is {sizes[dim.key]} in {', '.join(f'`{n}`' for n in others)}")
            elif dim.key in known:
                parts.append(f"`{dim.key}` is {sizes[dim.key]} in the module or in every call before")
    return "; ".join(parts)


def _has(dims: tuple[object, ...], key: str) -> bool:
    return any(isinstance(d, Named) and d.key == key for d in dims)


def _call_place(caller: FrameType | None, contract: Contract, name: str) -> tuple[str, Span, list[Label]] | None:
    """The argument where the call passes it."""
    # A module is called by its `__call__`: the author's call is further up.
    while caller is not None and caller.f_code.co_filename.endswith(_BETWEEN):
        caller = caller.f_back
    if caller is None:
        return None
    place = place_of(caller.f_code, caller.f_lasti)
    if place is None or not isinstance(place.node, ir.Call):
        return None
    for key, value in place.node.keywords:
        if key == name:
            return caller.f_code.co_filename, Span(*value.span), []
    names = list(contract.params)
    if len(place.node.args) >= len(names) and not any(isinstance(a, ir.Starred) for a in place.node.args):
        offset = len(place.node.args) - len(names)
        if offset == 0 and name in names:
            return caller.f_code.co_filename, Span(*place.node.args[names.index(name)].span), []
    return caller.f_code.co_filename, Span(*place.node.span), []
