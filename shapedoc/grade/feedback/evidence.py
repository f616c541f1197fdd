"""The evidence of a fault: in one sentence, on the student's smallest failing input, with the line."""

from __future__ import annotations

import numpy as np

from shapedoc.grade.assignment import Language
from shapedoc.grade.draws import Array
from shapedoc.grade.feedback.diagnosis import Diagnosis
from shapedoc.grade.feedback.findings import Look
from shapedoc.grade.feedback.hints import title_of
from shapedoc.grade.messages import say
from shapedoc.grade.properties.property import Case, Fault
from shapedoc.grade.result import Evidence, Value

__all__ = ["evidence_of", "fault_in_words", "shown"]

_MOST_NUMBERS = 24


def fault_in_words(fault: Fault, language: Language) -> str:
    """The fault in one sentence."""
    return say(language, f"fault.{fault.kind}", **_safe(fault)).rstrip(" :：")  # noqa: RUF001


def _safe(fault: Fault) -> dict[str, object]:
    return {"": "", **fault.values}


def evidence_of(
    case: Case, fault: Fault, diagnosis: Diagnosis, seen: Look, language: Language, title: str = ""
) -> Evidence:
    """The input, the output beside the right one, the gap and the line. title: of a mistake of the assignment's own."""
    says = fault_in_words(fault, language)
    line = fault.line or diagnosis.line
    what = title or title_of(diagnosis.mistake, language)
    if diagnosis.line is not None and fault.line is None and what:
        says = say(language, "fault.with_line", says=says, what=what, line=diagnosis.line)
    inputs = case.drawn.inputs if case.drawn is not None else {}
    arguments = ", ".join(inputs)
    return Evidence(
        says=says,
        call=f"{case.function}({arguments})" if inputs else "",
        inputs=(
            *(shown(name, np.asarray(value)) for name, value in inputs.items()),
            *(shown(say(language, "fault.then", name=name), value) for name, value in fault.changed.items()),
        ),
        output=shown(fault.result, fault.output) if fault.output is not None else None,
        expected=shown(fault.result, fault.expected) if fault.expected is not None else None,
        gap=_gap(fault.gap),
        line=line,
        source=seen.line(line),
    )


def _gap(gap: float | None) -> float | None:
    return float(f"{gap:.4g}") if gap is not None and np.isfinite(gap) else None


def shown(name: str, array: Array) -> Value:
    """An array as text; a large one by its kind and shape."""
    if array.size > _MOST_NUMBERS:
        text = f"{array.dtype.name} {array.shape}"
    elif array.dtype.kind == "f":
        text = np.array2string(array.astype(float), precision=3, suppress_small=_ordinary(array), separator=", ")
    else:
        text = np.array2string(array, separator=", ", threshold=_MOST_NUMBERS)
    return Value(name, text[:2000], tuple(int(size) for size in array.shape), array.dtype.name)


def _ordinary(array: Array) -> bool:
    finite = np.abs(array[np.isfinite(array)].astype(float))
    return bool(finite.size == 0 or (finite.max() < 1e4))
