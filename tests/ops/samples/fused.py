"""Calls of products that something is added to."""

from __future__ import annotations

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]


def added(result: str, *shapes: str) -> Sample:
    """A tensor that broadcasts to the result, and factors."""

    def sample(draw: Draw) -> Call:
        sizes = {c: draw.size() for c in sorted(set("".join(shapes)))}
        first = draw.broadcastable([sizes[c] for c in result])
        drawn = [first, *([sizes[c] for c in shape] for shape in shapes)]
        if draw.wrong():
            i = draw.number(0, len(drawn) - 1)
            drawn[i] = draw.spoilt(drawn[i])
        return Call([T(s) for s in drawn])

    return sample


SAMPLES: dict[str, Sample] = {
    "torch.addmm": added("np", "nm", "mp"),
    "torch.addmv": added("n", "nm", "m"),
    "torch.addr": added("nm", "n", "m"),
    "torch.baddbmm": added("bnp", "bnm", "bmp"),
    "torch.addbmm": added("np", "bnm", "bmp"),
}
