"""The prompt for a language model of the user's choice: the shipped text with code, shapes and findings put in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from shapedoc.core.finding import Finding
from shapedoc.core.prompts import prompt_text
from shapedoc.core.span import Span
from shapedoc.core.text import split_lines
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.diagnosis import NoSuchName, names_in, within

__all__ = ["NoRoom", "render_prompt"]

_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_LEFT_OUT = "[...]"
# What a line of code and the marks around it need.
_ROOM = 160


class NoRoom(ValueError):
    """A prompt that cannot be as short as it is asked to be; the text says how long it must be."""


def render_prompt(bench: Bench, name: str = "", *, symptom: str = "", max_chars: int = 0) -> str:
    """The prompt for a file, or for one class or function in it; nothing is sent anywhere.

    max_chars: the longest that it may be (0: no limit). The code nearest to the findings is kept, and what is left out
    is marked. Raises NoSuchName for a name that the file has not, NoRoom where not even the findings fit.
    """
    names = names_in(bench)
    if name and name not in names:
        raise NoSuchName(f"there is no `{name}` in {bench.path}; there are: {', '.join(names) or 'none'}")
    findings = [f for f in bench.findings if not name or within(f, name)]
    template = _FRONT.sub("", prompt_text("attention-shapes")).lstrip("\n")
    parts = {"sizes": _sizes(findings), "findings": _findings(findings), "symptom": symptom or "none is known"}
    bare = len(_filled(template, {**parts, "code": ""}))
    least = bare + _ROOM
    if max_chars and max_chars < least:
        raise NoRoom(f"the prompt has {bare} characters without any code; --max-chars takes {least} or more")
    room = max_chars - bare if max_chars else None
    return _filled(template, {**parts, "code": _code(bench, name, findings, room)})


def _filled(template: str, parts: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: parts.get(found[1], found[0]), template)


def _sizes(findings: Iterable[Finding]) -> str:
    """Every shape that the findings speak of, each once."""
    lines: list[str] = []
    for finding in findings:
        if finding.actual:
            lines.append(f"- `{finding.tensor}` is {finding.actual}")
        lines += [f"- line {label.span.line}: {label.text}" for label in finding.labels if "(" in label.text]
    return "\n".join(dict.fromkeys(lines)) or "none are known"


def _findings(findings: Iterable[Finding]) -> str:
    lines = [
        f"- {f.code} {f.name}, line {f.span.line}: {f.message}" + (f" (expected {f.expected})" if f.expected else "")
        for f in findings
    ]
    return "\n".join(lines) or "none"


def _code(bench: Bench, name: str, findings: Sequence[Finding], room: int | None) -> str:
    """The code with line numbers; where it must be shorter, the lines farthest from a finding go first."""
    lines = [line.rstrip("\r\n") for line in split_lines(bench.text)]
    first, last = _extent(bench, name, len(lines))
    chosen = list(range(first, last + 1))
    marked = [f.span.line for f in findings] or [first]
    if room is not None:
        near = sorted(chosen, key=lambda n: (min(abs(n - m) for m in marked), n))
        kept: list[int] = []
        used = len(_LEFT_OUT) * 2 + 20
        for number in near:
            used += len(lines[number - 1]) + 7
            if used > room:
                break
            kept.append(number)
        chosen = sorted(kept)
    shown: list[str] = []
    previous = first - 1
    for number in chosen:
        if number != previous + 1:
            shown.append(_LEFT_OUT)
        shown.append(f"{number:4}  {lines[number - 1]}".rstrip())
        previous = number
    if previous < last:
        shown.append(_LEFT_OUT)
    return "\n".join(shown)


def _extent(bench: Bench, name: str, length: int) -> tuple[int, int]:
    """The lines of a class or function."""
    span = bench.syntax.named(name) if name else None
    return (span.line, span.end_line) if isinstance(span, Span) else (1, length)
