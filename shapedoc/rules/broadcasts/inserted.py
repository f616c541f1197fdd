"""A 1 where an operand of fewer axes lacks one, as one writes it."""

from __future__ import annotations

from shapedoc.core.trace import Trace
from shapedoc.core.value import Tensor
from shapedoc.rules.reading.elementwise import Meeting
from shapedoc.rules.reading.sized import atom
from shapedoc.rules.reading.wording import text_of

__all__ = ["one_inserted"]


def one_inserted(trace: Trace, meeting: Meeting) -> tuple[str, str]:
    """How to write the operand of lower rank with a 1 where an axis is missing, and its shape then."""
    text = atom(text_of(trace, meeting.low))
    if meeting.home is None or meeting.event.sizes is None:
        return f"insert the axes of size 1 that {text} lacks", ""
    axes = meeting.low_shape.axes
    place = len(axes) + meeting.back + 1
    missing = meeting.back - meeting.home
    parts = [meeting.event.sizes.show(a.dim) for a in axes]
    shape = parts[:place] + ["1"] * missing + parts[place:]
    numpy = isinstance(meeting.low.value, Tensor) and meeting.low.value.library == "numpy"
    if numpy:
        index = ", ".join([":"] * place + ["None"] * missing + [":"] * (len(axes) - place))
        return f"{text}[{index}]", f"({', '.join(shape)})"
    back = place - len(axes) - 1
    return f"{text}{f'.unsqueeze({back if place > 1 else place})' * missing}", f"({', '.join(shape)})"
