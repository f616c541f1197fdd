"""The words before a list: whose shape it is, and how sure it is that it is one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shapedoc.source.contracts.judge import Context
from shapedoc.source.contracts.lexicon import NOT_NAMES, SIZE_OWNERS, STOP
from shapedoc.source.contracts.stated import Where

__all__ = ["Prefix", "read_prefix"]

_NAME = r"[A-Za-z_][\w.]*(?:\[[^\[\]]*\])?'?"
_NAMES = rf"{_NAME}(?:\s*(?:,|/|&|\band\b)\s*{_NAME})*"
_SHAPE = r"(?:[Ss]hapes?|SHAPE|[Ss]izes?|[Dd]ims?|[Dd]imensions?|[Dd]imensionality)"
_IS = r"(?:==?|:|\bis\b|\bare\b|\bof\b|\bwill be\b|\bshould be\b|\bbecomes\b|\bnow\b|-+>|=+>|\()"

# One blank for many: none of the patterns here has to try how many of them belong to what.
_BLANKS = re.compile(r"\s+")
# What stands further before a list than so many characters says nothing of it.
_LONGEST = 160
_ARROW = re.compile(r"(?:-+[\w ]*-*>|=+>|→|⇒)\s*$")
_EMPTY = re.compile(r"(?:Tensors?|tensors?|FloatTensor|LongTensor)?\s*[:=]?\s*$")
_PRINTED = re.compile(r"(?:torch\.)?Size\(\s*$")
_EQUAL = re.compile(
    rf"(?P<names>{_NAMES})\s*(?P<sep>==?|:|-{{2,3}})\s*(?:of\s+)?(?P<type>[\w.]*Tensor\s*|ndarray\s*)?$"
)
_SHAPE_OF = re.compile(rf"{_SHAPE}\s+(?:of|for)\s+(?:the\s+|each\s+)?(?P<names>{_NAMES})\s*{_IS}?\s*$")
_DOT_SHAPE = re.compile(rf"(?P<names>{_NAME}?\w)\.(?:shape|size\(\)|size)\s*(?:==?|:|is|->|\s)\s*$")
_SHAPED = re.compile(
    rf"(?:(?P<names>{_NAMES})\s*)?(?P<link>'s\s+|,\s*|\(|\b(?:is|are|has|have|having|with|of|in|as|to|the|a|new|same|"
    rf"desired|current)\s+)*\s*\b(?P<word>{_SHAPE})(?:\(\))?\s*(?P<sep>(?:{_IS}\s*)*)$"
)
_NEAR = re.compile(
    rf"(?P<names>{_NAME})(?:\s*\b(?:is|are|has|now|becomes|as|to|returned|in|with|an|a|into|of|be)(?=\s))*\s*$"
)
_WAS = re.compile(r"(?i:\b(?:from|was|before|original|originally|input|inputs|previous)\b)")
_BARRED = re.compile(
    r"(?i:\b(?:not|instead|rather|never|no longer|than|over|across|between|range|interval|within|e\.?g)\b|n't\b)"
)
_DOUBTFUL = re.compile(
    r"(?i:\b(?:if|when|unless|else|expects?|expected|assum\w+|like|either|should|usually|maybe|often|would|must)\b)"
)


# A step that is still to be done: the name has the shape after it.
_STEP = re.compile(
    r"(?i:\b(?:desired|convert|reshape|transform|transpose|change|expand|squeeze|unsqueeze|flatten|permute|wanted?|need|"
    r"ensure|make|turn|store|project|split|merge|to be|gather|repeat)\b)"
)

# Nothing but such a step.
_DONE = re.compile(
    r"(?i:(?:(?:re|un)?(?:shape|squeeze|arrange|order)d?|transposed?|permuted?|flatten(?:ed)?|expand(?:ed)?|swap(?:ped)?)"
    r"(?:\s+(?:it|them|back|again))*\s+(?:in)?to)"
)


@dataclass(slots=True)
class Prefix:
    """names: of what (none: of what the place says). structured: nothing but the form itself before the list.

    step: nothing but a step of layout that leads to the shape, ``reshape to``, ``squeezed back to``.
    """

    names: tuple[str, ...]
    context: Context
    structured: bool
    arrow: bool = False
    where: Where = "after"
    separator: str = ""
    step: bool = False


def read_prefix(text: str) -> Prefix | None:
    """What the words before a list say, or None where they forbid that it is a shape."""
    text = _BLANKS.sub(" ", text)
    if len(text) > _LONGEST:
        text = text[-_LONGEST:].partition(" ")[2]
        if not text.strip():
            return None
    stripped = text.strip().lstrip("-*•>^|=. \t") if not _ARROW.search(text) else text.strip()
    if _EMPTY.fullmatch(stripped):
        return Prefix((), Context.SHAPE if stripped[:1].isalpha() else Context.BARE, True)
    if _PRINTED.match(stripped):
        return Prefix((), Context.SHAPE, True)
    if re.search(r"\sx\s+\w+\s*=$", stripped):
        return None
    if _BARRED.search(stripped[-60:]) or stripped[-1:] in ("@", "*", "+", "/", ".", "%", "<"):
        return None
    arrow = _ARROW.search(stripped)
    if arrow:
        lead = stripped[: arrow.start()].strip(" .-:")
        return Prefix((), Context.BARE, not lead or len(lead.split()) == 1, arrow=True)
    prefix = _named(stripped)
    prefix.step = _DONE.fullmatch(stripped) is not None
    if _DOUBTFUL.search(stripped):
        prefix.structured = False
    if prefix.names and _STEP.search(stripped):
        prefix.names, prefix.structured = (), False
    if not prefix.names and _WAS.search(stripped):
        prefix.where = "before"
        prefix.structured = prefix.structured and len(stripped.split()) == 1
    return prefix


def _named(text: str) -> Prefix:
    padded = text + " "
    for pattern in (_SHAPE_OF, _DOT_SHAPE):
        if match := pattern.search(padded):
            return _prefix(padded, match, Context.SHAPE)
    if (match := _SHAPED.search(padded)) and _speaks_of_shape(match):
        return _prefix(padded, match, Context.SHAPE)
    if match := _EQUAL.search(padded):
        return _prefix(padded, match, Context.SHAPE if match["type"] else Context.NAMED)
    if match := _NEAR.search(padded):
        names = _names(match.group("names"))
        alone = bool(names) and match.start() == 0 and match.group("names") == text
        return Prefix(names, Context.NAMED if alone else Context.PROSE, alone)
    return Prefix((), Context.PROSE, False)


def _speaks_of_shape(match: re.Match[str]) -> bool:
    """``shape (..)`` always does; ``size`` and ``dim`` only with a link or a sign: ``of size (..)``."""
    if match.group("word").lower().startswith("shape"):
        return True
    if match.group("word").lower().endswith("s") and not match.group("link") and not match.group("names"):
        return False  # `dims = [64, 128]`
    owner = (match.group("names") or "").split()[-1:]
    if owner and owner[0].lower() in SIZE_OWNERS and not match.group("link"):
        return False
    return bool(match.group("link") or match.group("sep").strip())


def _prefix(text: str, match: re.Match[str], context: Context) -> Prefix:
    lead = text[: match.start()].rstrip()
    structured = not lead or lead[-1] in ",;.:(-|>"
    groups = match.groupdict()
    names = _names(groups.get("names") or "", named=context is Context.NAMED)
    if groups.get("names") and not names:
        structured = structured and context is Context.SHAPE
    return Prefix(names, context, structured, separator=(groups.get("sep") or "").strip())


def _names(text: str, *, named: bool = False) -> tuple[str, ...]:
    """The names of a list, words of the language left out: ``q, k, v``, ``self.weight``."""
    found = [n.strip().rstrip("'") for n in re.split(r",|/|&|\band\b", text)]
    found = [re.sub(r"\.(?:shape|size)?$", "", n) for n in found]
    return tuple(
        n for n in found if n and n.lower() not in NOT_NAMES and (n.lower() not in STOP or (named and len(n) == 1))
    )
