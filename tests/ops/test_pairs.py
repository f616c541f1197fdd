"""Losses: when a prediction is repeated to meet its target."""

from __future__ import annotations

import pytest

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.value import Tensor
from shapedoc.core.verdict import Conflict
from shapedoc.ops import Arguments, evaluate, find

B, T = (Dim.of(Sym(name)) for name in ("B", "T"))
# A size of which only a comment speaks, and one that is read off a tensor.
SAID = Dim.of(Sym("D_y", flexible=True, origin="stated"))
READ = Dim.of(Sym("d", flexible=True, origin="an axis"))


def problems(prediction: Shape, target: Shape) -> list[str]:
    op = find("torch.nn.functional.mse_loss")
    assert op is not None
    verdict = evaluate(op, Arguments([Tensor(prediction), Tensor(target)], {}), Sizes()).verdict
    return [p.kind for p in verdict.problems] if isinstance(verdict, Conflict) else []


@pytest.mark.parametrize("prediction", [Shape.of(B, T, 1), Shape.of(T, 1)])
def test_a_letter_of_a_comment_may_stand_for_a_one(prediction: Shape) -> None:
    found = problems(prediction, Shape.of(B, T, SAID))
    assert found == ([] if prediction.rank == 3 else ["loss-broadcast"])


def test_a_size_that_is_read_off_a_tensor_is_not_a_one() -> None:
    assert problems(Shape.of(B, T, 1), Shape.of(B, T, READ)) == ["loss-broadcast"]
