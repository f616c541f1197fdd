"""Calls of elementwise operations."""

from __future__ import annotations

from shapedoc.core.value import Kind
from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]

_EXTRA: dict[str, tuple[object, ...]] = {
    "threshold": (0.1, 0.2),
    "hardtanh": (-1.0, 1.0),
    "fill_": (1.0,),
}
_WHOLE = ("bitwise", "invert", "gcd", "lcm", "shift", "and_", "or_", "xor")


def unary(draw: Draw) -> Call:
    stem = draw.name.rsplit(".", 1)[-1]
    kind: Kind = "int" if any(w in draw.name for w in _WHOLE) else "float"
    return Call((T(draw.shape(0, 4), kind), *_EXTRA.get(stem, ())))


def unary_float(draw: Draw) -> Call:
    if "dropout" in draw.name:
        return Call((T(draw.shape(0, 4)), 0.5, draw.maybe()))
    # Some take real numbers only.
    real = ".functional." in draw.name or draw.name.endswith(("selu", "celu", "_"))
    return Call((T(draw.shape(0, 4), "float" if real else draw.sampled(["float", "int"])),))


def unary_bool(draw: Draw) -> Call:
    return Call((T(draw.shape(0, 4), draw.sampled(["float", "int"])),))


def pair(draw: Draw) -> tuple[object, object]:
    """Two operands: two tensors, or a tensor and a number."""
    whole = any(w in draw.name for w in _WHOLE)
    kinds: list[Kind] = ["int"] if whole else ["float", "int"]
    shape = draw.shape(0, 4)
    left, right = shape, draw.broadcastable(shape)
    if draw.wrong() and shape:
        right = draw.spoilt(shape)
    first = T(left, draw.sampled(kinds), 1)
    if draw.number(0, 4) == 0 and takes_numbers(draw.name):
        return first, 2 if whole else draw.sampled([2, 2.0])
    return first, T(right, draw.sampled(kinds), 1)


def takes_numbers(name: str) -> bool:
    """Whether the second operand may be a number of Python."""
    space, _, stem = name.rpartition(".")
    return space in ("operator", "numpy") or stem in ("add", "sub", "mul", "div", "pow", "remainder", "eq", "lt")


def binary(draw: Draw) -> Call:
    left, right = pair(draw)
    if draw.name == "torch.float_power" or (draw.name.startswith("numpy") and "power" in draw.name):
        return Call((left, T([1], "float")))
    return Call((left, right) if not draw.maybe() or not draw.name.startswith("operator") else (right, left))


def divide(draw: Draw) -> Call:
    rounding = "torch" in draw.name and draw.name.endswith((".div", ".divide")) and draw.maybe()
    return Call(pair(draw), {"rounding_mode": draw.sampled(["floor", "trunc"])} if rounding else {})


def binary_float(draw: Draw) -> Call:
    shape = draw.shape(0, 4)
    right = draw.spoilt(shape) if draw.wrong() and shape else draw.broadcastable(shape)
    kind: Kind = "int" if draw.name.endswith("ldexp") else "float"
    return Call((T(shape), T(right, kind)))


def compare(draw: Draw) -> Call:
    shape = draw.shape(0, 4)
    right = draw.spoilt(shape) if draw.wrong() and shape else draw.broadcastable(shape)
    return Call((T(shape), T(right)))


def same_elements(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    return Call((T(shape), T(shape)))


def clamp(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    stem = draw.name.rsplit(".", 1)[-1]
    if "_m" in stem:
        return Call((T(shape), 0.5))
    if draw.maybe():
        return Call((T(shape), 0.0, 1.0))
    low = draw.spoilt(shape) if draw.wrong() and shape else draw.broadcastable(shape)
    return Call((T(shape), T(low), T(draw.broadcastable(shape))))


def masked_fill(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    mask = draw.spoilt(shape) if draw.wrong() else draw.broadcastable(shape)
    # A mask of which little is known is taken to be no wider than what it masks.
    wider = len(mask) > len(shape) or any(m > s for m, s in zip(reversed(mask), reversed(shape), strict=False))
    return Call((T(shape), T(mask, "bool"), draw.sampled([0.0, -1e9, T([])])), assumes=wider)


def where(draw: Draw) -> Call:
    shape = draw.shape(0, 4)
    left, right = draw.broadcastable(shape), draw.broadcastable(shape)
    if draw.wrong() and shape:
        right = draw.spoilt(shape)
    if draw.name != "torch.Tensor.where" and draw.number(0, 4) == 0:
        return Call((T(draw.shape(1, 4), "bool"),), data=True)
    if draw.name == "torch.Tensor.where":
        return Call((T(left), T(shape, "bool"), T(right)))
    return Call((T(shape, "bool"), T(left), draw.sampled([T(right), T(right), 0.0])))


def three(draw: Draw) -> Call:
    shape = draw.shape(0, 3)
    shapes = [shape, draw.broadcastable(shape), draw.broadcastable(shape)]
    if draw.wrong() and shape:
        shapes[2] = draw.spoilt(shape)
    return Call([T(s) for s in shapes])


def normalize(draw: Draw) -> Call:
    shape = draw.shape(1, 4)
    if draw.number(0, 3) == 0:
        return Call((T(shape),))
    return Call((T(shape),), {"dim": draw.any_axis(len(shape))})


SAMPLES: dict[str, Sample] = {
    "torch.abs": unary,
    "torch.exp": unary_float,
    "torch.isnan": unary_bool,
    "torch.add": binary,
    "torch.div": divide,
    "torch.atan2": binary_float,
    "torch.eq": compare,
    "torch.equal": same_elements,
    "torch.clamp": clamp,
    "torch.masked_fill": masked_fill,
    "torch.where": where,
    "torch.lerp": three,
    "torch.addcmul": three,
    "torch.nn.functional.normalize": normalize,
}
