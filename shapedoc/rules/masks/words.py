"""What docstrings and comments say of a mask's ones and zeros: that they are seen, or that they are hidden."""

from __future__ import annotations

import re
from functools import lru_cache

from shapedoc.core.trace import Trace
from shapedoc.rules.reading.claims import prose_of, scope_text
from shapedoc.rules.reading.masks import Sign

__all__ = ["stated_sign"]

# Shapes and the like, whose numbers stand for nothing.
_BRACKETS = re.compile(r"\((?![^()]*\b(?:if|for|is|means|where)\b)[^()]*\)|\[[^\[\]]*\]|[`*]")
# Where what is said of another parameter begins.
_NEXT = re.compile(
    r"\n\s*\n|\n[^\S\n]*#?[^\S\n]*(?:[-*•]\s*|:param\s+|@param\s+)?\w+[^\S\n]*(?:\([^()\n]*\))?[^\S\n]*:|\"\"\""
)
_LINK = (
    r"\s*(?:=+|:|->|\u2192|-|\u2013|,|\b(?:for|means?|meaning|is|are|indicat(?:es?|ing)|will|where|if|marks?|at|in|values?|"
    r"positions?|elements?|entries|tokens?)\b)"
)
_GAP = r"(?:[^\w.;\n]+(?!not\b|non\b|no\b|0\b|1\b|true\b|false\b)\w+){0,6}[^\w.;\n]+"
_NOT = r"(?:[^\w.;\n]+(?!0\b|1\b|true\b|false\b)\w+){0,5}[^\w.;\n]+(?:not|non|no)[^\w.;\n]+(?:be\s+|to\s+be\s+|a\s+)?"
_HIDDEN = (
    r"(?:masked|mask\s+out|masking|ignored?|hidden|hide|padd?ing|padded|pads?\b|excluded|invalid|blocked|disallowed)"
)
_SEEN = r"(?:attend\w*|kept|keep|valid|real|visible|seen|allowed|unmasked|included?)"
_ZERO, _ONE = r"(?<![\w.])(?:0|zeros?|false)\b", r"(?<![\w.])(?:1|ones?|true)\b"
# "padding is 1", which is read as "1 means padding"; "set to 0, masked …", which says nothing of what 0 means.
_AFTER = re.compile(
    rf"\b((?:(?:not|non)[ -]?)?(?:{_HIDDEN}|{_SEEN})(?: \w+){{0,2}}) ?(?:\bis|\bare|=|==|:) ({_ZERO}|{_ONE})",
    re.IGNORECASE,
)
_MADE = re.compile(rf"\bto ({_ZERO}|{_ONE})(?=\s*,)", re.IGNORECASE)
_NON = re.compile(r"\b(non|un)-?(?=pad|mask)", re.IGNORECASE)


def _patterns(seen: str, hidden: str) -> re.Pattern[str]:
    """A text that says what `seen` is seen, or that what `hidden` is hidden."""
    ways = (
        f"{seen}{_LINK}{_GAP}{_SEEN}",
        f"{seen}{_LINK}{_NOT}{_HIDDEN}",
        f"{hidden}{_LINK}{_GAP}{_HIDDEN}",
        f"{hidden}{_LINK}{_NOT}{_SEEN}",
    )
    return re.compile("|".join(ways), re.IGNORECASE)


_KEEP, _DROP = _patterns(_ONE, _ZERO), _patterns(_ZERO, _ONE)
# ``mask[i, j]`` says whether the query at i has access to the key at j.
_WHETHER = re.compile(
    r"whether\b[^.;]{0,80}?\b(?:has\s+access|can\s+attend|may\s+attend|can\s+see|is\s+visible|is\s+allowed)",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def stated_sign(trace: Trace, function: str, name: str) -> Sign | None:
    """What is said of the true elements of a parameter of a function; None where nothing is, or both."""
    found: set[Sign] = set()
    text = scope_text(trace, function)
    for said in prose_of(text):
        for match in re.finditer(rf"(?<![\w.]){re.escape(name)}\b", said):
            rest = said[match.end() :]
            end = _NEXT.search(rest)
            part = _BRACKETS.sub(" ", rest[: end.start() if end is not None else 400][:400]).replace("#", " ")
            part = _MADE.sub(" ", _NON.sub("not ", re.sub(r"\s+", " ", part)))
            part = _AFTER.sub(r"; \2 means \1;", part)
            if _KEEP.search(part) or _WHETHER.search(part):
                found.add("keep")
            if _DROP.search(part):
                found.add("drop")
    return found.pop() if len(found) == 1 else None
