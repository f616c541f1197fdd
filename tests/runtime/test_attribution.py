"""An exception is explained at the exact sub-expression with the shapes of its operands; nothing is evaluated twice.

Forty statements of several lines, chained and with calls that count themselves. Each raises once; the span that must
be named stands between « and ».
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.recorded import recorded

# The statement, and the shapes that the explanation must show.
CASES: list[tuple[str, tuple[tuple[int, ...], ...]]] = [
    ("y = «a @ c»", ((2, 3), (4, 5))),
    ("y = torch.tanh(«a @ c»).sum()", ((2, 3), (4, 5))),
    ("y = (\n    «a.relu()\n    @ c»\n)", ((2, 3), (4, 5))),
    ("y = «count(a) @ count(c)»", ((2, 3), (4, 5))),
    ("y = count(a) + «count(a) @ c»", ((2, 3), (4, 5))),
    ("y = torch.softmax(\n    «count(a).exp() @ c.T.T», dim=-1\n).mean()", ((2, 3), (4, 5))),
    ("y = «a + c»", ((2, 3), (4, 5))),
    ("y = a * 2 + («a.T + c») - 1", ((3, 2), (4, 5))),
    ("y = «a - b[:, :4]»", ((2, 3), (3, 4))),
    ("y = «torch.cat([a, c], dim=0)»", ((2, 3), (4, 5))),
    ("y = torch.relu(«torch.cat([count(a), count(c)], dim=1)»)", ((2, 3), (4, 5))),
    ("y = «torch.stack([a, b])»", ((2, 3), (3, 6))),
    ("y = «torch.bmm(q, q)»", ((2, 4, 5), (2, 4, 5))),
    ("y = «torch.bmm(q, a)»", ((2, 4, 5), (2, 3))),
    ("y = «q @ q» / 2", ((2, 4, 5), (2, 4, 5))),
    ("y = «torch.matmul(\n    q,\n    count(q)\n)» * 2", ((2, 4, 5), (2, 4, 5))),
    ("y = «torch.einsum('ij,jk->ik', a, c)»", ((2, 3), (4, 5))),
    ("y = count(«torch.einsum('bij,bjk->bik', q, count(q))»)", ((2, 4, 5), (2, 4, 5))),
    ("y = «q.view(2, 3, 7)»", ((2, 4, 5),)),
    ("y = «count(q).transpose(1, 2).view(2, 20)».sum()", ((2, 5, 4),)),
    ("y = «q.reshape(3, -1)» + 1", ((2, 4, 5),)),
    ("y = «a.permute(0, 2, 1)»", ((2, 3),)),
    ("y = «q.transpose(1, 3)»", ((2, 4, 5),)),
    ("y = «a.unsqueeze(5)»", ((2, 3),)),
    ("y = «q.softmax(dim=3)»", ((2, 4, 5),)),
    ("y = torch.log(«torch.softmax(count(q), dim=-4)»)", ((2, 4, 5),)),
    ("y = «a.expand(4, 2, 7)»", ((2, 3),)),
    ("y = «q.masked_fill(mask, -1e9)»", ((2, 4, 5), (4, 4))),
    ("y = «q.masked_fill(count(mask).unsqueeze(0), 0)».softmax(-1)", ((2, 4, 5), (1, 4, 4))),
    ("y = «torch.where(mask, q, 0.0)»", ((4, 4), (2, 4, 5))),
    ("y = «linear(c)»", ((4, 5),)),
    ("y = torch.tanh(«linear(count(q))») + 1", ((2, 4, 5),)),
    ("y = «norm(a)»", ((2, 3),)),
    ("y, _ = «gru(q)»", ((2, 4, 5),)),
    ("y = «torch.nn.functional.linear(a, c)»", ((2, 3), (4, 5))),
    ("y = «torch.nn.functional.cross_entropy(a, labels)»", ((2, 3), (4,))),
    ("y = «torch.nn.functional.scaled_dot_product_attention(q, q, count(q)[:, :3])»", ((2, 4, 5), (2, 3, 5))),
    ("y = [count(x) for x in (a, a)] and «c @ a»", ((4, 5), (2, 3))),
    ("y = {'k': «a @ c»}['k'] if count(a) is not None else a", ((2, 3), (4, 5))),
    ("y = (lambda t: t)(«count(a).mm(c)»)", ((2, 3), (4, 5))),
]
# How often `count` has been called when the expression raises, where that is not once for each time it stands before.
_EVALUATED = {17: 1, 37: 2, 38: 1}
HEAD = """\
import torch

calls = []


def count(x):
    calls.append(1)
    return x


a, b, c = torch.randn(2, 3), torch.randn(3, 6), torch.randn(4, 5)
q, mask, labels = torch.randn(2, 4, 5), torch.ones(4, 4).bool(), torch.tensor([0, 1, 2, 0])
linear, norm, gru = torch.nn.Linear(6, 2), torch.nn.LayerNorm(4), torch.nn.GRU(6, 7)
"""


@pytest.mark.parametrize("number", range(len(CASES)))
def test_an_exception_is_explained_at_its_sub_expression(number: int, tmp_path: Path) -> None:
    statement, shapes = CASES[number]
    program = HEAD + statement.replace("«", "").replace("»", "") + "\n"
    recording = recorded(tmp_path, program)
    assert isinstance(recording.error, Exception), "it raises"
    explanation = recording.explanation()
    assert explanation is not None
    wanted = " ".join(part.strip() for part in statement.partition("«")[2].partition("»")[0].splitlines())
    assert explanation.message.startswith(f"`{wanted}` raised ")
    shown = " ".join(label.text for label in explanation.labels)
    for shape in shapes:
        assert str(shape) in shown, shown
    evaluated = recording.error.__traceback__
    while evaluated is not None and "calls" not in evaluated.tb_frame.f_globals:
        evaluated = evaluated.tb_next
    assert evaluated is not None
    before = _EVALUATED.get(number, statement.partition("»")[0].count("count("))
    assert len(evaluated.tb_frame.f_globals["calls"]) == before, "nothing is evaluated twice"


def test_there_are_forty() -> None:
    assert len(CASES) == 40


@pytest.mark.parametrize(
    "statement", ["raise ValueError('no')", "{}['a']", "a.nothing", "assert a.shape[0] == 9", "undefined + 1"]
)
def test_what_shapes_have_no_part_in_is_not_explained(statement: str, tmp_path: Path) -> None:
    recording = recorded(tmp_path, HEAD + statement + "\n")
    assert isinstance(recording.error, Exception)
    assert recording.explanation() is None


def test_the_shape_that_is_told_is_that_of_an_operand(tmp_path: Path) -> None:
    explanation = recorded(tmp_path, HEAD + "torch.nn.Embedding(3, 2)(labels + 7)\n").explanation()
    assert explanation is not None
    assert (explanation.tensor, explanation.actual) == ("labels + 7", "(4,)")
