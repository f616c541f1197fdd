"""What only IPython reads in a cell of a notebook, replaced by Python that does nothing.

Every line stays a line, and what is left of the cell stands in the columns where it was written. ``%magic``,
``!command``, ``pip install name`` and ``help?`` become ``pass``, ``names = !command`` binds the names to something
unknown, and a cell in another language becomes blank. ``%time statement`` and ``%%time`` keep the Python that they
time.
"""

from __future__ import annotations

import re

from shapedoc.core.text import split_lines

__all__ = ["plain_python"]

# Cell magics after which the rest of the cell is Python that runs in the notebook's own names.
_PYTHON_CELLS = frozenset(("capture", "debug", "prun", "time", "timeit"))

_CELL_MAGIC = re.compile(r"[ \t]*%%(\w*)")
_LINE_MAGIC = re.compile(r"([ \t]*)[%!?/,;]")
# Magics that IPython takes without their `%`, where what follows makes no Python of them.
_BARE_MAGIC = re.compile(
    r"([ \t]*)(?:cat|cd|conda|cp|ls|mamba|mkdir|mv|pip|rm|rmdir|uv)[ \t]+"
    r"(?:\.\.|--?\w[\w-]*[ \t]+[\w./~'\"]|(?!(?:and|if|in|is|not|or)\b)[\w'\"~])"
)
_TIMED = re.compile(r"([ \t]*)%time[ \t](?=[ \t]*[^\s\\])")
_HELP = re.compile(r"([ \t]*)[^#'\"\r\n]*?[\w*\])]\?{1,2}[ \t]*;?[ \t]*(?:\r\n|\r|\n)?\Z")
_ASSIGNED = re.compile(r"([ \t]*[^\s=!<>#'\"%][^=!<>#'\"%\r\n]*=[ \t]*)[%!](?!=)")
_BREAK = re.compile(r"(?:\r\n|\r|\n)?\Z")
_TOKEN = re.compile(
    r"""#[^\r\n]*"""
    r'''|"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*"""'''
    r"""|'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*'''"""
    r'''|"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*"'''
    r"""|'[^'\\\r\n]*+(?:\\.[^'\\\r\n]*+)*'"""
    r"""|\\(?:\r\n|.)|[(\[{]|[)\]}]|\r\n|\r|\n""",
    re.DOTALL,
)


def plain_python(source: str, *, timed: bool = True) -> str:
    """The source of a code cell as plain Python; what `%time` times is kept with `timed` only."""
    lines = split_lines(source)
    start = next((n for n, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")), len(lines))
    if start < len(lines) and (magic := _CELL_MAGIC.match(lines[start])):
        if magic[1] not in _PYTHON_CELLS:
            return "".join(map(_blank, lines))
        lines[start : _continued(lines, start)] = _idle(lines, start, "")
        start += 1
    while start < len(lines):
        start = _statement(lines, start, timed=timed)
    return "".join(lines)


def _statement(lines: list[str], start: int, *, timed: bool) -> int:
    """Replace what must be in the statement that begins on line `start`, and return the line after it."""
    line = lines[start]
    if timed and (time := _TIMED.match(line)):
        lines[start] = f"{time[1]}pass; {line[time.end() :]}"
        return _end(lines, start)
    if magic := _LINE_MAGIC.match(line) or _BARE_MAGIC.match(line) or _HELP.match(line):
        end = _continued(lines, start)
        lines[start:end] = _idle(lines, start, f"{magic[1]}pass")
        return end
    if assigned := _ASSIGNED.match(line):
        end = _continued(lines, start)
        lines[start:end] = _idle(lines, start, f"{assigned[1]}get_ipython()")
        return end
    return _end(lines, start)


def _end(lines: list[str], start: int) -> int:
    """The line after the Python statement that begins on line `start`: brackets and strings hold lines together."""
    text = "".join(lines[start:])
    depth = breaks = 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "(" | "[" | "{":
                depth += 1
            case ")" | "]" | "}":
                depth -= 1
            case "\n" | "\r\n" | "\r":
                breaks += 1
                if depth <= 0:
                    return start + breaks
            case other:
                breaks += len(re.findall(r"\r\n|\r|\n", other))
    return len(lines)


def _continued(lines: list[str], start: int) -> int:
    """The line after a magic that begins on line `start`: only backslashes hold its lines together."""
    end = start
    while end < len(lines) - 1 and lines[end].rstrip("\r\n").endswith("\\"):
        end += 1
    return end + 1


def _idle(lines: list[str], start: int, first: str) -> list[str]:
    """The lines of a magic, `first` in the place of the first of them and the rest blank."""
    blank = [_blank(line) for line in lines[start : _continued(lines, start)]]
    return [first + blank[0], *blank[1:]]


def _blank(line: str) -> str:
    """The line break of a line; the last line needs one too, or else it were no line."""
    return _BREAK.findall(line)[0] or "\n"
