"""What the reports draw of a submission: its weights beside the right ones, and accuracy against length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shapedoc.grade.assignment import Language
from shapedoc.grade.comparing import numeric
from shapedoc.grade.draws import Array
from shapedoc.grade.feedback.findings import Look
from shapedoc.grade.properties.property import Case, Heard
from shapedoc.grade.properties.weights import WEIGHTS
from shapedoc.grade.result import Accuracy, Pictures, Weights
from shapedoc.grade.trial import Tried

__all__ = ["pictures_of"]

_MOST = 24


def pictures_of(tried: Sequence[Tried], heard: Heard, seen: Look, language: Language) -> Pictures:
    """Weights of the first failing item that has some, else of the last right one; every accuracy; the shape flow."""
    return Pictures(_weights(tried, heard, language), _accuracy(tried, heard, language), seen.flow)


def _weights(tried: Sequence[Tried], heard: Heard, language: Language) -> tuple[Weights, ...]:
    pictured: Weights | None = None
    for one in tried:
        if one.item.visibility != "visible":
            continue
        smallest = one.smallest()
        cases = [smallest[0]] if smallest is not None else list(one.asked.cases[-1:])
        for case in cases:
            picture = _picture(one, case, heard, language)
            if picture is not None:
                if smallest is not None:
                    return (picture,)
                pictured = picture
    return (pictured,) if pictured is not None else ()


def _picture(one: Tried, case: Case, heard: Heard, language: Language) -> Weights | None:
    title = one.item.title.get(language) or one.item.title["en"]
    trained = case.facts.get("attention")
    if callable(trained):
        pair = trained(heard)
        return Weights(one.item.id, title, _rows(pair[0]), _rows(pair[1])) if pair is not None else None
    reply, right = heard.reply(case.main), heard.right(case)
    index = next((i for i, name in enumerate(case.results) if name in WEIGHTS), None)
    if index is None or right is None or reply.status != "ok" or index >= min(len(reply.arrays), len(right)):
        return None
    got, expected = reply.arrays[index], right[index]
    if got.shape != expected.shape or not numeric(got) or got.ndim < 2 or not got.size:
        return None
    row = _row(got, expected)
    padding: tuple[tuple[bool, ...], ...] = ()
    lengths = case.drawn.inputs.get("lengths") if case.drawn is not None else None
    if got.ndim == 2:
        if lengths is not None:
            padding = tuple(tuple(k >= int(n) for k in range(got.shape[1])) for n in np.asarray(lengths))
    else:
        if lengths is not None:
            padded = tuple(k >= int(np.asarray(lengths)[row[0]]) for k in range(got.shape[-1]))
            padding = (padded,) * got.shape[-2]
        got, expected = got[row], expected[row]
    got, expected = got[:_MOST, :_MOST], expected[:_MOST, :_MOST]
    return Weights(one.item.id, title, _rows(got), _rows(expected), tuple(p[:_MOST] for p in padding[:_MOST]))


def _row(got: Array, expected: Array) -> tuple[int, ...]:
    """The example, and the head, whose weights are furthest off."""
    if got.ndim == 2:
        return ()
    from shapedoc.grade.comparing import furthest

    return furthest(got, expected)[: got.ndim - 2]


def _rows(array: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(round(float(number), 6) for number in row) for row in array)


def _accuracy(tried: Sequence[Tried], heard: Heard, language: Language) -> tuple[Accuracy, ...]:
    found = []
    for one in tried:
        for case in one.asked.cases:
            series = case.facts.get("series")
            if not callable(series):
                continue
            title = one.item.title.get(language) or one.item.title["en"]
            drawn = series(heard)
            if drawn is not None:
                found.append(Accuracy(one.item.id, title, *drawn))
            break
    return tuple(found[:1])
