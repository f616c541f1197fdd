"""Oracles: attention in NumPy, right and as students get it wrong, for the trusted parent."""

from __future__ import annotations

from collections.abc import Mapping

from shapedoc.grade.oracles import masked_softmax, multi_head_general, scorers
from shapedoc.grade.oracles.oracle import Answer, Given, Mistake, Oracle

__all__ = ["ORACLES", "Answer", "Given", "Mistake", "Oracle"]

ORACLES: Mapping[str, Oracle] = {
    oracle.name: oracle for oracle in (masked_softmax.ORACLE, multi_head_general.ORACLE, *scorers.ORACLES)
}
"""Every oracle by its name, which an assignment gives as ``expected``."""
