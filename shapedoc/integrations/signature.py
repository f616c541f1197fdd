"""The look-up of a verified signature, written out as straight-line code for each function.

A call that is like the last one, or whose shapes, dtypes, other arguments and modes have been verified before, costs
one look; any other one goes the slow way.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from shapedoc.integrations.guards import Form, conditions
from shapedoc.runtime.patterns import shape_of

__all__ = ["Plan", "build", "mentions", "part", "told_by_identity"]


def part(value: Any) -> object:
    """What the signature keeps of an argument that is no tensor, or may be none."""
    kind = type(value)
    if value is None or kind in (int, bool, str, float):
        return kind, value
    if kind in (tuple, list):
        return kind, tuple([part(v) for v in value])
    if kind is dict:
        return kind, tuple([(k, part(v)) for k, v in value.items()])
    shape = shape_of(value)
    if shape is not None:
        return shape, getattr(value, "dtype", None)
    training = getattr(value, "training", None)
    return (kind, id(value), training) if training is not None else (kind, id(value))


def told_by_identity(value: Any) -> Iterator[Any]:
    """The objects in an argument that `part` tells by their identity."""
    kind = type(value)
    if kind in (tuple, list):
        for one in value:
            yield from told_by_identity(one)
    elif kind is dict:
        for one in value.values():
            yield from told_by_identity(one)
    elif value is not None and kind not in (int, bool, str, float) and shape_of(value) is None:
        yield value


def mentions(key: object, number: int) -> bool:
    """Whether a signature holds the identity of an object."""
    if type(key) is not tuple:
        return False
    return (len(key) > 1 and key[1] == number and isinstance(key[0], type)) or any(mentions(k, number) for k in key)


class Plan:
    """What the generated code of one function looks like.

    tensors: parameters that are tensors in every call. results: how many results are compared. forms: how each
    parameter is compared with that of the last call, None where none is. joined: all tensors by one guard.
    """

    def __init__(
        self,
        signature: inspect.Signature,
        tensors: frozenset[str] = frozenset(),
        results: int = 0,
        forms: Mapping[str, Form] | None = None,
        *,
        joined: bool = True,
    ) -> None:
        self.tensors = tensors
        self.results = results
        self.forms = forms
        self.joined = joined
        self.parameters = list(signature.parameters.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def head(self) -> str:
        """The parameter list, its defaults taken from the function."""
        shown, starred, positional = [], False, any(p.kind is p.POSITIONAL_ONLY for p in self.parameters)
        for i, p in enumerate(self.parameters):
            if positional and p.kind is not p.POSITIONAL_ONLY:
                shown.append("/")
                positional = False
            if p.kind is p.KEYWORD_ONLY and not starred:
                shown.append("*")
                starred = True
            starred = starred or p.kind is p.VAR_POSITIONAL
            prefix = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
            shown.append(f"{prefix}{p.name}" + (f"=_d{i}" if p.default is not p.empty else ""))
        if positional:
            shown.append("/")
        return ", ".join(shown)

    @property
    def passed(self) -> str:
        forms = {"KEYWORD_ONLY": "{0}={0}", "VAR_POSITIONAL": "*{0}", "VAR_KEYWORD": "**{0}"}
        return ", ".join(forms.get(p.kind.name, "{0}").format(p.name) for p in self.parameters)

    @property
    def key(self) -> str:
        parts = [
            f"{p.name}.shape, {p.name}.dtype" if p.name in self.tensors else f"_part({p.name})" for p in self.parameters
        ]
        return ", ".join([*parts, "_autocast()"])

    def code(self, *, ready: bool) -> str:
        """The wrapper: before the first call has shown what the arguments are, everything goes the slow way."""
        lines = [
            f"def wrapper({self.head}):",
            "    if _compiling():",
            f"        return _function({self.passed})",
        ]
        if not ready:
            lines.append(f"    return _slow(None, _call({self.passed}))")
            return "\n".join(lines)
        shapes = [f"_s{i}" for i in range(self.results)]
        lines += self._as_last(shapes)
        taken = [f"            {', '.join(shapes)}, = _entry[2]"] if shapes else []
        lines += [
            "        _key = _entry = None",
            "        try:",
            f"            _key = ({self.key},)",
            "            _entry = _seen[_key]",
            *taken,
            # A signature that is new, one that has no hash, or no tensor, or one without sizes, where there was one,
            # or other results.
            "        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError):",
            "            _entry = None",
            "        if _entry is None:",
            f"            return _slow(_key, _call({self.passed}))",
            "        _last[:] = [_entry, *_entry[3]]",
            "    if _entry[1]:",
            "        _entry[0] += 1",
            "        if _entry[0] == _entry[1]:",
            f"            return _slow(({self.key},), _call({self.passed}))",
        ]
        if not self.results:
            lines.append(f"    return _function({self.passed})")
            return "\n".join(lines)
        parts = ["_out"] if self.results == 1 else [f"_out[{i}]" for i in range(self.results)]
        same = " and ".join(f"{part}.shape == {shape}" for part, shape in zip(parts, shapes, strict=True))
        lines += [
            f"    _out = _function({self.passed})",
            "    try:",
            f"        if {same}:",
            "            return _out",
            "    except (AttributeError, TypeError, IndexError, RuntimeError):",
            "        pass",
            f"    return _result(_out, _call({self.passed}))",
        ]
        return "\n".join(lines)

    def _as_last(self, shapes: list[str]) -> list[str]:
        """The comparison with the last call, up to the line below which any other one is looked up."""
        if self.forms is None:
            return ["    if True:"]
        names, tests = conditions(self.forms, joined=self.joined)
        return [
            "    try:",
            # Empty, or of another version of this code, where another thread has changed it meanwhile.
            f"        {', '.join(['_entry', *shapes, *names])}, = _last",
            f"        _known = {' and '.join(tests) or 'True'}",
            "    except Exception:",
            "        _known = False",
            "    if not _known:",
        ]


def build(plan: Plan, names: dict[str, Any], scope: dict[str, Any], *, ready: bool) -> FunctionType:
    """Compile the wrapper; `names` are its free variables, in every version of it, `scope` its globals.

    Free variables and not globals, since a compiler that traces the wrapper looks globals up in the module.
    """
    given = dict(names)
    for i, p in enumerate(plan.parameters):
        if p.default is not p.empty:
            given[f"_d{i}"] = p.default
    body = "\n".join(f"    {line}" for line in plan.code(ready=ready).splitlines())
    mentioned = ", ".join(names)
    head, _, rest = body.partition("\n")
    text = f"def make({', '.join(given)}):\n{head}\n        if 0: ({mentioned})\n{rest}\n    return wrapper\n"
    place: dict[str, Any] = {}
    exec(_compiled(text), scope, place)
    made: FunctionType = place["make"](**given)
    # Code of its own: a compiler keeps what it has compiled by the code that it is of.
    made.__code__ = made.__code__.replace()
    return made


@lru_cache(maxsize=512)
def _compiled(text: str) -> CodeType:
    return compile(text, "<shapedoc.check>", "exec")
