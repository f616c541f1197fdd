"""What a comment says that ``x.squeeze()`` leaves."""

from __future__ import annotations

from shapedoc.core.trace import Event, Stated, Trace

__all__ = ["says_what_is_left"]


def says_what_is_left(trace: Trace, event: Event) -> bool:
    """Whether a comment gives what ``x.squeeze()`` leaves some of its axes in their order: those left out are 1."""
    if event.short != "squeeze" or event.operand("dim") is not None:
        return False
    return any(s.event == event.index and s.form == "comment" and _is_part(s) for s in trace.stated)


def _is_part(stated: Stated) -> bool:
    rest = iter([name.lower() for name in stated.had])
    return len(stated.said) < len(stated.had) and all(name.lower() in rest for name in stated.said)
