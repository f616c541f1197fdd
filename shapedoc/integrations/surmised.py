"""Functions that state nothing of their arguments, read as if these were what attention is mostly given.

That is one or several tensors of three axes: the first ``(b, q, d)``, the others ``(b, k, d)``. Where reading follows
such a function to its end, a call whose arguments are so need not be recorded; any other one is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

from shapedoc.integrations.reading import place_ahead, untold
from shapedoc.runtime.contracts import Term
from shapedoc.runtime.patterns import shape_of
from shapedoc.source import ir
from shapedoc.source.contracts import Named
from shapedoc.source.folded import replaced, with_and_without

if TYPE_CHECKING:
    from shapedoc.runtime.foreseen import Foreseen

__all__ = ["fits", "surmise"]

_FIRST, _OTHERS = ("axis_b", "axis_q", "axis_d"), ("axis_b", "axis_k", "axis_d")


def surmise(
    function: FunctionType, given: Sequence[str], absent: Collection[str]
) -> tuple[dict[str, Term], Foreseen] | None:
    """What the arguments are taken for, and what calls with such ones do; None where reading leaves something open.

    given: the parameters that a call must give. absent: those that are None where it does not.
    """
    found = place_ahead(function)
    if found is None:
        return None
    from shapedoc.engine.analysis import study_one
    from shapedoc.runtime.foreseen import foreseen, is_straight

    source, place = found
    definition = place.node
    assert isinstance(definition, ir.FunctionDef)
    module, read = with_and_without(source.module, definition, (), absent)
    if not is_straight(read):
        return None
    axes = {name: _OTHERS if i else _FIRST for i, name in enumerate(given)}
    params = [replace(p, annotation=_written(p.span, axes[p.name])) if p.name in axes else p for p in read.params]
    stated = replace(read, params=params)
    module = replace(module, body=replaced(module.body, read, stated))
    one = study_one(source.path, source.text, module, place.owner or definition.name)
    plan = foreseen(one.trace, function.__code__, source, place)
    if plan is None or not untold(source, plan, one.findings):
        return None
    return {n: Term(n, tuple(map(Named, a)), kind="float") for n, a in axes.items()}, plan


def _written(span: ir.Span4, axes: Sequence[str]) -> ir.Expr:
    """``Float[Tensor, "b t d"]``."""
    items: list[ir.Expr] = [ir.Name(span, "Tensor"), ir.Const(span, " ".join(axes))]
    return ir.Subscript(span, ir.Name(span, "Float"), ir.Sequence(span, "tuple", items))


def fits(terms: Mapping[str, Term], plan: Foreseen, values: Mapping[str, Any]) -> bool:
    """Whether arguments go by what they are taken for: one size for one name, and none but a batch is 1.

    A 1 may be broadcast where reading has taken two sizes for one; other numbers that differ would raise there.
    """
    sizes: dict[str, int] = {}
    for name, term in terms.items():
        shape = shape_of(values[name]) or ()
        for dim, size in zip(term.dims, shape, strict=True):
            if sizes.setdefault(str(dim), size) != size:
                return False
    batch = str(Named(_FIRST[0]))
    alone = any(sym.name == _FIRST[0] for sym in plan.numbers)
    return all(size > 1 or (name == batch and alone) for name, size in sizes.items())
