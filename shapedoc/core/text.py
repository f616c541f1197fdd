"""Lines of a source text, as Python counts them, and in words."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["lines_in_words", "split_lines"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    r"""Return the lines of `text`, ends included; only ``\n``, ``\r\n`` and ``\r`` end a line.

    ``str.splitlines`` also breaks at form feeds and other separators, which Python's parser does not count.
    """
    return _LINE.findall(text)


def lines_in_words(lines: Iterable[int], most: int = 4) -> str:
    """Return ``line 3, line 5 and line 8``: each line once, in order; past `most` of them, how many more there are."""
    numbers = sorted(set(lines))
    named = [f"line {number}" for number in numbers[:most]]
    last = f"{len(numbers) - most} more" if len(numbers) > most else named.pop() if named else ""
    return f"{', '.join(named)} and {last}" if named else last
