"""Edits of programs: at random, without regard to sense; and such as take away only what was said and not done."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from random import Random
from typing import TypeVar

from tests.laws.tokens import Change, changed, place_of, tokens

__all__ = ["without_annotations", "without_comments", "without_defaults", "wrecked"]

_ABOUT_THE_TOOL = re.compile(r"shapedoc\s*:|noqa", re.IGNORECASE)
_T = TypeVar("_T")
_NUMBERS = ("0", "1", "-1", "2", "3", "10**9", "2.5", "None", "()")
_OPERATORS = ("+", "-", "*", "/", "//", "@", "%", "==", "**", ",", ".", ":")
_EXPRESSIONS = ("[{}]", "({},)", "not {}", "-{}", "{}.T", "{}[0]", "{}[..., None]", "*{}", "{}()", "lambda: {}")


def wrecked(text: str, random: Random) -> str:
    """The program after a few edits of the kind that a hasty hand makes; mostly it still parses."""
    for _ in range(random.randint(1, 4)):
        tries = [random.choice((_token, _token, _token, _lines))(text, random) for _ in range(4)]
        text = next((tried for tried in tries if _parses(tried)), tries[0])
    return text


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _token(text: str, random: Random) -> str:
    try:
        found = [token for token in tokens(text) if token.kind != "COMMENT"]
    except (SyntaxError, tokenize.TokenError):
        return _lines(text, random)
    if len(found) < 2:
        return text
    index = random.randrange(len(found) - 1)
    token, after = found[index], found[index + 1]
    names = [one.text for one in found if one.kind == "NAME"] or ["x"]
    match random.randrange(5):
        case 0:
            change: Change = (token.start, token.end, "")
        case 1:
            change = (token.start, after.end, f"{after.text} {token.text}")
        case 2:
            change = (token.start, token.end, f"{token.text} {token.text}")
        case 3:
            change = (token.start, token.end, random.choice(_EXPRESSIONS).format(token.text))
        case _:
            others = {"NAME": names, "NUMBER": _NUMBERS, "OP": _OPERATORS, "STRING": ("''", "'b t d'", token.text * 2)}
            change = (token.start, token.end, random.choice(others.get(token.kind, names)))
    return changed(text, [change])


def _lines(text: str, random: Random) -> str:
    lines = text.split("\n")
    index = random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            del lines[index]
        case 1:
            lines.insert(index, lines[index])
        case 2:
            other = random.randrange(len(lines))
            lines[index], lines[other] = lines[other], lines[index]
        case _:
            lines[index] = f"    {lines[index]}" if random.random() < 0.5 else lines[index].removeprefix("    ")
    return "\n".join(lines)


def without_comments(text: str, random: Random) -> str:
    """The program without some of its comments; those that are addressed to the tool stay."""
    comments = [t for t in tokens(text) if t.kind == "COMMENT" and not _ABOUT_THE_TOOL.search(t.text)]
    return changed(text, [(t.start, t.end, "") for t in _some(comments, random)])


def without_annotations(text: str, random: Random) -> str:
    """The program without some annotations of parameters, results and variables (fields of a class stay fields)."""
    return changed(text, _some(list(_annotations(text)), random))


def without_defaults(text: str, random: Random) -> str:
    """The program without some defaults of parameters: of those by position, the first ones."""
    taken: list[Change] = []
    for function in _functions(text):
        arguments = function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        with_default = list(
            zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
        )
        by_name = [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
        for argument, default in with_default[: random.randint(0, len(with_default))] + _some(by_name, random):
            taken.append((place_of(text, argument)[1], place_of(text, default)[1], ""))
    return changed(text, taken)


def _annotations(text: str) -> Iterator[Change]:
    tree = ast.parse(text)
    fields = {id(s) for c in ast.walk(tree) if isinstance(c, ast.ClassDef) for s in c.body}
    for function in _functions(text):
        arguments = function.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if argument.annotation is not None:
                start, end = place_of(text, argument)
                yield start + len(argument.arg), end, ""
        if function.returns is not None:
            start, end = place_of(text, function.returns)
            yield text.rindex("->", 0, start), end, ""
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and node.value is not None and id(node) not in fields:
            yield place_of(text, node.target)[1], place_of(text, node.annotation)[1], ""


def _functions(text: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def _some(items: list[_T], random: Random) -> list[_T]:
    """All of them, or each with an even chance."""
    if random.random() < 0.3:
        return items
    return [item for item in items if random.random() < 0.5]
