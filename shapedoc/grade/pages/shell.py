"""The shell of every page, and its pieces: one file that needs nothing else, runs no script and asks for nothing.

The policy in its head forbids whatever is not written here: the style sheet alone is allowed, by its hash.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path

from shapedoc.grade.assignment import Language
from shapedoc.grade.messages import say
from shapedoc.grade.pages.text import safe, safe_line

__all__ = ["SIGNS", "bar", "code", "inline", "page", "prose", "sign"]

SIGNS = {"passed": "✓", "partial": "◐", "failed": "✗", "not_run": "!", "hidden": "?"}
_TAGS = {"en": "en", "zh": "zh-Hans"}
_SPAN = re.compile(r"`([^`\n]+)`")


def page(title: str, body: Iterable[str], language: Language) -> str:
    """A whole document; `body` is HTML, `title` is not."""
    style = _style()
    allowed = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
    parts = [
        f'<!DOCTYPE html>\n<html lang="{_TAGS[language]}">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{inline(title)}</title>\n<style>{style}</style>\n</head>",
        '<body>\n<div class="sheet">',
        *body,
        f'<footer class="foot">{inline(say(language, "report.privacy"))}</footer>',
        "</div>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


@cache
def _style() -> str:
    return (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


def inline(text: str) -> str:
    """A text on one line, as it may stand in an element or an attribute."""
    return escape(safe_line(text))


def prose(text: str) -> str:
    """A text on one line, what stands in backticks as code."""
    return _SPAN.sub(r"<code>\1</code>", inline(text))


def code(text: str) -> str:
    """A text with its lines."""
    return f"<pre>{escape(safe(text))}</pre>"


def sign(status: str, says: str) -> str:
    """The sign of a status, with the word that a screen reader says."""
    return f'<span class="sign {escape(status)}" role="img" aria-label="{inline(says)}">{SIGNS[status]}</span>'


def bar(parts: Sequence[tuple[str, float]], whole: float, says: str) -> str:
    """Shares of a whole side by side, each with its class, on the colour of what is left."""
    drawn: list[str] = []
    x = 0.0
    for kind, share in parts:
        width = 100 * share / whole if whole else 0.0
        if width > 0:
            drawn.append(f'<rect class="{escape(kind)}" x="{x:.2f}" width="{width:.2f}" height="6"/>')
        x += width
    return (
        f'<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="{inline(says)}">'
        f'<rect class="rest" width="100" height="6"/>{"".join(drawn)}</svg>'
    )
