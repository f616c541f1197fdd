"""Calls of einsum."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]

EQUATIONS = (
    "ij,jk->ik", "bqd,bkd->bqk", "bhqd,bhkd->bhqk", "bhqk,bkhd->bqhd", "i,i->", "i,j->ij", "ii->i", "ii", "ij->ji",
    "ij,jk", "bi,io,bo->b", "...ij,...jk->...ik", "...i,i->...", "b...d,d->b...", "bij->b", "ba, ac -> bc", "ijj->i",
    "...->...", "...i->i...",
)  # fmt: skip
UNREADABLE = ("ij,jk->iz", "ij->ii", "i1->i", "ij,jk,kl->il")


def einsum(draw: Draw) -> Call:
    equation = draw.sampled(EQUATIONS)
    operands = equation.replace(" ", "").split("->")[0].split(",")
    letters = {c: draw.size() for c in sorted(set("".join(operands)) - {"."})}
    loose = draw.shape(0, 2)
    shapes = []
    for operand in operands:
        before, dots, after = operand.partition("...")
        middle = draw.broadcastable(loose) if dots else []
        shapes.append([*(letters[c] for c in before), *middle, *(letters[c] for c in after)])
    if draw.wrong():
        if draw.maybe():
            equation = draw.sampled(UNREADABLE)
        else:
            i = draw.number(0, len(shapes) - 1)
            shapes[i] = draw.spoilt(shapes[i])
    return Call((equation, *(T(s) for s in shapes)))


SAMPLES: dict[str, Sample] = {"torch.einsum": einsum}
