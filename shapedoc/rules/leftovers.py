"""What a function or class keeps of a scale that its scores do not get: a size that nothing reads, a scale of 1.

No event of the trace tells what is never read; it is seen in the text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from shapedoc.core.trace import Event, Trace
from shapedoc.rules.claims import scope_text
from shapedoc.rules.scales import Scaled
from shapedoc.rules.written import place_of_scale

__all__ = ["says_how", "scale_left_over"]

_SCALING = re.compile(r"scal|norm|factor|root|sqrt", re.IGNORECASE)
_ONE = re.compile(r"1(\.0*)?")
# ``d_k = query.size(-1)``: the width of the features, by itself.
_WIDTH = re.compile(r"^\s*(\w+)\s*=\s*[\w.]+\.(?:size\(\s*-1\s*\)|shape\[\s*-1\s*\])\s*(?:#.*)?$")
_KEPT = re.compile(r"^\s*(self\.(?:\w*_)?(?:scal(?:e|ing)|norm_factor|sqrt)\w*|(?:\w*_)?scal(?:e|ing)\w*)\s*=(?!=)")
_STRINGS = re.compile(r"\"\"\".*?\"\"\"|\'\'\'.*?\'\'\'", re.DOTALL)
_COMMENTS = re.compile(r"#.*")
# ``softmax(Q K^T / sqrt(d_k)) V`` in a comment or a docstring.
_FORMULA = re.compile(r"softmax\s*[({\[][^\n]{1,40}(?:/|\*|frac)[^\n]{0,24}(?:sqrt|√)", re.IGNORECASE)


def scale_left_over(trace: Trace, event: Event, scaled: Scaled) -> bool:
    """Whether scores are multiplied with a scale that is written as 1, or a size or a scale was made and is not read.

    event: the product that makes the scores.
    """
    if any(_is_one(trace, scaled, i) for i in range(len(scaled.factors))):
        return True
    return not event.span.path and _unread(_function_text(trace, event.span.line), scope_text(trace, event.function))


def says_how(trace: Trace, event: Event) -> bool:
    """Whether the comments or docstrings of the function or class write the formula with its root."""
    text = scope_text(trace, event.function)
    return any(_FORMULA.search(said) for said in (*_STRINGS.findall(text), *_COMMENTS.findall(text)))


def _is_one(trace: Trace, scaled: Scaled, index: int) -> bool:
    factor = scaled.factors[index]
    operand = factor.operand
    if operand is None or operand.span is None or operand.span.path or factor.coefficient != 1.0:
        return False
    if factor.number is None or factor.number.powers or not _SCALING.search(trace.source(operand.span)):
        return False
    place = place_of_scale(trace, factor)
    return place != operand.span and _ONE.fullmatch(trace.source(place)) is not None


@lru_cache(maxsize=64)
def _unread(function: str, scope: str) -> bool:
    """Whether a width or a scale is assigned that is named nowhere else, by the texts of a function and its class."""
    code = _code(function)
    for line in code.splitlines():
        match = _WIDTH.match(line) or _KEPT.match(line)
        if match is None or match[1].startswith("self."):
            continue
        if len(re.findall(rf"(?<![\w.]){re.escape(match[1])}\b", code)) == 1:
            return True
    whole = _code(scope)
    kept = [match[1] for match in map(_KEPT.match, whole.splitlines()) if match is not None]
    return any(name.startswith("self.") and len(re.findall(rf"{re.escape(name)}\b", whole)) == 1 for name in kept)


def _code(text: str) -> str:
    return _COMMENTS.sub("", _STRINGS.sub("", text))


def _function_text(trace: Trace, number: int) -> str:
    """The text of the function that a line stands in."""
    lines = trace.text.splitlines()
    start = number - 1
    indent = len(lines[start]) - len(lines[start].lstrip())
    while start > 0:
        line = lines[start]
        depth = len(line) - len(line.lstrip())
        if depth < indent and line.lstrip().startswith(("def ", "async def ")):
            break
        start -= 1
    depth = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > depth):
        end += 1
    return "\n".join(lines[start:end])
