"""The one-line contract of a function: its arguments and results by axis names.

::

    contract = arguments "->" results {";" option}
    argument = name ":" [kind] {dim}            query: B T_dec d      tokens: int<V pad=0 B T
    kind     = "float" | "int<" size ["pad=" number] | "keep" | "drop" | "lengths<" axis | "additive" | "=" number
             | "cache<" axis | "offset<" axis
    result   = name ":" {dim}                   weights: B T_dec T_enc
    option   = "causal T" | "predicts T" | "ordered T" | "equivariant T" | "mixes T" | "batch B" | "same T S"
             | "bahdanau" | "luong"

`cache<T` is what a function that takes its steps along T keeps from call to call, None where all are given at once;
`offset<T` is how many steps came before. `keep` and `drop` are boolean masks and say what True means, `additive` is a
mask of zeros and ``-inf``. A result called ``weights`` (or attention, attn, alpha, align) holds attention weights, the
keys on its last axis; one called ``loss`` without axes is a loss.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import Literal

__all__ = ["Argument", "Carried", "Contract", "ContractError", "Result", "evaluate", "names_of", "parse"]

Timing = Literal["bahdanau", "luong", ""]
Kind = Literal["float", "int", "keep", "drop", "lengths", "additive", "number"]

_BATCH = ("batch_size", "batch", "B", "N", "bs", "bsz", "b")
_WEIGHTS = frozenset(("weights", "attention", "attention_weights", "attn", "attn_weights", "alpha", "alphas", "align"))
_WORDS: dict[str, Kind] = {"float": "float", "keep": "keep", "drop": "drop", "additive": "additive"}
_TIMINGS: dict[str, Timing] = {"bahdanau": "bahdanau", "luong": "luong"}
_PLAIN_OPTIONS = ("causal", "predicts", "ordered", "equivariant", "mixes", "batch")


class ContractError(ValueError):
    """A contract that cannot be read; the message shows the part and what was expected there."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: how it is drawn, and its axes.

    bound: for ``int`` the number of values, for ``lengths`` the axis that they count along. pad: the padding token.
    """

    name: str
    kind: Kind
    dims: tuple[str, ...]
    bound: str = ""
    pad: int | None = None
    value: float = 0

    @property
    def mask(self) -> bool:
        """Whether it only says which keys count."""
        return self.kind in ("keep", "drop", "additive", "lengths")


@dataclass(frozen=True, slots=True)
class Carried:
    """An argument that carries something from one call to the next, steps along `axis` being taken.

    kind: "cache", or "offset" for the number of steps that came before. position: its place among all arguments.
    returned: the place among all results where the next call's cache comes back; None where it is changed in place.
    """

    name: str
    kind: Literal["cache", "offset"]
    axis: str
    position: int
    returned: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One result and its axes."""

    name: str
    dims: tuple[str, ...]

    @property
    def weights(self) -> bool:
        """Whether it holds attention weights."""
        return self.name.lower() in _WEIGHTS and bool(self.dims)

    @property
    def loss(self) -> bool:
        """Whether it is a loss."""
        return self.name.lower() == "loss" and not self.dims


@dataclass(frozen=True, slots=True)
class Contract:
    """What a function takes and gives."""

    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)
    timing: Timing = ""
    carried: tuple[Carried, ...] = ()

    def option(self, name: str) -> tuple[str, ...]:
        """The axes that an option names."""
        return self.options.get(name, ())

    def axis_names(self) -> list[str]:
        """Every name of a size, in the order of first use."""
        texts = [dim for a in self.arguments for dim in a.dims] + [dim for r in self.results for dim in r.dims]
        texts += [a.bound for a in self.arguments if a.bound]
        return list(dict.fromkeys(name for text in texts for name in names_of(text)))

    @property
    def batch(self) -> str:
        """The batch axis, or nothing."""
        named = self.option("batch")
        if named:
            return named[0]
        used = {dim for a in self.arguments for dim in a.dims}
        return next((name for name in _BATCH if name in used), "")

    @property
    def keys(self) -> str:
        """The axis of the keys: the last of the weights, the last of a mask, or what lengths count along."""
        for result in self.results:
            if result.weights:
                return result.dims[-1]
        for argument in self.arguments:
            if argument.kind == "lengths":
                return argument.bound
            if argument.kind in ("keep", "drop", "additive") and argument.dims:
                return argument.dims[-1]
        return self._contracted()

    def _contracted(self) -> str:
        """An axis beside the batch that several tensors carry and no result does."""
        out = {name for r in self.results for dim in r.dims for name in names_of(dim)}
        tensors = [a for a in self.arguments if a.kind == "float" and len(a.dims) > 1]
        inner = [dim for a in tensors for dim in a.dims[:-1]]
        out.add(self.batch)
        found = [dim for dim in dict.fromkeys(inner) if not out.intersection(names_of(dim))]
        return found[0] if len(found) == 1 and self.batch else ""

    @property
    def queries(self) -> str:
        """The axis of the queries: the one before the keys in the weights, else one shared by a query and a result."""
        for result in self.results:
            if result.weights and len(result.dims) > 1:
                axis = result.dims[-2]
                if axis != self.batch and any(axis in a.dims for a in self.arguments):
                    return axis
        keys = self.keys
        inner = [dim for r in self.results for dim in r.dims[:-1] if dim not in (self.batch, keys)]
        found = [d for d in dict.fromkeys(inner) if any(d in a.dims[:-1] and a.kind == "float" for a in self.arguments)]
        return found[0] if keys and len(found) == 1 else ""


def parse(text: str) -> Contract:
    """Read a contract.

    Raises ContractError, whose message names the part that cannot be read.
    """
    head, *options = (part.strip() for part in text.strip().split(";"))
    left, arrow, right = head.partition("->")
    if not arrow:
        raise ContractError(f"a contract is `arguments -> results`; there is no `->` in {text.strip()!r}")
    parts, carried = _split(_parts(left))
    arguments = tuple(_argument(part) for part in parts)
    given = [_result(part, i) for i, part in enumerate(_parts(right))]
    places = {r.name: i for i, r in enumerate(given)}
    carried = tuple(replace(c, returned=places.get(c.name)) for c in carried)
    results = tuple(r for r in given if r.name not in {c.name for c in carried})
    if not arguments or not results:
        raise ContractError(f"a contract needs an argument and a result; got {text.strip()!r}")
    chosen: dict[str, tuple[str, ...]] = {}
    timing: Timing = ""
    for option in filter(None, options):
        word, *axes = option.split()
        if word in _TIMINGS:
            timing = _TIMINGS[word]
        elif word == "same" and len(axes) == 2:
            chosen["same"] = (*chosen.get("same", ()), *axes)
        elif word in _PLAIN_OPTIONS and axes:
            chosen[word] = (*chosen.get(word, ()), *axes)
        else:
            known = ", ".join((*(f"`{o} AXIS`" for o in _PLAIN_OPTIONS), "`same AXIS AXIS`", "`bahdanau`", "`luong`"))
            raise ContractError(f"unknown option {option!r}; an option is one of {known}")
    contract = Contract(arguments, results, chosen, timing, carried)
    _refuse_strangers(contract)
    return contract


def _refuse_strangers(contract: Contract) -> None:
    named = set(contract.axis_names())
    for option, axes in contract.options.items():
        for axis in axes:
            if axis not in named:
                raise ContractError(f"`{option} {axis}`: no argument or result has an axis {axis!r}")
    for one in contract.carried:
        if one.axis not in named:
            raise ContractError(f"`{one.name}: {one.kind}<{one.axis}`: no argument or result has an axis {one.axis!r}")
    doubled = [a.name for i, a in enumerate(contract.arguments) if a.name in {b.name for b in contract.arguments[:i]}]
    if doubled:
        raise ContractError(f"two arguments are called {doubled[0]!r}")


def _split(parts: list[str]) -> tuple[list[str], tuple[Carried, ...]]:
    """The arguments that are drawn, and those that carry something from call to call."""
    drawn: list[str] = []
    carried: list[Carried] = []
    for position, part in enumerate(parts):
        found = re.fullmatch(r"(\w+)\s*:\s*(cache|offset)<\s*(\w+)", part)
        if found is None:
            drawn.append(part)
        else:
            kind: Literal["cache", "offset"] = "cache" if found[2] == "cache" else "offset"
            carried.append(Carried(found[1], kind, found[3], position))
    return drawn, tuple(carried)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.strip().strip("()").split(",") if part.strip()]


def _argument(text: str) -> Argument:
    name, colon, rest = (part.strip() for part in text.partition(":"))
    if not colon or not name.isidentifier():
        raise ContractError(f"an argument is `name: axes`, such as `query: B T_dec d`; got {text!r}")
    words = rest.split()
    kind: Kind = "float"
    bound, pad, value = "", None, 0.0
    if words and (found := re.fullmatch(r"=?(-?\d+(?:\.\d+)?)", words[0])) and len(words) == 1:
        number = float(found[1])
        return Argument(name, "number", (), value=int(number) if number == int(number) else number)
    if words and words[0] in _WORDS:
        kind = _WORDS[words.pop(0)]
    elif words and (found := re.fullmatch(r"(int|lengths)<(\S+)", words[0])):
        kind = "int" if found[1] == "int" else "lengths"
        bound = found[2]
        _check_dim(bound, text)
        words.pop(0)
        if words and (padded := re.fullmatch(r"pad=(\d+)", words[0])):
            pad = int(padded[1])
            words.pop(0)
    for dim in words:
        _check_dim(dim, text)
    return Argument(name, kind, tuple(words), bound, pad, value)


def _result(text: str, position: int) -> Result:
    name, colon, rest = (part.strip() for part in text.partition(":"))
    if not colon:
        name, rest = ("output" if position == 0 else f"output_{position}"), text
    if not name.isidentifier():
        raise ContractError(f"a result is `name: axes` or just axes; got {text!r}")
    words = rest.split()
    for dim in words:
        _check_dim(dim, text)
    return Result(name, tuple(words))


def _check_dim(dim: str, where: str) -> None:
    try:
        tree = ast.parse(dim, mode="eval").body
    except SyntaxError:
        tree = None
    if tree is None or not _is_size(tree):
        raise ContractError(f"{dim!r} in {where!r} is no size: a size is a name, a number, or `+ - * //` of these")


def _is_size(node: ast.expr) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Constant(value=int()):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv(), right=right):
            return _is_size(left) and _is_size(right)
    return False


def names_of(dim: str) -> list[str]:
    """The names in a size, such as ``H`` and ``d_head`` in ``H*d_head``."""
    return [node.id for node in ast.walk(ast.parse(dim, mode="eval")) if isinstance(node, ast.Name)]


def evaluate(dim: str, sizes: dict[str, int]) -> int:
    """The number that a size comes to."""
    return _number(ast.parse(dim, mode="eval").body, sizes)


def _number(node: ast.expr, sizes: dict[str, int]) -> int:
    match node:
        case ast.Name(id=name):
            return sizes[name]
        case ast.Constant(value=int(number)):
            return number
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _number(left, sizes), _number(right, sizes)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
            return a // b
    raise ContractError(f"{ast.unparse(node)} is no size")
