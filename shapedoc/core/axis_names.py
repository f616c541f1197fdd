"""What authors call an axis, in lower case."""

from __future__ import annotations

__all__ = ["BATCH"]

BATCH = frozenset(("b", "bs", "bsz", "batch", "batch_size", "batchsize", "n_batch", "nbatch", "bsize", "batch_sz"))
