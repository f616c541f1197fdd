"""Modules of files that are not read, which are named after a module of the library that they do the work of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shapedoc.core.value import Unknown
from shapedoc.infer.machine import Arg

__all__ = ["namesake"]

# Norms of features keep every shape. A linear map is known by names only that say nothing else of it.
_NORMS = re.compile(r"[A-Za-z]*(LayerNorm(alization)?|R[Mm][Ss]Norm)")
_MAPS = frozenset(("Linear", "LinearNorm"))


def namesake(qualified: str, args: Sequence[Arg]) -> tuple[str, list[Arg]] | None:
    """What to build for ``LinearNorm(d, k)`` and ``BertLayerNorm(d)``, and with what; None for others."""
    module, _, name = qualified.rpartition(".")
    if not module or module.startswith(("torch", "numpy")):
        return None
    if name in _MAPS:
        return ("torch.nn.Linear", list(args[:2])) if len(args) >= 2 else None
    if name[-1:] in "mn" and _NORMS.fullmatch(name):
        return "torch.nn.LayerNorm", [Arg(Unknown("a norm of a file that is not read"))]
    return None
