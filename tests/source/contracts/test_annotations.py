"""Strings of jaxtyping and what an annotation holds around them."""

from __future__ import annotations

import pytest

from shapedoc.source.contracts import ModuleContracts
from shapedoc.source.contracts.jaxtyping import read_string
from shapedoc.source.contracts.stated import Anonymous, Named, Number, Rest, show_dims
from shapedoc.source.ir import FunctionDef
from shapedoc.source.lower_ast import lower

READ = {
    "batch seq d": "(batch, seq, d)",
    "  b   t ": "(b, t)",
    "": "()",
    "3": "(3,)",
    "b 3 d": "(b, 3, d)",
    "*b t d": "(*b, t, d)",
    "... d": "(..., d)",
    "*_ d": "(..., d)",
    "b _ d": "(b, _, d)",
    "b _time d": "(b, _time, d)",
    "b #n": "(b, n)",
    "b n=3": "(b, n=3)",
    "b 2*d": "(b, 2*d)",
    "b t-1": "(b, t - 1)",
    "b d//h": "(b, d//h)",
    "b (t+1)*d": "(b, (t + 1)*d)",
    "b {size}": "(b, size)",
    "b {self.d_model}": "(b, self.d_model)",
    "b {2 * size}": "(b, 2*size)",
    "?n d": "(n, d)",
}


@pytest.mark.parametrize("text", READ)
def test_a_string_is_read(text: str) -> None:
    dims = read_string(text)
    assert not isinstance(dims, str)
    assert show_dims(dims) == READ[text]


WRONG = {
    "b, t, d": "its axes are separated by blanks, not by commas: `b,`",
    "*a b *c": "more than one of its axes stands for any number of axes",
    "... *b": "more than one of its axes stands for any number of axes",
    "b t+": "`t+` is neither a name, a number nor an expression",
    "b n=": "`n=` has nothing after its `=`",
    "b **d": "`**d` is no axis",
    "b *2": "`*2`: only a name can stand for several axes",
    "b $": "`$` is neither a name, a number nor an expression",
    "b {x": "the braces of `{x` do not match",
    "b #": "`#` names no axis",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_string_that_does_not_parse_says_why(text: str) -> None:
    assert read_string(text) == WRONG[text]


def test_what_the_marks_mean() -> None:
    assert read_string("#n") == (Named("n", None, True),)
    assert read_string("n=3") == (Named("n", Number(3)),)
    assert read_string("_ ...") == (Anonymous("_"), Rest())


TEXT = """
from jaxtyping import Float, Int
import jaxtyping as jt

def f(
    x: Float[Tensor, "b t d"],
    ids: Int[torch.Tensor, "b t"] | None,
    w: jt.Float[Array, "d k"],
    m: Optional[Float[Tensor, "b t"]],
    pair: tuple[Float[Tensor, "b t"], Float[Tensor, "b"]],
    either: Float[Tensor, "b t"] | Float[Tensor, "b"],
    old: TensorType["batch", 3, -1],
    bad: Float[Tensor, "b, t"],
    other: Dict[str, "b t d"],
    plain: Tensor,
) -> tuple[Float[Tensor, "b t k"], Float[Tensor, "b"]]:
    y: Float[Tensor, "b k"] = g(x)
    z: Float[Tensor, "b k,"]
"""


def test_parameters_results_and_variables() -> None:
    module = lower(TEXT)
    function = module.body[2]
    assert isinstance(function, FunctionDef)
    contracts = ModuleContracts(module)
    params = {name: [str(s) for s in shapes] for name, shapes in contracts.params(function).items()}
    assert params == {
        "x": ["(b, t, d)"],
        "ids": ["(b, t)"],
        "w": ["(d, k)"],
        "m": ["(b, t)"],
        "old": ["(batch, 3, -1)"],
    }
    assert [(b.index, str(b.shape)) for b in contracts.returns(function)] == [(0, "(b, t, k)"), (1, "(b,)")]
    (bound,) = contracts.after(function.body[0])
    assert (bound.name, str(bound.shape), bound.shape.form, bound.shape.sure) == ("y", "(b, k)", "annotation", True)
    assert [(u.span[0], u.text) for u in contracts.unreadable] == [(13, "b, t"), (18, "b k,")]
