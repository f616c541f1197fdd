"""Both lowerings give one ir, spans included."""

from __future__ import annotations

import random
import sys
import sysconfig
import tokenize
from pathlib import Path

import pytest

from shapedoc.source import ir, lower_ast, lower_cst
from shapedoc.source.parse import SourceError, TooDeep

ROOT = Path(__file__).parents[2]
STDLIB = Path(sysconfig.get_path("stdlib"))

# A text file for each kind of syntax; a name that starts with py312_ needs that version of Python.
SNIPPETS = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted(Path(__file__).with_name("snippets").glob("*.txt"))
    if not path.stem.startswith("py312_") or sys.version_info >= (3, 12)
}
SNIPPETS |= {
    "empty": "",
    "blank": "\n\n",
    "only_a_comment": "# nothing",
    "no_newline_at_the_end": "x = 1",
    "form_feed": "x = 1\n\x0c\nclass A:\n\x0c\n    y = 2\n    \x0c\n    z =\x0c 3 \x0c# c\n",
    "old_mac": "x = 1\ry = '''a\rb'''\r",
    "byte_order_mark": "\ufeffx = 1  # é\ny = x\n",
    "deep_indentation": "\n".join("    " * n + f"if x{n}:" for n in range(40)) + "\n" + "    " * 40 + "y = 1\n",
    "long_sum": "x = " + " + ".join(f"a{n}" for n in range(300)) + "\n",
    "long_string": "x = (" + "\n  ".join(f"'a{n}'" for n in range(600)) + ")\n",
}


def agree(text: str) -> None:
    """Both lowerings of `text`; texts are compared, in which 1, 1.0 and True differ."""
    assert repr(lower_cst.lower(text).module) == repr(lower_ast.lower(text))


def agree_on_files(paths: list[Path]) -> list[Path]:
    """Compare the lowerings of files; those that only ``ast`` reads are returned."""
    unread = []
    for path in paths:
        try:
            with tokenize.open(path) as opened:
                text = path.read_bytes().decode(opened.encoding)
            expected = lower_ast.lower(text)
        except (SyntaxError, UnicodeDecodeError, SourceError):
            continue
        try:
            found = lower_cst.lower(text)
        except SourceError:
            unread.append(path)
            continue
        if found.module != expected:
            pytest.fail(f"the lowerings of {path} differ")
    return unread


@pytest.mark.parametrize("name", SNIPPETS)
def test_the_lowerings_of_a_snippet_agree(name: str) -> None:
    agree(SNIPPETS[name])


@pytest.mark.parametrize("name", SNIPPETS)
def test_windows_line_ends_change_nothing(name: str) -> None:
    text = SNIPPETS[name].replace("\r\n", "\n").replace("\r", "\n")
    windows = text.replace("\n", "\r\n")
    agree(windows)
    assert repr(lower_ast.lower(windows)) == repr(lower_ast.lower(text))


def test_the_lowerings_agree_on_this_repository() -> None:
    assert (
        agree_on_files(sorted((ROOT / "shapedoc").rglob("*.py")) + sorted((ROOT / "tests" / "source").rglob("*.py")))
        == []
    )


def test_the_lowerings_agree_on_a_sample_of_the_standard_library() -> None:
    paths = sorted(path for path in STDLIB.rglob("*.py") if "site-packages" not in path.parts)
    assert len(agree_on_files(random.Random(20).sample(paths, 60))) <= 1


@pytest.mark.full
def test_the_lowerings_agree_on_the_standard_library() -> None:
    paths = sorted(path for path in STDLIB.rglob("*.py") if "site-packages" not in path.parts)
    assert len(agree_on_files(paths)) <= len(paths) // 100


def test_anchors_lead_from_spans_to_nodes() -> None:
    lowered = lower_cst.lower("y = f(x for x in z)\n(a).b = 1;\n")
    assign = lowered.module.body[1]
    assert isinstance(assign, ir.Assign)
    assert type(lowered.statements[assign.span]).__name__ == "Assign"
    assert type(lowered.expressions[assign.targets[0].span]).__name__ == "Attribute"
    assert lowered.tree.code == "y = f(x for x in z)\n(a).b = 1;\n"


def test_the_tree_keeps_windows_line_ends() -> None:
    assert lower_cst.lower("x = 1\r\ny = 2\r\n").tree.code == "x = 1\r\ny = 2\r\n"


@pytest.mark.parametrize("lower", [lower_ast.lower, lower_cst.lower])
def test_a_broken_file_says_where(lower: object) -> None:
    assert callable(lower)
    with pytest.raises(SourceError) as caught:
        lower("x = 1\ny = = 2\n")
    assert caught.value.line == 2


def test_what_only_ast_reads_is_an_error_of_the_concrete_lowering() -> None:
    text = "(a): int = 1\nclass A:\n    \x0c y = 2\n"
    assert len(lower_ast.lower(text).body) == 2
    with pytest.raises(SourceError, match="libcst does not read this syntax"):
        lower_cst.lower(text)
    with pytest.raises(SourceError, match="libcst does not keep every character of this text"):
        lower_cst.lower("x = 1\n\x0cy = 2\n")


def test_what_ast_rejects_is_broken_whatever_libcst_reads() -> None:
    with pytest.raises(SourceError, match="cannot assign to function call"):
        lower_ast.lower("f() = 1\n")


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("print 'a'\n", "Missing parentheses in call to 'print'. Did you mean print(...)?", 1, 0),
        ("x = 1\n\0", "the text holds a null byte", 2, 0),
        ("x = '\udc80'\n", "the text holds half of a surrogate pair", 1, 5),
        ("if x:\npass\n", "expected an indented block after 'if' statement on line 1", 2, 0),
    ],
)
def test_messages_of_broken_files(text: str, message: str, line: int, column: int) -> None:
    with pytest.raises(SourceError) as caught:
        lower_ast.lower(text)
    assert (caught.value.message, caught.value.line) == (message, line)
    if column:
        assert caught.value.column == column


@pytest.mark.parametrize("text", ["x = " + "-" * 100_000 + "1\n", "x = " + " + ".join(["a"] * 100_000) + "\n"])
def test_nesting_beyond_reach_is_an_error_of_its_own(text: str) -> None:
    with pytest.raises(TooDeep, match="the code is nested too deeply to be analysed"):
        lower_ast.lower(text)
