"""Who is wrong, through the decorator: after three good calls, the 21 faults and 100 of four other signatures."""

from collections import Counter
from typing import Any

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

import shapedoc
from tests.runtime.test_blame import SIGNATURES, drawn


def checked(name: str) -> Any:
    """A function of this signature, after good calls with other batches and lengths."""
    stated, sizes, fixed = SIGNATURES[name]
    scope: dict[str, Any] = {"Float": Float, "Tensor": Tensor}
    exec(f"def {name}({', '.join(f'{p}: Float[Tensor, {t!r}]' for p, t in stated.items())}): return None", scope)
    function = shapedoc.check(scope[name])
    for more in range(3):
        known = {n: size if n in fixed else size + more for n, size in sizes.items()}
        shapes = {p: [int(eval(d, {}, known)) for d in t.split()] for p, t in stated.items()}
        function(**{p: torch.zeros(shape) for p, shape in shapes.items()})
    return function


def test_the_right_argument_is_named_or_a_tie_is_said() -> None:
    functions = {name: checked(name) for name in SIGNATURES}
    told: Counter[str] = Counter()
    for name, guilty, shapes in drawn():
        try:
            functions[name](**{p: torch.zeros(shape) for p, shape in shapes.items()})
        except shapedoc.ShapeError as raised:
            (finding,) = raised.findings
            tie = finding.message.startswith("either ")
            assert finding.tensor == guilty or (tie and f"`{guilty}`" in finding.message), (guilty, finding.message)
            told["tie" if tie else "exact"] += 1
    assert told["tie"] <= 3
    assert told["exact"] == pytest.approx(108, abs=2), "what fits by chance is no fault"
