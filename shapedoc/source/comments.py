"""The comments of a file, found without a tokenizer.

``tokenize`` reads 40,000 lines a second; this scan looks only at quotes and hashes and agrees with it on every file
that parses. An f-string may hold strings, comments and f-strings of its own (PEP 701), so one whose text has both
braces and quotes or hashes is walked with its nesting.
"""

from __future__ import annotations

import re

from shapedoc.source.ir import Comment
from shapedoc.source.parse import normalise

__all__ = ["find_comments"]

_TOKEN = re.compile(
    r"""#[^\n]*"""
    r'''|"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*"""'''
    r"""|'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*'''"""
    r'''|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"'''
    r"""|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*'""",
    re.DOTALL,
)
_QUOTE = re.compile(r'"""|\'\'\'|"|\'')
_PREFIX = re.compile(r"(?<!\w)(?:[fFtT][rR]?|[rR][fFtT])\Z")
_IN_EXPRESSION = re.compile(r"""[][(){}"'#:]""")
_AFTER_BRACE = re.compile(r"""[{].*(?:["'#]|[}]{2})""", re.DOTALL)


def find_comments(text: str) -> list[Comment]:
    """Every comment of `text` in order; of a text that does not parse, what looks like one."""
    if "#" not in text:
        return []
    scan = _Scan(normalise(text))
    try:
        scan.run()
    except RecursionError:
        # f-strings nested hundreds deep, which no Python parses
        return scan.found
    return scan.found


class _Scan:
    """One pass over a text; offsets of hashes are turned into lines and columns as they come."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Comment] = []
        self.line = 1
        self.counted = 0

    def run(self) -> None:
        """Find every comment."""
        text, position = self.text, 0
        search = _TOKEN.search
        last = text.rfind("#")
        while position <= last and (match := search(text, position)):
            start = match.start()
            position = match.end()
            if text[start] == "#":
                self.comment(start, position)
            elif self.formatted(start) and _may_nest(text, start, position):
                position = self.string(start)

    def comment(self, start: int, end: int) -> None:
        """Note the comment that stands from `start` to `end`."""
        text = self.text
        self.line += text.count("\n", self.counted, start)
        self.counted = start
        line_start = text.rfind("\n", 0, start) + 1
        span = (self.line, start - line_start, self.line, end - line_start)
        own_line = not text[line_start:start].strip()
        self.found.append(Comment(span, text[start + 1 : end].strip(), own_line))

    def formatted(self, quote: int) -> bool:
        """Whether the string whose first quote is at `quote` has replacement fields."""
        before = self.text[quote - 1 : quote]
        return before in "fFtTrR" and before != "" and _PREFIX.search(self.text, max(0, quote - 3), quote) is not None

    def string(self, start: int) -> int:
        """The end of the formatted string whose first quote is at `start`."""
        opened = _QUOTE.match(self.text, start)
        if opened is None:
            return start + 1
        raw = self.text[max(0, start - 2) : start].lower().find("r") >= 0
        return self.literal(opened.end(), opened.group(), raw=raw, specification=False)

    def literal(self, position: int, quote: str, *, raw: bool, specification: bool) -> int:
        """The end of the literal text from `position`: past the closing quote, or at the ``}`` of a specification."""
        text = self.text
        while position < len(text):
            if text.startswith(quote, position):
                return position if specification else position + len(quote)
            here = text[position]
            if here == "\\" and not (raw and text[position + 1 : position + 2] in "{}"):
                position = self.escape(position, raw=raw)
            elif here == "{" and text.startswith("{{", position) and not specification:
                position += 2
            elif here == "{":
                position = self.field(position + 1, quote, raw=raw)
            elif here == "}" and specification:
                return position
            else:
                position += 1
        return position

    def escape(self, position: int, *, raw: bool) -> int:
        """The end of the backslash sequence at `position`; ``\\N{...}`` is no field."""
        text = self.text
        if text.startswith("\\N{", position) and not raw:
            return text.find("}", position) + 1 or len(text)
        return position + 1 if text[position + 1 : position + 2] in "{}" else position + 2

    def field(self, position: int, quote: str, *, raw: bool) -> int:
        """The end of the replacement field whose expression starts at `position`, past its ``}``."""
        text, depth = self.text, 0
        while match := _IN_EXPRESSION.search(text, position):
            start, here = match.start(), match.group()
            position = start + 1
            if here in "([{":
                depth += 1
            elif here == "}" and depth == 0:
                return position
            elif here in ")]}":
                depth -= 1
            elif here == "#":
                position = _end_of_line(text, start)
                self.comment(start, position)
            elif here in "\"'":
                position = self.nested(start)
            elif here == ":" and depth == 0:
                position = self.literal(position, quote, raw=raw, specification=True)
        return len(text)

    def nested(self, start: int) -> int:
        """The end of a string inside an expression."""
        if self.formatted(start):
            return self.string(start)
        match = _TOKEN.match(self.text, start)
        return match.end() if match else start + 1


def _end_of_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _may_nest(text: str, start: int, end: int) -> bool:
    """Whether a formatted string that looks as if it ended at `end` may really end elsewhere or hold a comment."""
    width = 3 if end - start >= 6 and text.startswith(('"""', "'''"), start) else 1
    inner = text[start + width : end - width]
    if "{" not in inner:
        return False
    return inner.count("{") != inner.count("}") or _AFTER_BRACE.search(inner) is not None
