"""Texts that only an older Python reads: told from where, and of what, the parser of this one complains.

Each complaint about a form that was Python once is answered by a form of today that parses alike, and the rest is read
again; so no string and no comment is ever taken for code. What then parses must have nothing that came later.
Source: The Python 2.7 Language Reference, full grammar specification; PEP 492, which made a keyword of `async`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from shapedoc.core.text import split_lines

__all__ = ["older_python"]

_PYTHON_2, _BEFORE_ASYNC = "Python 2", "Python 3.6 or older"
_ENOUGH = 20
_TAB = 8

_OCTAL = re.compile(r"0+[0-7]+[lL]?(?!\w)")
_LONG = re.compile(r"[0-9a-fA-F][lL](?!\w)")
_UNICODE = re.compile(r"(?<!\w)[uU](?=[rR]$)")
_ASYNC = re.compile(r"async[ \t]*=(?!=)")
_RAISED = re.compile(r"(?<!\w)raise[ \t]+[\w.]+[ \t]*$")


def older_python(text: str, tree_of: Callable[[str], ast.Module]) -> str:
    """Which older Python a text that does not parse is written for; "" where none is known to read it.

    `tree_of` parses a text, or raises SyntaxError. A text that goes wrong somewhere else, after a form that only
    Python 2 has, is in Python 2 all the same.
    """
    needed: list[str] = []
    spaced = False
    while len(needed) < _ENOUGH:
        try:
            tree = tree_of(text)
        except IndentationError:  # Python 2 takes a tab for as many spaces as lead to the next eighth column
            if spaced or "\t" not in text:
                break
            text, spaced = text.expandtabs(_TAB), True
        except SyntaxError as problem:
            mended = _mended(text, problem)
            if mended is None:
                break
            text, version = mended
            needed.append(version)
        except (RecursionError, MemoryError, ValueError):
            break
        else:
            version = min(needed, default="")
            newer = {_PYTHON_2: _python_2_lacks, _BEFORE_ASYNC: _is_newer}.get(version)
            return version if newer and not any(map(newer, ast.walk(tree))) else ""
    return _PYTHON_2 if _PYTHON_2 in needed else ""


def _mended(text: str, problem: SyntaxError) -> tuple[str, str] | None:
    """The text with the form at which the parser gave up written for today, and the Python that has that form."""
    lines = split_lines(text)
    number, column = problem.lineno or 0, (problem.offset or 0) - 1
    if not 0 < number <= len(lines) or column < 0:
        return None
    line = lines[number - 1]
    end = (problem.end_offset or 0) - 1 if problem.end_lineno == number else len(line)
    named = _ASYNC.match(line, column)  # f(async=True)
    mended = f"{line[:column]}_{line[column:]}" if named else _line(line, column, end, problem.msg or "")
    if mended is None:
        return None
    lines[number - 1] = mended
    return "".join(lines), _BEFORE_ASYNC if named else _PYTHON_2


def _line(line: str, start: int, end: int, message: str) -> str | None:
    """One line with the form at `start` written for Python 3, by what the parser says of it."""
    before, form, after = line[:start], line[start:end], line[end:]
    if message.startswith("Missing parentheses in call to"):  # print x, exec x
        word = re.match(r"print|exec", line[start:])
        return f"{before}{word[0]}={line[start + word.end() :]}" if word else None
    if message.startswith("leading zeros in decimal integer literals"):  # 0777
        octal = _OCTAL.match(line, start)
        return f"{before}0o{octal[0].rstrip('lL')}{line[octal.end() :]}" if octal else None
    if message.startswith("invalid ") and message.endswith(" literal"):  # 10L
        return f"{line[: start + 1]}{line[start + 2 :]}" if _LONG.match(line, start) else None
    if message.startswith("multiple exception types must be parenthesized"):  # except (A, B), error:
        kinds, _, name = form.rpartition(",")
        return f"{before}{kinds} as {name.strip()}{after}" if name.strip().isidentifier() else None
    if message.endswith(" parameters cannot be parenthesized"):  # def f(a, (b, c)):
        return f"{before}{form.replace('(', ' ').replace(')', ' ')}{after}"
    return _plain(line, start) if message == "invalid syntax" else None


def _plain(line: str, start: int) -> str | None:
    """The same of forms for which the parser has no words of its own."""
    before, after = line[:start], line[start:]
    if after.startswith("<>"):
        return f"{before}!={after[2:]}"
    if after.startswith("`") and "`" in after[1:]:
        return f"{before}({after[1:].replace('`', ')', 1)}"
    if after.startswith(("'", '"')) and _UNICODE.search(before):
        return f"{_UNICODE.sub('', before)}{after}"
    if after.startswith(",") and _RAISED.search(before):  # raise Kind, "message"
        return f"{before};{after[1:]}"
    return None


_NEW = (ast.NamedExpr, ast.Match)
_LACKING = (
    ast.JoinedStr,
    ast.AnnAssign,
    ast.AsyncFunctionDef,
    ast.Await,
    ast.Nonlocal,
    ast.MatMult,
    ast.YieldFrom,
    *_NEW,
)


def _is_newer(node: ast.AST) -> bool:
    """Whether a node stands for a form that came after `async` had become a keyword."""
    return isinstance(node, _NEW)


def _python_2_lacks(node: ast.AST) -> bool:
    """Whether a node stands for a form that Python 2 does not have."""
    match node:
        case ast.FunctionDef(returns=ast.expr()) | ast.arg(annotation=ast.expr()) | ast.Raise(cause=ast.expr()):
            return True
        case ast.arguments():
            return bool(node.kwonlyargs or node.posonlyargs)
        case ast.ClassDef():
            return bool(node.keywords)
        case ast.Call(func=ast.Name(id="print")):
            return bool(node.keywords)
        case _:
            return isinstance(node, _LACKING)
