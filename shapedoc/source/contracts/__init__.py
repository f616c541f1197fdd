"""What authors state of shapes: comments, docstrings, annotations, asserts, suffixes. One reader for each form."""

from __future__ import annotations

from shapedoc.source.contracts.asserts import (
    AssertedFact,
    AxisIs,
    Divides,
    RankIs,
    SameShape,
    SameSize,
    ShapeIs,
    read_assert,
)
from shapedoc.source.contracts.evaluate import to_dim
from shapedoc.source.contracts.module import ModuleContracts
from shapedoc.source.contracts.stated import (
    Anonymous,
    Bound,
    Difference,
    DimExpr,
    Named,
    Number,
    Product,
    Quotient,
    Rest,
    StatedShape,
    Sum,
    Unreadable,
)

__all__ = [
    "Anonymous",
    "AssertedFact",
    "AxisIs",
    "Bound",
    "Difference",
    "DimExpr",
    "Divides",
    "ModuleContracts",
    "Named",
    "Number",
    "Product",
    "Quotient",
    "RankIs",
    "Rest",
    "SameShape",
    "SameSize",
    "ShapeIs",
    "StatedShape",
    "Sum",
    "Unreadable",
    "read_assert",
    "to_dim",
]
