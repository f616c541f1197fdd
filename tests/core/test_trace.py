"""What a trace gives of the text that it was made of."""

from __future__ import annotations

from dataclasses import replace

from shapedoc.core.span import Span
from shapedoc.core.trace import Trace

TRACE = Trace("model.py", "x = torch.cat(\n    [a, b],\n    dim=1,\n)\n")


def test_the_text_of_a_span_is_one_line() -> None:
    assert TRACE.source(Span(1, 0, 1, 1)) == "x"
    assert TRACE.source(Span(1, 4, 4, 1)) == "torch.cat( [a, b], dim=1, )"


def test_of_another_file_there_is_no_text() -> None:
    """The lines of that number say something else here."""
    assert TRACE.source(replace(Span(1, 4, 4, 1), path="other.py")) == ""
