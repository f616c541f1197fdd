"""The pictures of a report: weights beside the right ones, accuracy against length, and the shape flow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal
from xml.etree import ElementTree

from shapedoc.grade.messages import say
from shapedoc.grade.pages.words import picture_words
from shapedoc.grade.result import Accuracy, GradedSubmission, Weights
from shapedoc.report.plain import plain
from shapedoc.report.svg import Picture, accuracy_curve, heat_map

__all__ = ["Drawn", "of_item", "shape_flow_of"]

_ELEMENTS = frozenset({"svg", "title", "rect", "text", "path", "circle", "line", "defs", "pattern", "g"})


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture and what it shows; ``kind`` is the class that it has in a page."""

    kind: Literal["weights", "accuracy", "flow"]
    title: str
    svg: Picture


def of_item(result: GradedSubmission, item: str) -> list[Drawn]:
    """The pictures of an item, those that belong side by side next to each other."""
    drawn: list[Drawn] = []
    for place, weights in enumerate(result.pictures.weights):
        if weights.item == item:
            drawn += _weights(weights, result, place)
    for curve in result.pictures.accuracy:
        if curve.item == item:
            drawn += _accuracy(curve, result)
    return drawn


def shape_flow_of(result: GradedSubmission) -> Drawn | None:
    """The shape flow, if there is one; nothing where it holds what no picture of ours does."""
    text = result.pictures.shape_flow
    try:
        elements = list(ElementTree.fromstring(text).iter()) if text and plain(text) == text else []
    except ElementTree.ParseError:
        return None
    names = {element.tag.rpartition("}")[2] for element in elements}
    attributes = [(name, value) for element in elements for name, value in element.attrib.items()]
    if not elements or not names <= _ELEMENTS or any(_acts(name, value) for name, value in attributes):
        return None
    return Drawn("flow", elements[0].findtext("{http://www.w3.org/2000/svg}title") or "", Picture(text))


def _acts(name: str, value: str) -> bool:
    """Whether an attribute could run or load something."""
    return name.startswith("on") or "href" in name or name == "style" or bool(re.search(r"url\((?!#)", value))


def _weights(weights: Weights, result: GradedSubmission, place: int) -> list[Drawn]:
    words = picture_words(result.language)
    pairs = (("got", weights.got), ("expected", weights.expected))
    drawn: list[Drawn] = []
    for which, table in pairs:
        rows, columns = len(table), len(table[0]) if table else 0
        if not columns or any(len(row) != columns for row in table):
            continue
        title = say(result.language, f"report.weights_{which}")
        picture = heat_map(
            table,
            queries=weights.queries if len(weights.queries) == rows else (),
            keys=weights.keys if len(weights.keys) == columns else (),
            padding=_padding(weights.padding, rows, columns),
            title=title,
            words=words,
            pattern=f"hatch-{place}-{which}",
        )
        drawn.append(Drawn("weights", f"{weights.title}: {title}", picture))
    return drawn


def _padding(padding: Sequence[Sequence[bool]], rows: int, columns: int) -> Sequence[Sequence[bool]]:
    """The padding of every cell; none where it is not of the shape of the weights."""
    if any(len(row) != columns for row in padding):
        return ()
    if len(padding) == 1:
        return [padding[0]] * rows
    return padding if len(padding) == rows else ()


def _accuracy(curve: Accuracy, result: GradedSubmission) -> list[Drawn]:
    points = sorted(set(curve.lengths))
    if not points or len({len(curve.lengths), len(curve.accuracy), len(points)}) > 1:
        return []
    order = sorted(range(len(points)), key=lambda i: curve.lengths[i])
    baseline = [curve.baseline[i] for i in order] if len(curve.baseline) == len(points) else ()
    passes = [curve.passes[i] for i in order] if len(curve.passes) == len(points) else ()
    picture = accuracy_curve(
        points,
        [curve.accuracy[i] for i in order],
        baseline=baseline,
        band=[(low if isfinite(low) else 0.0, 1.0) for low in passes],
        title=curve.title,
        words=picture_words(result.language),
    )
    return [Drawn("accuracy", curve.title, picture)]
