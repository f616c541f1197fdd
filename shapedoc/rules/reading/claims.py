"""What the author says that a piece of code is: names of classes and functions, docstrings, comments.

A claim is no fact: it is compared with what the code does.
"""

from __future__ import annotations

import re
from functools import lru_cache

from shapedoc.core.trace import Event, Trace

__all__ = ["claims", "claims_of", "prose_of", "said_of", "scope_text"]

_WORDS = {
    "bahdanau": re.compile(r"bahdanau|1409\.0473|jointly learning to align", re.IGNORECASE),
    "luong": re.compile(r"luong|1508\.04025|effective approaches to attention", re.IGNORECASE),
    "scaled-dot": re.compile(r"(?<!un)(?<!\.)scaled?[ _-]*dot[ _-]*product", re.IGNORECASE),
    "transformer": re.compile(
        r"transformer|scaled[ _-]?dot|multi[ _-]?head|vaswani|attention is all you need|1706\.03762", re.IGNORECASE
    ),
}

_HEAD = re.compile(r"\s*(?:class|(?:async\s+)?def)\s")
_NAMED = re.compile(r"\s*(?:class|(?:async\s+)?def)\s+(\w+)")
_STRINGS = re.compile(r"\"\"\".*?\"\"\"|\'\'\'.*?\'\'\'", re.DOTALL)
# Comments on lines below each other are one text.
_COMMENTS = re.compile(r"#[^\n]*(?:\n[ \t]*#[^\n]*)*")


def prose_of(text: str) -> tuple[str, ...]:
    """The docstrings and comments in a piece of code."""
    return (*_STRINGS.findall(text), *_COMMENTS.findall(text))


def claims(trace: Trace, event: Event) -> frozenset[str]:
    """What is claimed of the function or class that an event lies in, and of those that call it."""
    scopes = {event.function, *(c.function for c in event.calls)}
    return frozenset().union(*(claims_of(trace, s) for s in scopes if s))


@lru_cache(maxsize=256)
def claims_of(trace: Trace, function: str) -> frozenset[str]:
    """What is claimed of the class of a method, or of a function."""
    text = scope_text(trace, function)
    return frozenset(claim for claim, pattern in _WORDS.items() if pattern.search(text))


@lru_cache(maxsize=256)
def said_of(trace: Trace, function: str) -> frozenset[str]:
    """What the name, the docstrings and the comments of a class or function claim; names that it uses say less."""
    text = scope_text(trace, function)
    head = next((line for line in text.splitlines() if _HEAD.match(line)), "")
    words = [head.split(":")[0], *prose_of(text)]
    return frozenset(claim for claim, pattern in _WORDS.items() if any(pattern.search(w) for w in words))


@lru_cache(maxsize=256)
def scope_text(trace: Trace, function: str) -> str:
    """The source of the class of a method, or of a function, with its name, docstring and comments."""
    lines, heads = _heads(trace)
    start = heads.get(function.split(".")[0])
    if start is None:
        return ""
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1
    while start > 0 and lines[start - 1].lstrip().startswith(("#", "@")):
        start -= 1
    return "\n".join(lines[start:end])


@lru_cache(maxsize=2)
def _heads(trace: Trace) -> tuple[list[str], dict[str, int]]:
    """The lines of the text, and for every name of a class or function the first line that defines it."""
    lines = trace.text.splitlines()
    heads: dict[str, int] = {}
    for number, line in enumerate(lines):
        match = _NAMED.match(line)
        if match is not None:
            heads.setdefault(match[1], number)
    return lines, heads
