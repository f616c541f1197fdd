"""What the ir of a text holds, and that every span covers the text it names."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import pytest

from shapedoc.source import ir
from shapedoc.source.lower_ast import lower


def at(text: str, span: ir.Span4) -> str:
    """The text of a span."""
    lines = text.splitlines(keepends=True)[span[0] - 1 : span[2]]
    lines[-1] = lines[-1][: span[3]]
    lines[0] = lines[0][span[1] :]
    return "".join(lines)


def spans(node: object) -> list[tuple[str, ir.Span4]]:
    """The kind and span of everything in an ir."""
    found: list[tuple[str, ir.Span4]] = []
    if isinstance(node, list | tuple):
        for part in node:
            found += spans(part)
    elif is_dataclass(node):
        if not isinstance(node, ir.Module | ir.Generator):
            span = next(getattr(node, field.name) for field in fields(node) if field.name == "span")
            found.append((type(node).__name__, span))
        for field in fields(node):
            found += spans(getattr(node, field.name))
    return found


def covered(text: str, kind: type) -> list[str]:
    return [at(text, span) for name, span in spans(lower(text)) if name == kind.__name__]


def only(text: str) -> ir.Stmt:
    (statement,) = lower(text).body
    return statement


def test_spans_count_characters() -> None:
    text = "é = ['日本', f(a.ü)]; b = 'é', c.d\nx = y\n"
    assert covered(text, ir.Name) == ["é", "f", "a", "b", "c", "x", "y"]
    assert covered(text, ir.Attribute) == ["a.ü", "c.d"]
    assert covered(text, ir.Call) == ["f(a.ü)"]


def test_spans_leave_parentheses_out_but_for_a_tuple_display() -> None:
    text = "x = ((a + (b)))\ny = ((a, b))\n"
    assert covered(text, ir.BinOp) == ["a + (b)"]
    assert covered(text, ir.Sequence) == ["(a, b)"]


def test_the_span_of_an_attribute_name() -> None:
    statement = only("é = (x\n  . weight)\n")
    assert isinstance(statement, ir.Assign)
    assert isinstance(statement.value, ir.Attribute)
    assert statement.value.attr_span == (2, 4, 2, 10)


@pytest.mark.parametrize(
    "header",
    [
        "def f():",
        "async def f(a: int = {1: 2}, *b: 'x', c=lambda: 0, **d) -> dict[int: int]  :",
        "def f(  # a: b\n    a,  # c: d\n):",
        "def f(é: 'ü' = ('日'),) -> (\n  'é'\n):",
        "class A:",
        "class A(B, *c, metaclass=M, **k,  # a:\n):",
        "class Ä(é['日':]):",
    ],
)
@pytest.mark.parametrize("body", [" pass", "  # c:\n    x: int = 1"])
def test_a_header_ends_at_its_colon(header: str, body: str) -> None:
    text = "@d[1:2]\n" + header + body + "\n"
    statement = only(text)
    assert isinstance(statement, ir.FunctionDef | ir.ClassDef)
    assert at(text, statement.header) == header
    assert at(text, statement.span) == header + body


def test_function_parts() -> None:
    text = '@d\ndef f(a, /, b: int = 1, *c, e, g=2, **h) -> r:\n    """Doc."""\n    return a\n'
    statement = only(text)
    assert isinstance(statement, ir.FunctionDef)
    assert [(p.name, p.kind, p.default is not None) for p in statement.params] == [
        ("a", "pos", False),
        ("b", "pos", True),
        ("c", "args", False),
        ("e", "kw", False),
        ("g", "kw", True),
        ("h", "kwargs", False),
    ]
    assert [at(text, p.span) for p in statement.params] == ["a", "b: int", "c", "e", "g", "h"]
    assert statement.doc == ("Doc.", (3, 4, 3, 14))
    assert len(statement.body) == 2
    assert isinstance(statement.decorators[0], ir.Name)
    assert not statement.is_async


def test_module_docstring_and_comments() -> None:
    module = lower('"""Doc."""\nx = 1  # (B, T)\n')
    assert module.doc == ("Doc.", (1, 0, 1, 10))
    assert [comment.text for comment in module.comments] == ["(B, T)"]


def test_the_parts_of_an_f_string_have_its_span() -> None:
    statement = only("print(f'{q @ k.T:>{width}} {\"a\"!r}')\n")
    assert isinstance(statement, ir.ExprStmt)
    assert isinstance(statement.value, ir.Call)
    (string,) = statement.value.args
    assert isinstance(string, ir.FString)
    assert [type(value).__name__ for value in string.values] == ["BinOp", "Const"]
    assert {span for _, span in spans(string)} == {(1, 6, 1, 35)}


def test_jumps_imports_and_targets() -> None:
    module = lower("raise a from b\ndel c, d\nfrom ..m import x as y, z\nfrom . import *\nimport a.b\nglobal g, h\n")
    jump, deletion, first, second, third, scope = module.body
    assert isinstance(jump, ir.Jump)
    assert isinstance(deletion, ir.Jump)
    assert (len(jump.values), len(deletion.values)) == (2, 2)
    assert first == ir.Import((3, 0, 3, 25), "m", 2, [("x", "y"), ("z", None)])
    assert second == ir.Import((4, 0, 4, 15), "", 1, [("*", None)])
    assert third == ir.Import((5, 0, 5, 10), None, 0, [("a.b", None)])
    assert scope == ir.Jump((6, 0, 6, 11), "global", ["g", "h"], [])


def test_what_is_not_followed_keeps_its_parts() -> None:
    statement = only("match a, b:\n    case A(x=c) if d: e\n    case {'k': [*f], **g}: h\n    case _ as i: pass\n")
    assert isinstance(statement, ir.OpaqueStmt)
    assert statement.kind == "match"
    assert [type(value).__name__ for value in statement.values] == ["Sequence", "Name"]
    assert [len(block) for block in statement.blocks] == [1, 1, 1]
    assert statement.names == ["c", "f", "g", "i"]


def test_a_text_that_is_lowered_twice_has_the_same_columns() -> None:
    text = 'x = "ü" + é.y\n'
    assert lower(text) == lower(text)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_change_no_span(newline: str) -> None:
    text = "x = '''a\nb'''  # c\nif x:\n    y = z\n"
    assert lower("\ufeff" + text.replace("\n", newline)) == lower(text)
