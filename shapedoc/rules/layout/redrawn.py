"""Weights of some layers that are set up apart from the others, and to the very same: by a scale that is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shapedoc.core.finding import Finding
from shapedoc.core.span import Span
from shapedoc.core.trace import Trace
from shapedoc.rules.reading.wording import finding, label

__all__ = ["redrawn"]

# ``for name, p in self.named_parameters(): if name.endswith("out.weight"):``, and what is done there.
_LOOP = re.compile(
    r"^(?P<loop>[ \t]*)for[ \t]+(?P<name>\w+)[ \t]*,[ \t]*(?P<p>\w+)[ \t]+in[ \t]+[\w.]*named_parameters\(\)[ \t]*:"
    r"[^\n]*\n(?P<body>(?:(?P=loop)[ \t]+[^\n]*\n|[ \t]*\n){1,8})",
    re.MULTILINE,
)
_DRAWS = r"normal_\([ \t]*{what}(?:\.data)?[ \t]*,[ \t]*mean[ \t]*=[ \t]*0(?:\.0*)?[ \t]*,[ \t]*std[ \t]*=[ \t]*"
_NUMBER = re.compile(r"(\d*\.\d+)[ \t]*\)")
_ONE = r"^[ \t]*{name}(?:[ \t]*:[ \t]*float)?[ \t]*=[ \t]*1(?:\.0*)?[ \t]*(?:#[^\n]*)?$"


def redrawn(trace: Trace, code: str, name: str) -> Iterator[Finding]:
    """The maps into the residual stream, drawn as all linear maps are, or multiplied with 1.

    Source: Radford et al. 2019, section 2.3: such weights are scaled by 1 / sqrt(n) of the residual layers.
    """
    text = trace.text
    if "named_parameters()" not in text or not trace.events:
        return
    for loop in _LOOP.finditer(text):
        body, start = loop["body"], loop.start("body")
        if not re.search(rf"if[ \t][^\n]*\b{loop['name']}\b[^\n]*:", body):
            continue
        at, why = _again(text, body, loop["p"]) or _by_one(text, loop.start(), body, loop["p"]) or (None, "")
        if at is None:
            continue
        span = _span(text, start + at[0], start + at[1])
        event = max((e for e in trace.events if e.span.line <= span.line), key=lambda e: e.span.line, default=None)
        if event is None:
            continue
        yield finding(
            trace,
            event,
            span,
            code=code,
            name=name,
            severity="warning",
            message=f"this changes nothing: {why}",
            labels=label(_span(text, loop.start(), loop.start("body") - 1), "some weights are taken out by name here"),
            why="whoever takes weights out by their name means to set them up otherwise: those of maps into the "
            "residual stream are divided by the root of their number, so that depth does not make it grow",
            help="std=0.02 / math.sqrt(2 * n_layers), or the same factor",
        )


def _again(text: str, body: str, p: str) -> tuple[tuple[int, int], str] | None:
    """Where a parameter is drawn from the spread that the weights of all modules are drawn from."""
    draw = re.search(_DRAWS.format(what=p), body)
    number = _NUMBER.match(body, draw.end()) if draw is not None else None
    if draw is None or number is None:
        return None
    spread = number[1]
    for other in re.finditer(_DRAWS.format(what=r"\w+\.weight"), text):
        found = _NUMBER.match(text, other.end())
        if found is not None and float(found[1]) == float(spread):
            return (draw.start(), number.end()), f"all weights are drawn with a spread of {spread}"
    return None


def _by_one(text: str, start: int, body: str, p: str) -> tuple[tuple[int, int], str] | None:
    """Where a parameter is multiplied with a name that is 1, set in the lines before."""
    factor = re.search(rf"\b{p}(?:\.data)?\.mul_\([ \t]*(\w+)[ \t]*\)", body)
    before = "\n".join(text[:start].splitlines()[-6:]) + "\n"
    if factor is None or not re.search(_ONE.format(name=re.escape(factor[1])), before, re.MULTILINE):
        return None
    return factor.span(), f"`{factor[1]}` is 1"


def _span(text: str, start: int, end: int) -> Span:
    line, last = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
    return Span(line, start - text.rfind("\n", 0, start) - 1, last, end - text.rfind("\n", 0, end) - 1)
