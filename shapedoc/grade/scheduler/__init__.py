"""Grading beyond one machine: the same chunks of submissions, sent to workers of a cluster."""

from __future__ import annotations

__all__ = ["SchedulerError"]


class SchedulerError(RuntimeError):
    """The cluster cannot be used, or is gone; what was done stands in the journal."""
