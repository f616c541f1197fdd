"""Calls of einops."""

from __future__ import annotations

from collections.abc import Mapping

from tests.ops.drawing import Call, Draw, Sample, T

__all__ = ["SAMPLES"]

REARRANGED = (
    "b t (h d) -> b h t d", "b h t d -> b t (h d)", "b t d -> t b d", "b t d -> b t d 1", "b () d -> b d",
    "b ... d -> ... (b d)", "b c (h p) (w q) -> b (h w) (p q c)", "... d -> (...) d", "(b h) t d -> b t (h d)",
)  # fmt: skip
REDUCED = ("b t d -> b d", "b t d -> ", "b (t 2) d -> b t d", "b ... -> b", "b t d -> b 1 d", "(b h) t -> h")
REPEATED = ("b d -> b t d", "b d -> (b r) d", "b 1 d -> b t d", "b d -> b 2 d", "... -> ... k", "b (h d) -> (r h) b d")
INNER = ("h", "p", "q")


def shape_of(draw: Draw, left: str, sizes: Mapping[str, int]) -> list[int]:
    """The sizes of a tensor that the left side of a pattern describes."""
    found: list[int] = []
    group: int | None = None
    for word in left.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(":
            group = 1
        elif word == ")":
            found.append(1 if group is None else group)
            group = None
        elif word == "...":
            found.extend(draw.shape(0, 2))
        else:
            number = int(word) if word.isdecimal() else sizes[word]
            if group is None:
                found.append(number)
            else:
                group = number * group
    return found


def transformed(draw: Draw, patterns: tuple[str, ...]) -> tuple[T, str, dict[str, object]]:
    """A tensor, a pattern, and sizes by name that it needs."""
    pattern = draw.sampled(patterns)
    left, _, right = pattern.partition("->")
    names = {w for w in pattern.replace("(", " ").replace(")", " ").split() if w.isidentifier()}
    sizes = {name: draw.size() for name in sorted(names)}
    shape = shape_of(draw, left, sizes)
    old = set(left.replace("(", " ").replace(")", " ").split())
    given: dict[str, object] = {n: s for n, s in sizes.items() if n in INNER and f" {n}" in f" {left}" and "(" in left}
    given |= {n: s for n, s in sizes.items() if n not in old}
    if draw.maybe() and "b" in sizes and "(b" not in left:
        given["b"] = sizes["b"]
    if draw.wrong():
        how = draw.number(0, 3)
        if how == 0:
            shape = draw.spoilt(shape)
        elif how == 1 and given:
            given[draw.sampled(sorted(given))] = draw.size(least=2)
        elif how == 2:
            given["unused"] = 2
        elif given:
            del given[draw.sampled(sorted(given))]
    return T(shape), pattern if draw.number(0, 9) else draw.sampled([right, pattern + " (", "b b -> b"]), given


def rearrange(draw: Draw) -> Call:
    tensor, pattern, given = transformed(draw, REARRANGED)
    if draw.name.startswith("einops.layers"):
        return Call([tensor], init=(pattern,), options=given)
    if pattern == "b t d -> t b d" and draw.maybe():
        rows = tensor.shape[1:]
        tensors = [T(rows) for _ in range(3)]
        given = {k: 3 if k == "b" else v for k, v in given.items()}
        if draw.wrong():
            tensors.append(T(draw.spoilt(rows)))
        return Call((tensors, pattern), given)
    return Call((tensor, pattern), given)


def repeat(draw: Draw) -> Call:
    tensor, pattern, given = transformed(draw, REPEATED)
    return Call((tensor, pattern), given)


def reduce(draw: Draw) -> Call:
    tensor, pattern, given = transformed(draw, REDUCED)
    reduction = draw.sampled(["mean", "sum", "max", "min", "prod"])
    if draw.number(0, 9) == 0:
        reduction = "median"
    if draw.name.startswith("einops.layers"):
        return Call([tensor], init=(pattern, reduction), options=given)
    return Call((tensor, pattern, reduction), given)


def einsum(draw: Draw) -> Call:
    pattern = draw.sampled(("b q d, b k d -> b q k", "b t d, d e -> b t e", "t d -> d", "b t, b t d -> b d"))
    left = pattern.partition("->")[0]
    sizes = {name: draw.size() for name in "bqkdte"}
    shapes = [[sizes[name] for name in part.split()] for part in left.split(",")]
    if draw.wrong():
        i = draw.number(0, len(shapes) - 1)
        shapes[i] = draw.spoilt(shapes[i])
    if draw.number(0, 9) == 0:
        shapes.append([2])
    return Call((*(T(s) for s in shapes), pattern))


def pack(draw: Draw) -> Call:
    pattern = draw.sampled(("b t *", "b * d", "* d"))
    before, after = (len(part.split()) for part in pattern.split("*"))
    first, last = draw.sizes(before), draw.sizes(after)
    shapes = [[*first, *draw.shape(0, 2), *last] for _ in range(draw.number(1, 3))]
    if draw.wrong():
        shapes.append(draw.sampled([[2], [*(draw.other(n) for n in first), 3, *(draw.other(n) for n in last)]]))
    return Call(([T(s) for s in shapes], pattern))


def unpack(draw: Draw) -> Call:
    parts = [tuple(draw.shape(0, 2)) for _ in range(draw.number(1, 3))]
    total = sum((product(p) for p in parts[1:]), start=product(parts[0]))
    if draw.maybe():
        parts[-1] = (-1,)
    if draw.wrong():
        total = total + 1
    return Call((T([draw.size(), total, draw.size()]), parts, draw.sampled(["b * d", "b * d", "b *"])))


def product(sizes: tuple[int, ...]) -> int:
    total = 1
    for size in sizes:
        total = size * total
    return total


def parse_shape(draw: Draw) -> Call:
    return Call((T(draw.shape(2, 4)), draw.sampled(["b _ d", "b t d", "b ...", "a b"])))


SAMPLES: dict[str, Sample] = {
    "einops.rearrange": rearrange,
    "einops.layers.torch.Rearrange": rearrange,
    "einops.repeat": repeat,
    "einops.reduce": reduce,
    "einops.layers.torch.Reduce": reduce,
    "einops.einsum": einsum,
    "einops.pack": pack,
    "einops.unpack": unpack,
    "einops.parse_shape": parse_shape,
}
