"""Laws that hold for every comment and docstring."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from shapedoc.source.contracts import ModuleContracts
from shapedoc.source.contracts.comments import read_comment
from shapedoc.source.contracts.docstrings import read_docstring
from shapedoc.source.contracts.stated import StatedShape
from shapedoc.source.lower_ast import lower

QUIET = settings(deadline=None, max_examples=60)
TEXT = st.text(alphabet="BTdx shape:=()[],*->+.'`#_12\u00d7\uff08\uff0c$\\", max_size=40)
SIZES = st.lists(
    st.sampled_from(["B", "T", "batch size", "d_model", "n_heads", "1", "2*d_model", "src len"]), min_size=2, max_size=5
).filter(lambda s: any(not x[0].isdigit() for x in s))
NAMES = st.sampled_from(["q", "scores", "enc_out", "self.memory"])


def read(text: str, *, trailing: bool = True) -> list[StatedShape]:
    found = read_comment(text, lambda start, end: (1, start, 1, end), trailing=trailing)
    return [] if isinstance(found, str) else found


@QUIET
@given(TEXT, st.booleans())
def test_no_comment_raises_and_every_span_is_inside(text: str, trailing: bool) -> None:
    for shape in read(text, trailing=trailing):
        _, start, _, end = shape.span
        assert 0 <= start < end <= len(text)
        assert shape.dims


@QUIET
@given(TEXT)
def test_no_docstring_raises(text: str) -> None:
    read_docstring(f"Args:\n    x: {text}\n\nReturns:\n    {text}\n", (1, 0, 9, 0))


@QUIET
@given(SIZES, NAMES)
def test_the_forms_mean_the_same(sizes: list[str], name: str) -> None:
    inner = ", ".join(sizes)
    wanted = [str(s.dims) for s in read(f"{name}: ({inner})")]
    assert len(wanted) == 1
    for text in (
        f"{name}: [{inner}]",
        f"{name} = ({inner})",
        f"{name}.shape == ({inner})",
        f"{name} shape: ({inner})",
        f"shape of {name}: ({inner})",
        f"({inner})",
        f"# [{inner}]",
        f"shape: ({inner})",
        f"shapedoc: {name} ({inner})",
        f"-> ({inner})",
    ):
        assert [str(s.dims) for s in read(text)] == wanted, text


@QUIET
@given(SIZES, SIZES)
def test_an_arrow_has_both_of_its_sides(left: list[str], right: list[str]) -> None:
    before, after = f"({', '.join(left)})", f"({', '.join(right)})"
    found = read(f"{before} -> {after}")
    assert [s.where for s in found] == ["before", "after"]
    assert [s.text for s in found] == [before, after]


@QUIET
@given(SIZES)
def test_a_call_is_never_a_shape(sizes: list[str]) -> None:
    inner = ", ".join(s.replace(" ", "_") for s in sizes)
    for text in (f"f({inner})", f"x = x.view({inner})", f"a[{inner}]", f'"({inner})"'):
        assert read(text) == [], text


@QUIET
@given(TEXT)
def test_a_module_with_any_comment_is_read(text: str) -> None:
    line = text.replace("\n", " ")
    module = lower(f"def f(x):\n    # {line}\n    y = g(x)  # {line}\n    return y\n")
    contracts = ModuleContracts(module)
    for stmt in module.body:
        contracts.after(stmt)
    assert all(u.reason for u in contracts.unreadable)
