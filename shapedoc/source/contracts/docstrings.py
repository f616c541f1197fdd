"""Docstrings that state shapes: Google, NumPy, Sphinx and epytext fields, PyTorch's ``Shape:`` section.

``x (Tensor): (B, T, d)``, ``x : ndarray of shape (n, d)``, ``:param x: [batch, len]``, ``@param x (Tensor): (b, e)``,
``- **context** (batch, len, dim): ..``, ``- Input: :math:`(N, T, H)```, ``Returns: (B, T)``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from shapedoc.source.contracts.comments import Locate, read_prose
from shapedoc.source.contracts.judge import tally
from shapedoc.source.contracts.stated import Bound, StatedShape
from shapedoc.source.ir import Span4

__all__ = ["Documented", "read_docstring"]

_MAY = re.compile(r"[\[(][^\])\n]*,[^\])\n]*[\])]|\s[xX\u00d7]\s|\[\w+\]")
_SECTION = re.compile(
    r"(?i:(?P<in>args|arguments|parameters|params|inputs?|other parameters|keyword args|keyword arguments)"
    r"|(?P<out>returns?|outputs?|yields?)|(?P<shape>shapes?)"
    r"|(?P<skip>examples?|notes?|raises|references|usage|attributes|see also|todo|warnings?|math|details|example usage)"
    r")\s*(?P<colon>:?)(?:\s+(?P<rest>.*))?"
)
_FIELD = re.compile(
    r"[:@](?P<tag>param|parameter|arg|argument|type|returns?|rtype)\b(?P<head>[^:\n]*?)(?::(?!\w+:`)|(?<=\))\s|\s(?=[\[(]))\s*(?P<text>.*)"
)
_ITEM = re.compile(
    r"(?:[-*+•]\s+)?(?!`\w+\[)"
    r"(?P<names>[`*]{0,2}[A-Za-z_]\w*[`*]{0,2}(?:\s*(?:,|/|and|&)\s*[`*]{0,2}[A-Za-z_]\w*[`*]{0,2})*)"
    r"\s*(?::|=|(?=[\[(])|-{1,3}\s)\s*(?P<text>.*)"
)
# A list of tensors, or a dict: the shape is of what is in it.
_SEVERAL = re.compile(r"(?i:\b(?:list|lists|dict|dicts|dictionary|tuple|tuples|sequence of|each|iterable)\b)")
# Names of what is mostly a tuple of tensors.
_GATHERED = frozenset(("batch", "data", "sample", "samples", "inputs", "example", "examples"))
# Perhaps no tensor at all.
_NUMBER_OR = re.compile(
    r"(?i:\b(?:int|float|scalar|bool|str)\b.*\bor\b|\bor\s+(?:an?\s+)?(?:int|float|scalar|bool|str)\b)"
)
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_ONE_AXIS = re.compile(r"[\[(]\s*\w+\s*,\s*[\])]")
_ONE_SIZE = re.compile(r"\[\w+\]|\(\w+\)")
_RULE = re.compile(r"[-=~]{3,}\s*")
_ROLE = re.compile(r":(?:obj|class|math|attr|py:class|meth|func):(?=`)|~(?=torch)")
_TEX = (
    (re.compile(r"\\text(?:\w*)\{([^{}]*)\}"), r"\1"),
    (re.compile(r"_\{\s*([\w]+)\s*\}"), r"_\1"),
    (re.compile(r"\\(?:times|cdot)\b"), "*"),
    (re.compile(r"\\(?:l?dots|cdots)\b"), "..."),
    (re.compile(r"\\_"), "_"),
    (re.compile(r"\\ast\b"), "*"),
)
_TYPE = re.compile(r"^\(?\s*(?:[\w.]*Tensor|ndarray|np\.ndarray|numpy\.ndarray|array)\)?\s*[:,]?\s*")
# A type says that it is one tensor, and one pair of brackets that it is as long as this.
_ONE_TENSOR = re.compile(
    r"\(?\s*(?:Optional\[)?(?:[\w.]*Tensor|(?:np\.|numpy\.)?ndarray)\b[^:(]*(?::|$)|\([\w.]*Tensor\b[^:(]*"
)
# Sizes, the first or second of which is the batch.
_OF_A_BATCH = re.compile(
    r"[\[(](?=\s*(?:#?\w+\s*,\s*)?#?(?:B|b|N|bs|bsz|n?batch(?:_?size)?)\s*[,\])])\s*"
    r"#?\w+(?:\s?[-+*/]\s?\w+)?(?:\s*,\s*#?\w+(?:\s?[-+*/]\s?\w+)?)*\s*,?\s*[\])]"
)
# ``offsets of the sequences in a packed `[1, T, C]` input``: the shape of what they are in.
_OF_WHAT_IT_IS_IN = re.compile(
    r"(?i:\b(?:in|within|inside|into|from|over|along)\s+(?:an?|the|each|every)\s+(?:[a-z][\w-]*\s+){0,2}"
    r"`*[\[(][^\[\]()]*,[^\[\]()]*[\])]`*\s+"
    r"(?!(?:tensor|array|matrix|layout|format|form|order|ordering|shape)\b)[a-z]\w+)"
)
_TYPED_SHAPE = re.compile(r"(?<=\w)\s+(?=[\[(])")


@dataclass(slots=True)
class Documented:
    """What a docstring states.

    named: by the name of a parameter. first: of the first input (``Shape: - Input: ..``). returns: of the result.
    alone: by the name of a parameter that is one tensor, if something else says that it is.
    """

    named: dict[str, list[StatedShape]] = field(default_factory=dict)
    first: list[StatedShape] = field(default_factory=list)
    returns: list[Bound] = field(default_factory=list)
    alone: dict[str, StatedShape] = field(default_factory=dict)

    def params(self, names: list[str]) -> dict[str, list[StatedShape]]:
        """What is said of these parameters, in the order that the function has them."""
        found = {n: self.named[n] for n in names if n in self.named}
        if self.first and len(names) == 1 and names[0] not in found:
            found[names[0]] = [replace(s, name=names[0]) for s in self.first]
        return found


@dataclass(slots=True)
class _Item:
    """One entry of a list of parameters or results, its lines joined."""

    names: tuple[str, ...]
    kind: str
    text: str
    line: int
    width: int
    length: int


def read_docstring(text: str, span: Span4) -> Documented:
    """The shapes that a docstring states; `span` is that of the string in its file."""
    documented = Documented()
    if not _MAY.search(text):
        return documented
    results: list[tuple[_Item, list[StatedShape]]] = []
    for item in _items(text):
        shapes = _read(item, span)
        if _is_of_several(item.text) or _OF_WHAT_IT_IS_IN.search(item.text):
            shapes = []
        if _NUMBER_OR.search(item.text):
            shapes = [replace(s, sure=False) for s in shapes]
        if item.kind == "out":
            results.append((item, shapes))
            continue
        if len(shapes) == 1 and item.names and "->" not in item.text:
            shapes = [replace(shapes[0], where="after")]  # "Input tensor of shape ..." is what the name stands for
        if item.names and len(shapes) < 2 and not _SEVERAL.search(item.text):
            _note_alone(documented, item, shapes, span)
        if shapes and _usable(shapes) and not _is_of_another(item, shapes[0]) and not _lists_values(item, shapes[0]):
            _note(documented, item, shapes[0])
    _results(documented, results)
    return documented


def _read(item: _Item, span: Span4) -> list[StatedShape]:
    """The shapes in an entry; sure where its type says that it is one tensor, and one list of sizes ends it."""
    shapes = read_prose(_shorn(item.text), _whole(span, item))
    typed = _ONE_TENSOR.match(item.text) if len(shapes) < 2 else None
    brackets = _BRACKETS.findall(item.text, typed.end()) if typed is not None else []
    if len(brackets) != 1:
        return shapes
    if not shapes:
        shapes = _of_a_batch(item, brackets[0], span)
    return [replace(s, sure=True, prose=not s.sure) for s in shapes]


def _of_a_batch(item: _Item, brackets: str, span: Span4) -> list[StatedShape]:
    """The sizes that end an entry, the batch among the first: of one tensor, whatever the other sizes are."""
    if _OF_A_BATCH.fullmatch(brackets) is None or not item.text.rstrip(" .").endswith(brackets):
        return []
    return read_prose(f"shape {brackets}", _whole(span, item))


def _note_alone(documented: Documented, item: _Item, shapes: list[StatedShape], span: Span4) -> None:
    """Note what is said of parameters that are one tensor each, if something else says that they are."""
    brackets = _BRACKETS.findall(item.text)
    if len(brackets) == 1:
        found = shapes or _of_a_batch(item, brackets[0], span)
        if len(found) == 1 and found[0].index is None and not _NUMBER_OR.search(item.text):
            shape = replace(found[0], where="after", sure=True, prose=not found[0].sure or found[0].prose)
            documented.alone.update((name, replace(shape, name=name)) for name in item.names)


def _is_of_several(text: str) -> bool:
    """Whether a shape is that of what is in a list; in what is one tensor by its type, "each" is said of its axes."""
    several = _SEVERAL.findall(text)
    return any(word.lower() != "each" for word in several) or (bool(several) and _ONE_TENSOR.match(text) is None)


def _note(documented: Documented, item: _Item, shape: StatedShape) -> None:
    for name in item.names:
        lowered = name.lower()
        if lowered in ("input", "inputs") and name[0].isupper():
            documented.first.append(replace(shape, name=None))
        elif lowered in ("output", "outputs") and name[0].isupper():
            documented.returns.append(Bound("", replace(shape, name=None)))
        else:
            documented.named.setdefault(name, []).append(replace(shape, name=name))


def _usable(shapes: list[StatedShape]) -> bool:
    """One shape of the item itself: no arrow, no second shape that differs."""
    first = shapes[0]
    if first.where != "after" or first.index is not None:
        return False
    return len(shapes) == 1 or all(s.dims == first.dims for s in shapes[1:]) or first.sure


def _is_of_another(item: _Item, shape: StatedShape) -> bool:
    """``query (d,), keys (T, d)``: the item has one axis, and the shape that is read stands behind another name."""
    return _ONE_AXIS.match(item.text) is not None and shape.name is not None and shape.name not in item.names


def _lists_values(item: _Item, shape: StatedShape) -> bool:
    """``batch: (articles, words, max_len)``: what is in a batch, by name."""
    return any(n.lower() in _GATHERED for n in item.names) and tally(shape.dims).weak > 0


def _results(documented: Documented, results: list[tuple[_Item, list[StatedShape]]]) -> None:
    """Several entries, or several shapes in the only one, are the components of a tuple."""
    found = [(item, [s for s in shapes if s.where == "after"]) for item, shapes in results]
    stating = [pair for pair in found if pair[1]]
    if not stating or documented.returns:
        return
    named = [pair for pair in found if pair[0].names]
    if len(stating) == 1 and len(named) <= 1:
        shapes = stating[0][1]
        if len(shapes) == 1:
            documented.returns.append(Bound("", replace(shapes[0], name=None)))
        elif all(s.name for s in shapes) and len(_BRACKETS.findall(stating[0][0].text)) == len(shapes):
            documented.returns.extend(Bound("", replace(s, name=None), i) for i, s in enumerate(shapes))
        return
    for i, (item, shapes) in enumerate(named):
        if shapes:
            documented.returns.append(Bound("", replace(shapes[0], name=item.names[0]), i))


def _items(text: str) -> list[_Item]:
    """The entries of a docstring with their lines joined."""
    items: list[_Item] = []
    kind, indent, header = "", 0, 0
    lines = text.split("\n")
    for number, raw in enumerate(lines):
        line = raw.strip()
        width = len(raw) - len(raw.lstrip())
        if not line or _RULE.fullmatch(line) or line.startswith((">>>", "...")):
            if not line and items and kind == "":
                items.append(_Item((), "", "", number, width, len(line)))
            continue
        section = _SECTION.fullmatch(line)
        underlined = number + 1 < len(lines) and _RULE.fullmatch(lines[number + 1].strip() or "x") is not None
        # `output: ..` below `Returns:` is the name of a result.
        entry_of = kind in ("in", "out") and section is not None and section["rest"] and width > header
        if section and (section["colon"] or underlined) and not (kind == "shape" and line[0] == "-") and not entry_of:
            kind = next((k for k in ("in", "out", "shape", "skip") if section[k]), "")
            indent, header = -1, width
            if section["rest"]:
                items.append(_Item((), "out" if kind == "out" else "rest", section["rest"], number, width, len(line)))
            continue
        tagged = _FIELD.match(line)
        if tagged:
            kind, indent = "", 0
            items.append(_field(tagged, number, width, len(line)))
            continue
        if kind == "skip":
            continue
        if kind and indent < 0:
            indent = width
        if kind and width < indent and number:
            kind, indent = "", 0
        entry = _entry(line, kind, number, width)
        if entry is not None and (not kind or width <= indent or line[0] in "-*"):
            items.append(entry)
        elif items and (kind or _continues(items[-1], width)):
            items[-1].text += " " + line
    return items


def _continues(item: _Item, width: int) -> bool:
    return item.kind in ("in", "out") and bool(item.text) and width > item.width


def _field(match: re.Match[str], number: int, width: int, length: int) -> _Item:
    tag, head, text = match["tag"], match["head"].strip(), match["text"]
    if tag.startswith("r"):
        return _Item((), "out", f"{head} {text}".strip(), number, width, length)
    bracket = re.match(r"(\w+)\s*(\(.*\))?$", head)
    if bracket:
        return _Item((bracket.group(1),), "in", f"{bracket.group(2) or ''} {text}".strip(), number, width, length)
    words = head.split()
    return _Item((words[-1],) if words else (), "in", text, number, width, length)


def _entry(line: str, kind: str, number: int, width: int) -> _Item | None:
    match = _ITEM.fullmatch(line)
    if match is None:
        return _Item((), "out", line, number, width, len(line)) if kind == "out" else None
    names = tuple(n.strip(" `*") for n in re.split(r",|/|&|\band\b", match["names"]) if n.strip(" `*"))
    text = match["text"]
    if kind == "out":
        plain = len(names) == 1 and (names[0].endswith("Tensor") or names[0] in ("Tuple", "tuple", "ndarray", "array"))
        return _Item(() if plain else names, "out", text, number, width, len(line))
    if kind == "" and not re.match(r"[\[(`]|.*(?:[Ss]hape|Tensor|ndarray|size|\sx\s)", text):
        return None
    return _Item(names, "in", text, number, width, len(line))


def _shorn(text: str) -> str:
    """The text of an entry without roles, TeX and the type before the shape."""
    text = _ROLE.sub("", text)
    if "\\" in text or "_{" in text:
        for pattern, by in _TEX:
            text = pattern.sub(by, text)
    text = text.replace("``", "`")
    shorn = _TYPE.sub("", text, count=1)
    if shorn is not text and (_ONE_SIZE.match(shorn) or _OF_A_BATCH.fullmatch(shorn.rstrip(" ."))):
        return f"shape {shorn}"  # ``LongTensor [batch]``
    return shorn if shorn[:1] in "([`" or shorn[:5] == "shape" else text


def _whole(span: Span4, item: _Item) -> Locate:
    """The line that an entry begins on: where in it the shape stands is not known once its lines are joined."""
    if item.line == 0:
        start, line = span[1], span[0]
    else:
        start, line = item.width, min(span[0] + item.line, span[2])
    place = (line, start, line, start + item.length)
    return lambda _start, _end: place
