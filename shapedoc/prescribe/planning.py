"""How a class or function of a file may be built and called: expressions for its parameters, the likeliest first.

Sizes are distinct primes, or multiples where the code divides one by another. Shapes of inputs are those that the
analysis of the mended file has inferred; an axis without a name is a batch or a length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.trace import Trace
from shapedoc.core.value import Tensor
from shapedoc.prescribe.sizing import schemes
from shapedoc.prescribe.syntax import Syntax
from shapedoc.rules.reading.flow import shape_at

__all__ = ["BATCH", "LEFT_OUT", "Plan", "plans"]

LEFT_OUT = "-"
_IMPORTS = re.compile(r"^\s*(?:import|from) torch\b", re.MULTILINE)
_CHOICES = 6
_NUMBERS = {
    r"drop|^p$": ("0.0",),
    r"temperature|scale|eps|gamma|alpha": ("1.0",),
    r"layer|depth|hops|stack": ("2",),
    r"pad|sos|eos|bos": ("0",),
    r"device": ('"cpu"',),
    r"^rng$|generator": ("rng",),
    r"criterion|loss": ("nn.CrossEntropyLoss()", "nn.MSELoss()"),
    r"bidirectional|batch_first|bias": ("False",),
}
_MASK = re.compile(r"mask|pad|keep|valid|visible")
_SECOND = re.compile(r"enc|mem|key|value|src|source|context|^H$|^hs$|^k$|^v$|outputs|states|passage")
BATCH = re.compile(r"B|N|b|n|bs|bsz|nb|batch|batch_size|batchsize|n_batch")
_LENGTH = re.compile(
    r"T\w*|L|S|t|l|seq\w*|\w*len|\w*length|\w*seq|time|steps|n_tok\w*|len_\w*|T|src_L|tgt_L|block|n_steps"
)
_TOKENS = re.compile(r"token|idx|ids|trg|tgt|src|target|source|word|input_seq|question")


@dataclass(frozen=True, slots=True)
class Plan:
    """How a subject may be tried.

    class_name, method, function: what is called. build, call: expressions for each parameter (``-``: left out). sizes:
    numbers for the names, several ways. layouts: numbers for the names of axes. unknown: parameters of the constructor
    of which nothing is known.
    """

    class_name: str
    method: str
    function: str
    build: Mapping[str, tuple[str, ...]]
    call: Mapping[str, tuple[str, ...]]
    sizes: tuple[dict[str, int], ...]
    layouts: tuple[dict[str, int], ...]
    unknown: tuple[str, ...] = ()

    def as_dict(self, module: str) -> dict[str, object]:
        """What the trial takes."""
        return {
            "module": module,
            "class": self.class_name,
            "method": self.method,
            "function": self.function,
            "build": {f"build.{name}": list(choices) for name, choices in self.build.items()},
            "call": {f"call.{name}": list(choices) for name, choices in self.call.items()},
            "sizes": list(self.sizes),
            "layouts": list(self.layouts),
            "batches": sorted(n for n in self.layouts[0] if BATCH.fullmatch(n)),
        }


def plans(syntax: Syntax, trace: Trace, finding: Finding, given: Mapping[str, str]) -> Iterator[Plan]:
    """Plans for what a finding lies in, then for what calls it; `given` are arguments that the user has named."""
    seen: set[str] = set()
    for name in _subjects(syntax, finding):
        if name in seen:
            continue
        seen.add(name)
        found = _Planner(syntax, trace, given).plan(name)
        if found is not None:
            yield found


def _subjects(syntax: Syntax, finding: Finding) -> Iterator[str]:
    """The qualified names of functions and methods to call: the one at fault, its callers, then every model."""
    here = syntax.function(finding.span)
    places = [finding.span, *(label.span for label in finding.labels if not label.span.path)]
    if finding.function and here is None:
        yield finding.function
    for place in places:
        function, klass = syntax.function(place), syntax.klass(place)
        if function is not None:
            name = function[1].name.value
            if klass is not None and klass[0].contains(function[0]):
                if name in ("forward", "__call__"):
                    yield f"{klass[1].name.value}.{name}"
                    continue
                if name != "__init__":
                    yield f"{klass[1].name.value}.{name}"
                for other in ("forward", "__call__"):
                    yield f"{klass[1].name.value}.{other}"
            else:
                yield name
        elif klass is not None:
            for other in ("forward", "__call__"):
                yield f"{klass[1].name.value}.{other}"
    yield from (f"{node.name.value}.forward" for node in reversed(list(syntax.classes())))


@dataclass(slots=True)
class _Planner:
    syntax: Syntax
    trace: Trace
    given: Mapping[str, str]
    sizes: dict[str, None] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def plan(self, name: str) -> Plan | None:
        """How a function or method may be called; None where it is not in the file."""
        owner, _, method = name.rpartition(".")
        function = self._function(owner, method)
        if function is None or (method.startswith("__") and method != "__call__"):
            return None
        static = any("staticmethod" in self.syntax.plain(d.decorator) for d in function.decorators)
        build = self._constructor(owner) if owner else {}
        params = [*function.params.params, *function.params.kwonly_params]
        wanted = params[1:] if owner and not static else params
        call = {p.name.value: self._input(name, p) for p in (*wanted, *wanted)}
        if any(not choices for choices in call.values()):
            return None
        text = self.syntax.text
        written = " ".join(c for choices in call.values() for c in choices)
        free = [n for n in self.sizes if n not in self.given and not any(n in made for made in build.values())]
        layouts = _layouts(written, free)
        names = tuple(n for n in self.sizes if n not in layouts[0])
        return Plan(
            owner,
            method if owner and method not in ("forward", "__call__") else "",
            "" if owner else method,
            build,
            call,
            schemes(names, text, self.given),
            layouts,
            tuple(self.unknown),
        )

    def _function(self, owner: str, name: str) -> cst.FunctionDef | None:
        body: cst.CSTNode | None = None
        if owner:
            body = self._class(owner)
            nodes = list(body.body.body) if isinstance(body, cst.ClassDef) else []
        else:
            nodes = [n for n in self.syntax.functions() if self._is_plain(n)]
        return next((n for n in nodes if isinstance(n, cst.FunctionDef) and n.name.value == name), None)

    def _is_plain(self, node: cst.FunctionDef) -> bool:
        span = self.syntax.span(node)
        return span is not None and span.column == 0

    def _class(self, name: str) -> cst.ClassDef | None:
        return next((node for node in self.syntax.classes() if node.name.value == name), None)

    # -- the constructor

    def _constructor(self, owner: str, depth: int = 0) -> dict[str, tuple[str, ...]]:
        """Choices for every parameter of a class's constructor."""
        init = self._function(owner, "__init__")
        if init is None:
            return {}
        klass = self._class(owner)
        span = self.syntax.span(klass) if klass is not None else None
        text = self.syntax.source(span) if span is not None else ""
        made: dict[str, tuple[str, ...]] = {}
        for param in [*init.params.params[1:], *init.params.kwonly_params]:
            name = param.name.value
            if name in self.given:
                made[name] = (self.given[name],)
            elif param.default is not None:
                made[name] = (LEFT_OUT,)
            else:
                made[name] = self._part(name, param, text, depth)
        return made

    def _part(self, name: str, param: cst.Param, text: str, depth: int) -> tuple[str, ...]:
        stored = re.findall(rf"self\.(\w+) = {name}\b", text)
        if any(re.search(rf"self\.{attribute}\(", text) for attribute in stored):
            return tuple(self._modules(name, depth)) or self._unknown(name)
        said = re.findall(rf"\b{name} == [\"'](\w+)[\"']", text)
        if said:
            return tuple(f'"{word}"' for word in said)
        for pattern, choices in _NUMBERS.items():
            if re.search(pattern, name.lower()):
                return choices
        annotation = self.syntax.plain(param.annotation.annotation) if param.annotation is not None else ""
        if annotation not in ("", "int"):
            return self._unknown(name)
        self.sizes[name] = None
        return (name,)

    def _unknown(self, name: str) -> tuple[str, ...]:
        self.unknown.append(name)
        return (LEFT_OUT,)

    def _modules(self, name: str, depth: int) -> Iterator[str]:
        """Expressions that build a module of the file for a parameter, those that are called alike first."""
        if depth > 1:
            return
        words = name.lower().replace("_", "")
        classes = [node.name.value for node in self.syntax.classes()]
        for klass in sorted(classes, key=lambda c: (words not in c.lower(), c.lower() not in words)):
            parts = self._constructor(klass, depth + 1)
            made = [f"{part}={choices[0]}" for part, choices in parts.items() if choices[0] != LEFT_OUT]
            yield f"{klass}({', '.join(made)})"

    # -- the inputs

    def _input(self, qualified: str, param: cst.Param) -> tuple[str, ...]:
        """Choices for a parameter of what is called."""
        name = param.name.value
        if name in self.given:
            return (self.given[name],)
        left_out = [LEFT_OUT] if param.default is not None else []
        if re.search(r"heads?$", name):
            return ("2",)
        found = list(dict.fromkeys(self._drawn(qualified, name)))
        if _MASK.search(name.lower()):
            known = [c for c in found if "randn" not in c and "normal" not in c and "randint" not in c]
            return tuple(dict.fromkeys((*known, *self._masks(), *left_out)))
        if re.search(rf"(?<![\w.]){name}\(", self._text_of(qualified)):
            criterion = re.search(r"criterion|loss", name)
            modules = self._modules("seq2seq" if name in ("model", "net", "module") else name, 0)
            return ("nn.CrossEntropyLoss()", "nn.MSELoss()") if criterion else tuple(modules)[:4]
        if not found:
            for pattern, choices in _NUMBERS.items():
                if re.search(pattern, name.lower()):
                    return (*left_out, *choices)
        if not found and left_out:
            return tuple(left_out)
        return (*found[:_CHOICES], *left_out) or self._guessed(name)

    def _text_of(self, qualified: str) -> str:
        owner, _, method = qualified.rpartition(".")
        function = self._function(owner, method)
        span = self.syntax.span(function) if function is not None else None
        return self.syntax.source(span) if span is not None else ""

    def _guessed(self, name: str) -> tuple[str, ...]:
        """Nothing is known of it: tokens, lengths or states by its name."""
        if not _IMPORTS.search(self.syntax.text):
            self.sizes["d"] = None
            return ("rng.normal(size=(T_enc, d))", "rng.normal(size=(batch_size, T_enc, d))")
        length = "T_enc" if _SECOND.search(name) else "T_dec"
        tokens = (f"torch.randint(1, 5, (batch_size, {length}))", "torch.randint(1, 5, (batch_size,))")
        if _TOKENS.search(name):
            return (*tokens, f"torch.randn(batch_size, {length}, {self._width()})")
        if "len" in name:
            return ("torch.tensor([T_enc, T_enc - 1, 2])", "torch.tensor([T_dec, T_dec - 1, 2])")
        width = self._width()
        states = (
            f"torch.randn(batch_size, {width})",
            f"torch.randn(batch_size, {length}, {width})",
            f"torch.randn(1, batch_size, {width})",
            f"torch.randn(2, batch_size, {width})",
        )
        if re.search(r"state|hidden|cell|^[hcs]$|_0$", name):
            pair = f"torch.randn(1, batch_size, {width}), torch.randn(1, batch_size, {width})"
            return (*states, f"({pair})")
        return (f"torch.randn(batch_size, {length}, {width})", *states, tokens[0])

    def _width(self) -> str:
        width = next((size for size in self.sizes if re.search(r"hid|^d_|dim|emb|size", size)), "d")
        if width == "d":
            self.sizes["d"] = None
        return width

    def _masks(self) -> tuple[str, ...]:
        """Masks over each length that there is: what is kept, what is dropped, and what is past."""
        lengths = ["T_enc", *(n for n in self.sizes if _LENGTH.fullmatch(n)), "T_dec"]
        if not _IMPORTS.search(self.syntax.text):
            keep = "np.arange({0}) < np.array([[{0}], [{0} - 1], [2]])"
            return tuple(keep.format(n) for n in lengths)
        kept: list[str] = []
        for n in lengths:
            keep = f"torch.arange({n}) < torch.tensor([[{n}], [{n} - 1], [2]])"
            kept += [keep, keep.replace("<", ">=")]
            kept += [f"({keep})[:, None, :]", f"({keep})[:, None, None, :]", f"torch.ones({n}, {n}).tril().bool()"]
        return tuple(kept)

    def _drawn(self, qualified: str, name: str) -> Iterator[str]:
        """Expressions that draw a tensor as the analysis has seen it, by its own names first."""
        for axes, kind, library in sorted(set(self._seen(qualified, name)), key=lambda seen: _rough(seen[0])):
            text = ", ".join(self._axis(axis, place, name) for place, axis in enumerate(axes))
            whole = f"({text},)" if len(axes) == 1 else f"({text})"
            if library == "numpy" or not _IMPORTS.search(self.syntax.text):
                yield f"rng.normal(size={whole})" if kind != "int" else f"rng.integers(1, 5, size={whole})"
                continue
            if kind == "bool":
                yield f"torch.rand({text}) < 2"
                continue
            tokens = f"torch.randint(1, 5, {whole})"
            drawn = f"torch.randn({text})"
            likely = kind == "int" or (kind == "" and len(axes) <= 2 and _TOKENS.search(name))
            yield from (tokens, drawn) if likely else (drawn, tokens) if kind == "" else (drawn,)

    def _axis(self, axis: str, place: int, name: str) -> str:
        if axis == "?":
            if place == 0:
                return "batch_size"
            return "T_enc" if _SECOND.search(name) else "T_dec"
        for word in re.findall(r"[A-Za-z_]\w*", axis):
            if word not in ("batch_size", "T_enc", "T_dec"):
                self.sizes[word] = None
        return axis

    def _seen(self, qualified: str, name: str) -> Iterator[tuple[tuple[str, ...], str, str]]:
        """The axes, kind and library of a parameter where an operation used it."""
        by_itself = [entry for entry in self.trace.entries if entry[0]]
        known = False
        for _, start, stop, sizes in (*by_itself, *(entry for entry in self.trace.entries if not entry[0])):
            if known and start == 0:
                return
            for event in self.trace.events[start:stop]:
                if event.function != qualified or event.span.path:
                    continue
                for operand in event.operands:
                    value = operand.value
                    if not isinstance(value, Tensor) or (operand.text != name and value.source != name):
                        continue
                    there = shape_at(event, operand) if operand.text == name else value.shape
                    shape = sizes.shape(there if there is not None else value.shape)
                    known = True
                    if operand.text != name and value.event >= 0:
                        continue
                    kind = value.kind or ("int" if event.short == "Embedding.forward" else "")
                    if shape.rank is not None:
                        axes = tuple(_shown(sizes.show(axis.dim)) for axis in shape.axes)
                        yield axes, kind, value.library
                    elif shape.suffix:
                        tail = tuple(_shown(sizes.show(axis.dim)) for axis in shape.suffix)
                        for more in (1, 2):
                            yield ("?",) * more + tail, kind, value.library


def _shown(text: str) -> str:
    """A size as an expression; ``?`` where it has no name, or is a number of the file's own example."""
    return "?" if "?" in text else text


def _rough(axes: tuple[str, ...]) -> tuple[int, int]:
    """Shapes whose axes all have names come first."""
    return axes.count("?"), -len(axes)


def _layouts(expressions: str, free: Sequence[str]) -> tuple[dict[str, int], ...]:
    """Numbers for the axes that every model has, batches and lengths: lengths that differ, then equal ones."""
    names = [n for n in ("batch_size", "T_dec", "T_enc", *free) if re.search(rf"\b{n}\b", expressions)]
    batches = [n for n in names if BATCH.fullmatch(n)]
    lengths = [n for n in names if n not in batches and _LENGTH.fullmatch(n)]
    ways = []
    for batch, numbers in ((3, (5, 7, 11, 13)), (3, (5, 5, 5, 5)), (5, (3, 3, 3, 3))):
        way = dict.fromkeys(batches, batch)
        ways.append(way | dict(zip(lengths, (*numbers, *numbers, *numbers), strict=False)))
    return tuple(way for index, way in enumerate(ways) if way not in ways[:index])
