"""Work that dies with its worker where a submission is poison; workers import it by name."""

from __future__ import annotations

import os
import signal

from shapedoc.grade.scheduler.work import grade_chunk

__all__ = ["POISON", "grade_chunk_or_die"]

POISON = "# poison\ndef masked_softmax(scores, lengths):\n    return scores\n"


def grade_chunk_or_die(job: str, request: str) -> str:
    """Grade a chunk, or kill this process where it holds the poison."""
    if "# poison" in request:
        os.kill(os.getpid(), signal.SIGKILL)
    return grade_chunk(job, request)
