"""A symbol renamed wherever a program means it: its tokens, and the words of comments, docstrings and annotations."""

from __future__ import annotations

import ast
import builtins
import re
from random import Random

from shapedoc.ops.registry import table
from tests.laws.tokens import Change, changed, tokens

__all__ = ["renamed"]

# "batch_size", "mask" and "LuongDecoder" are not only symbols: they say what something is, and a finding may rest on
# that.
_SAYS_WHAT_IT_IS = re.compile(
    r"[bcehklnqstv]|bsz?"
    r"|.*(batch|bsize|seq|len|time|steps|mask|pad|keep|hidden|cell|state|quer|key|val|head|pos|bahdanau|luong).*",
    re.IGNORECASE,
)
_ENDING = re.compile(r"_[A-Z]+$")
_WORD = r"(?<![\w.]){}(?!\w)"
_LIBRARY = frozenset(name.rsplit(".", 1)[-1] for names in table() for name in names) | {
    "weight",
    "bias",
    "training",
    "forward",
    "shape",
}


def renamed(text: str, random: Random, *, bare: bool = False) -> tuple[str, str, str] | None:
    """The program with one symbol renamed, the old name and the new one; None where there is none to rename.

    With `bare`, it is a name that says nothing of what it stands for, and that no comment or docstring has: which of
    their lists are shapes is judged by the words in them, so that another word may make one unreadable.
    """
    names = sorted(_renameable(ast.parse(text)))
    if bare:
        written = _written(text)
        names = [n for n in names if not _SAYS_WHAT_IT_IS.fullmatch(n) and n not in written]
    if not names:
        return None
    old = random.choice(names)
    ending = _ENDING.search(old)
    new = f"zeta{ending[0] if ending else ''}"
    if old[0].isupper():
        new = new.upper() if old.isupper() else new.capitalize()
    if old.startswith("_"):
        new = f"_{new}"
    if re.search(_WORD.format(new), text):
        return None
    prose = _prose(text)
    changes: list[Change] = []
    for token in tokens(text):
        if token.kind == "NAME" and token.text == old:
            changes.append((token.start, token.end, new))
        elif token.kind == "COMMENT" or (token.kind == "STRING" and _value(token.text) in prose):
            replaced = re.sub(_WORD.format(re.escape(old)), new, token.text)
            changes.append((token.start, token.end, replaced))
    return changed(text, changes), old, new


def _renameable(tree: ast.Module) -> set[str]:
    """Names that this file alone gives: variables, parameters, functions, classes, and attributes of ``self``."""
    bound, given, outside = set[str](), set[str](), set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                given.add(name)
            case ast.Attribute(value=ast.Name(id="self")):
                pass
            case ast.Attribute(attr=name):
                outside.add(name)
            case ast.Import() | ast.ImportFrom():
                outside |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
                paths = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
                outside |= {part for path in paths for part in path.split(".")}
            case ast.Call():
                outside |= {keyword.arg for keyword in node.keywords if keyword.arg is not None}
            case ast.JoinedStr():
                outside |= {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
                outside |= {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}
            case ast.Constant(value=str(value)):
                outside |= {value}
    methods = {
        function.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for function in node.body
        if isinstance(function, ast.FunctionDef)
    }
    kept = set(dir(builtins)) | _LIBRARY | methods | {"self", "cls", "_"}
    return {name for name in bound | given if name not in outside | kept and not name.startswith("__")}


def _written(text: str) -> set[str]:
    """The words of comments, docstrings and annotations."""
    prose = _prose(text)
    said = [t.text for t in tokens(text) if t.kind == "COMMENT" or (t.kind == "STRING" and _value(t.text) in prose)]
    return {word for words in said for word in re.findall(r"\w+", words)}


def _prose(text: str) -> set[object]:
    """The texts of docstrings and of annotations."""
    found: set[object] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            found.add(ast.get_docstring(node, clean=False))
        annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if isinstance(annotation, ast.expr):
            found |= {part.value for part in ast.walk(annotation) if isinstance(part, ast.Constant)}
    return found


def _value(literal: str) -> object:
    try:
        return ast.literal_eval(literal)
    except (SyntaxError, ValueError):
        return None
