"""What stands in a file, whatever of it runs."""

from textwrap import dedent

import pytest

from shapedoc.core.span import Span
from shapedoc.core.written import Contents, Parameter, Written
from shapedoc.source import lower_ast, lower_cst
from shapedoc.source.written import written, written_in

TEXT = dedent(
    """
    import torch

    class Scorer(torch.nn.Module):
        def __init__(self, d, heads=8, bias=None, *rest, dropout=0.1, **more):
            self.scale = d**-0.5
            self.query = torch.nn.Linear(d, d, bias=True)

        def forward(self, q, k, mask=None):
            d_k = q.size(-1)
            width = other = k.size(-1)
            first, *others = self.query(q), width
            q[0] = first
            for step in range(3):
                def inner(step, k=k):
                    return step + k
            return inner(others, k=d_k_of(k))

    if True:
        def twice(x):
            return [y for y in x if (z := y)] + [z]
    """
)


@pytest.fixture(params=["ast", "cst"])
def look(request: pytest.FixtureRequest) -> Written:
    module = lower_ast.lower(TEXT) if request.param == "ast" else lower_cst.lower(TEXT).module
    return written(module)


def test_functions_carry_the_names_of_their_classes(look: Written) -> None:
    assert [f.name for f in look.functions] == ["Scorer.__init__", "Scorer.forward", "Scorer.inner", "twice"]


def test_parameters_that_can_be_named_with_their_literal_defaults(look: Written) -> None:
    (made,) = look.named("Scorer.__init__")
    assert [(p.name, p.default) for p in made.parameters] == [
        ("self", None),
        ("d", None),
        ("heads", 8),
        ("bias", None),
        ("dropout", 0.1),
    ]
    assert made.parameters[2] == Parameter("heads", Span(5, 26, 5, 31), 8)


def test_a_name_that_is_only_given_a_value_is_not_read(look: Written) -> None:
    (forward,) = look.named("Scorer.forward")
    assert forward.contents.reads == {"self", "q", "k", "width", "first", "range", "step", "inner", "others", "d_k_of"}
    assert [p.name for p in forward.ignored({"q", "mask"}.__contains__)] == ["mask"]


def test_an_element_that_is_set_is_read_and_a_comprehension_gives_its_target(look: Written) -> None:
    (twice,) = look.named("twice")
    assert twice.contents.reads == {"x", "y", "z"}


def test_what_is_left_has_a_value_and_is_named_nowhere_else(look: Written) -> None:
    (forward,) = look.named("Scorer.forward")
    assert [(a.name, a.value.line) for a in forward.contents.left] == [("d_k", 10), ("other", 11)]


def test_an_attribute_is_left_where_its_class_never_names_it_again(look: Written) -> None:
    assert "self.scale" in [a.name for a in look.scope("Scorer.forward").left]
    assert "self.query" not in [a.name for a in look.scope("Scorer.forward").left]
    assert look.scope("nowhere") == Contents()


def test_everything_that_is_given_a_value_and_what_loops_go_through(look: Written) -> None:
    (forward,) = look.named("Scorer.forward")
    assert [a.name for a in forward.contents.assigned] == ["d_k", "width", "other"]
    assert forward.contents.rounds == {"step"}
    assert look.whole().rounds == {"step", "y"}


def test_calls_with_their_arguments_by_place_and_literals_by_name(look: Written) -> None:
    calls = {
        TEXT.splitlines()[c.function.line - 1][c.function.column : c.function.end_column]: c for c in look.whole().calls
    }
    assert calls["torch.nn.Linear"].arguments == ("d", "d")
    assert calls["torch.nn.Linear"].literals == {"bias": True}
    assert calls["self.query"].arguments == ("q",)
    assert calls["inner"].literals == {}


def test_a_text_that_does_not_parse_holds_nothing() -> None:
    assert written_in("def f(:").functions == ()
    assert written_in("def f(:").whole() == Contents()
