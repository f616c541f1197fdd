"""Lines of a source text, as Python counts them."""

from __future__ import annotations

import re

__all__ = ["split_lines"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    r"""Return the lines of `text`, ends included; only ``\n``, ``\r\n`` and ``\r`` end a line.

    ``str.splitlines`` also breaks at form feeds and other separators, which Python's parser does not count.
    """
    return _LINE.findall(text)
