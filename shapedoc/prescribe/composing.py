"""The text of a test that calls the user's class with distinct primes, from what two trials of it have seen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from shapedoc.prescribe.planning import BATCH, LEFT_OUT, Plan
from shapedoc.prescribe.syntax import Syntax

__all__ = ["Composer"]

_CLOSE = {
    "torch": "torch.allclose({0}, {1}, rtol=1e-4, atol=1e-5)",
    "numpy": "np.allclose({0}, {1}, rtol=1e-4, atol=1e-5)",
}


@dataclass(slots=True)
class Composer:
    """Writes the lines of one test.

    syntax: of the mended file. way: how the subject was built and called. after, before: what the trials saw of the
    mended and of the broken file.
    """

    syntax: Syntax
    plan: Plan
    way: Mapping[str, Any]
    after: Mapping[str, Any]
    before: Mapping[str, Any]
    library: str
    _names: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        written = " ".join(self._given("build").values()) + " " + " ".join(self._given("call").values())
        numbers = {**self.way["layout"], **self.way["sizes"]}
        self._names = {n: v for n, v in numbers.items() if re.search(rf"(?<![=\w.]){n}\b(?!\s*=[^=])", written)}

    def _given(self, part: str) -> dict[str, str]:
        marked = {n: v for n, v in self.way["given"].items() if n.startswith(f"{part}.") and v != LEFT_OUT}
        return {n.removeprefix(f"{part}."): v for n, v in marked.items()}

    @property
    def subject(self) -> str:
        """The class or function that is imported."""
        return self.plan.class_name or self.plan.function

    @property
    def claim(self) -> str:
        """What the last lines assert, as a sentence."""
        found = next(self._property(), None)
        return found[0] if found is not None else ""

    def setup(self) -> list[str]:
        """The lines that draw the inputs and build the subject."""
        lines = ["torch.manual_seed(0)"] if self.library == "torch" else []
        used = " ".join((*self._given("build").values(), *self._given("call").values()))
        if "rng" in used:
            lines.append("rng = np.random.default_rng(0)")
        for group in (self.way["layout"], self.way["sizes"]):
            names = [n for n in group if n in self._names]
            if names:
                lines.append(f"{', '.join(names)} = {', '.join(str(self._names[n]) for n in names)}")
        build = ", ".join(_keyword(n, v) for n, v in self._given("build").items())
        if self.plan.class_name:
            ended = ".eval()" if self.library == "torch" and self._is_module() else ""
            lines.append(f"subject = {self.plan.class_name}({build}){ended}")
        lines += [f"{n} = {v}" for n, v in self._given("call").items() if n != v]
        return lines

    def _is_module(self) -> bool:
        klass = next((c for c in self.syntax.classes() if c.name.value == self.plan.class_name), None)
        bases = [self.syntax.plain(base.value) for base in klass.bases] if klass is not None else []
        return bool(bases) and bases[0] != "object"

    def called(self, changed: Mapping[str, str] | None = None) -> str:
        """The call, with other inputs in the places of some."""
        name = "subject" if self.plan.class_name else self.plan.function
        name += f".{self.plan.method}" if self.plan.method else ""
        inputs = {n: (changed or {}).get(n, n) for n in self._given("call")}
        return f"{name}({', '.join(_keyword(n, v) for n, v in inputs.items())})"

    # -- results

    def targets(self, wanted: Sequence[int] | None = None, rename: str = "") -> str:
        """The names that a call's results are given, ``_`` for those that are not wanted."""
        names = self.names()
        count = iter(range(len(names)))

        def written(form: Any, outer: bool) -> str:
            if form == "t":
                index = next(count)
                name = f"{rename}{names[index]}"
                return name if wanted is None or index in wanted else "_"
            if form == "-":
                return "_"
            parts = [written(part, False) for part in form]
            text = ", ".join(parts) + ("," if len(parts) == 1 else "")
            return text if outer else f"({text})"

        return written(self.after["form"], True)

    def names(self) -> list[str]:
        """A name for each result: what the function returns it as, else by its number."""
        count = len(self.after["results"])
        taken = {*self._names, *self._given("call"), "subject"}
        found = [n if n.isidentifier() else "" for n in self._returned()]
        if len(found) != count:
            found = ["result"] if count == 1 else [f"result_{i}" for i in range(count)]
        named: list[str] = []
        for index, name in enumerate(found):
            good = name and name not in named and name != "_"
            text = name if good else "result" if count == 1 else f"result_{index}"
            named.append(f"{text}_out" if text in taken else text)
        return named

    def _returned(self) -> list[str]:
        for node in self.syntax.functions():
            if node.name.value not in ("forward", "__call__", self.plan.method or "-", self.plan.function or "-"):
                continue
            span = self.syntax.span(node)
            klass = self.syntax.klass(span) if span is not None else None
            if span is None or (klass[1].name.value if klass is not None else "") != self.plan.class_name:
                continue
            for _, inner in reversed(self.syntax.inside(span)):
                if isinstance(inner, cst.Return) and inner.value is not None:
                    if isinstance(inner.value, cst.Tuple):
                        return [self.syntax.plain(e.value) for e in inner.value.elements]
                    return [self.syntax.plain(inner.value)]
        return []

    # -- what is asserted

    def asserts(self) -> list[str]:
        """The call, what holds of shapes and weights, and last the property that the bug breaks."""
        names = self.names()
        property_lines = next(self._property(), ("", []))[1]
        lines = [f"{self.targets()} = {self.called()}"]
        for index, (name, result) in enumerate(zip(names, self.after["results"], strict=True)):
            lines.append(f"assert {name}.shape == {self._shape(result['shape'])}")
            lines += self._weights(index, name, result)
        return lines + property_lines

    def _weights(self, index: int, name: str, result: Mapping[str, Any]) -> Iterator[str]:
        if not result["sums"]:
            return
        axis = result["sums"][-1]
        number = -1 if axis == len(result["shape"]) - 1 else axis
        if self.library == "torch":
            yield f"assert ((({name}.sum(dim={number})) - 1).abs() < 1e-5).all()".replace("(((", "((").replace(
                ")) -", ") -"
            )
        else:
            yield f"assert (np.abs({name}.sum(axis={number}) - 1) < 1e-5).all()"
        for key, sign in self.after.get("padding", {}).items():
            mask, which = key.split()
            if int(which) == index:
                hidden = f"~{mask}" if sign == "keep" else mask
                moved = f"{name}.movedim(-1, 1)" if self.library == "torch" else f"np.moveaxis({name}, -1, 1)"
                rows = name if len(result["shape"]) == 2 else moved
                yield f"assert ({rows}[{hidden}] == 0).all()"

    def _property(self) -> Iterator[tuple[str, list[str]]]:
        """The claims that the mended file keeps and the broken one does not, with their lines."""
        if "problem" in self.before:
            yield "it runs where all sizes differ", []
            return
        yield from self._alone()
        yield from self._turned()
        yield from self._moved()
        names = self.names()
        for name, old, new in zip(names, self.before["results"], self.after["results"], strict=False):
            if old["shape"] != new["shape"]:
                yield f"{name} has the shape that its sizes give", []
            if new["sums"] and new["sums"] != old["sums"]:
                yield f"{name} sum to one over the keys", []
            if new["finite"] and not old["finite"]:
                yield f"{name} are numbers", [f"assert ({name} == {name}).all()"]
        if self.after.get("padding", {}) != self.before.get("padding", {}) and self.after.get("padding"):
            yield "a masked key has no weight", []

    def _alone(self) -> Iterator[tuple[str, list[str]]]:
        after, before = self.after["alone"], self.before["alone"]
        if not after or not before or "problem" in after:
            return
        for index, (new, old) in enumerate(zip(after["same"], before["same"], strict=False)):
            axis = after["outputs"][index]
            if not new or old or axis < 0:
                continue
            changed = {n: f"{n}[{':, ' * a}1:2]" for n, a in after["inputs"].items()}
            name = self.names()[index]
            row = f"{name}[{':, ' * axis}1:2]"
            same = _CLOSE[self.library].format(f"alone_{name}", row)
            yield (
                "rows of a batch do not mix: an example alone has the row that it has in a batch",
                [
                    f"{self.targets([index], 'alone_')} = {self.called(changed)}",
                    f"assert alone_{name}.shape == {row}.shape",
                    f"assert {same}",
                ],
            )

    def _turned(self) -> Iterator[tuple[str, list[str]]]:
        for length, after in self.after["turned"].items():
            before = self.before["turned"].get(length)
            for index, new in enumerate(after["same"]):
                if not new or before is None or before["same"][index]:
                    continue
                name = self.names()[index]
                changed = {n: self._flipped(n, axes) for n, axes in after["inputs"].items()}
                turned = self._flipped(name, after["outputs"][index])
                yield (
                    f"the inputs in reverse order along {length} give {name} in reverse order: no place is scrambled",
                    [
                        f"{self.targets([index], 'turned_')} = {self.called(changed)}",
                        f"assert {_CLOSE[self.library].format(f'turned_{name}', turned)}",
                    ],
                )

    def _flipped(self, name: str, axes: Sequence[int]) -> str:
        places = ", ".join(map(str, axes))
        return f"{name}.flip({places})" if self.library == "torch" else f"np.flip({name}, ({places},))"

    def _moved(self) -> Iterator[tuple[str, list[str]]]:
        differing = [k for k, v in self.after["moved"].items() if self.before["moved"].get(k) not in (None, v)]
        for key in sorted(differing, key=self._rank):
            name, axis, place, index, out = key.split()
            result = self.names()[int(index)]
            pattern = self.after["moved"][key]
            claim = self._claim(key, pattern)
            at = f"[{':, ' * int(axis)}{place}]"
            drawn = self._given("call").get(name, "")
            change = f"changed{at} % 3 + 1" if "randint" in drawn or "integers" in drawn else f"changed{at} + 1"
            copied = "clone" if self.library == "torch" else "copy"
            same = _CLOSE[self.library].format(f"{result}[{':, ' * int(out)}i]", f"after_{result}[{':, ' * int(out)}i]")
            yield (
                claim,
                [
                    f"changed = {name}.{copied}()",
                    f"changed{at} = {change}",
                    f"{self.targets([int(index)], 'after_')} = {self.called({name: 'changed'})}",
                    f"moved = [not {same} for i in range({len(pattern)})]",
                    f"assert moved == {pattern}",
                ],
            )

    def _rank(self, key: str) -> tuple[bool, bool, str]:
        """Batches first, then places of one axis, then the rest."""
        name, axis, _place, index, out = key.split()
        one = self._axis(self.after["shapes"].get(name, []), int(axis))
        other = self._axis(self.after["results"][int(index)]["shape"], int(out))
        return (BATCH.fullmatch(one) is None or one != other, one != other, key)

    def _axis(self, shape: Sequence[int], axis: int) -> str:
        size = shape[axis] if axis < len(shape) else 0
        return next((n for n, v in self._names.items() if v == size), str(size))

    def _claim(self, key: str, pattern: Sequence[bool]) -> str:
        name, axis, place, index, out = key.split()
        result = self.names()[int(index)]
        one = self._axis(self.after["shapes"].get(name, []), int(axis))
        other = self._axis(self.after["results"][int(index)]["shape"], int(out))
        before = self.before["moved"][key]
        if not any(pattern):
            return f"{result} does not depend on place {place} of {name} along {one}"
        if not any(before):
            return f"{result} depends on place {place} of {name} along {one}"
        if BATCH.fullmatch(one) and one == other:
            return "rows of a batch do not mix"
        if pattern.count(True) == 1:
            return f"place {place} of {name} along {one} moves one place of {result} along {other}"
        first = list(pattern).index(True)
        if all(pattern[first:]):
            return f"place {place} of {name} along {one} moves {result} from place {first} of {other} on"
        return f"place {place} of {name} along {one} moves these places of {result} along {other}"

    def _shape(self, shape: Sequence[int]) -> str:
        parts = [self._size(size) for size in shape]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"

    def _size(self, size: int) -> str:
        """A size by the names that make it."""
        names = {n: v for n, v in self._names.items() if v > 2}
        for name, value in names.items():
            if value == size:
                return name
        if size < 2:
            return str(size)
        for name, value in names.items():
            for text, number in ((f"2 * {name}", 2 * value), (f"{name} - 1", value - 1), (f"3 * {name}", 3 * value)):
                if number == size and size > 2:
                    return text
        for one, a in names.items():
            for other, b in names.items():
                if a * b == size:
                    return f"{one} * {other}"
                if a + b == size and one != other:
                    return f"{one} + {other}"
                if b and a % b == 0 and a // b == size and a // b > 2:
                    return f"{one} // {other}"
        return str(size)


def _keyword(name: str, value: str) -> str:
    return f"{name}={value}"
