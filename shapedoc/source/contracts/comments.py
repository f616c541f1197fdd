"""Comments that state shapes.

``# (B, T, C)``, ``# q: [B, T]``, ``# x = [batch size, src len]``, ``# |x| = (..)``, ``# x.shape = (..)``,
``# shape: (..)``, ``# B x T x D``, ``# (B, T) -> (T, B)``, ``# (B, n, m) x (B, m, p) -> (B, n, p)``, ``# B,T,C`` at
the end of a line, and
``# shapedoc: x (B, T, d)``, which is read whatever its words are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise

from shapedoc.source.contracts.atoms import Atom, find_atoms
from shapedoc.source.contracts.dimension import parse_dim, plain, split_commas
from shapedoc.source.contracts.judge import Context, acceptable, tally
from shapedoc.source.contracts.lexicon import ALIASES, AXES, BATCH, CONTAINERS, NOT_TENSORS, PAIRS
from shapedoc.source.contracts.prefix import Prefix, read_prefix
from shapedoc.source.contracts.stated import Anonymous, DimExpr, Form, Named, Number, Product, StatedShape, Where
from shapedoc.source.ir import Span4

__all__ = ["Locate", "may_state", "read_comment", "read_prose"]

# What any of the forms needs: a bracket with a comma or an x or one word in it, an ` x `, `BxT`, or a comma list.
_MAY = re.compile(r"[\[(][^\])]*[,\u00d7*]|\[\w+\]|\s[xX]\s|\u00d7|[A-Z0-9]x[A-Z0-9]|^\s*[\w*/()+-]+\s*,\s*[\w*/()+-]+")
_CODE = re.compile(
    r"(?:def|class|import|elif|except|raise|del|assert|print|lambda|global|nonlocal)\b(?!\s+(?:is|of|the)\b)"
    r"|(?:if|for|while|with|else|try|elif)\b.*:\s*(?:#.*)?$"
    r"|return\s+[\w.]+\s*[,(\[.]"
    r"|return\s*[\[(]?\s*[\w.]+\("
    r"|@\w"
    r"|[\w.,\s\[\]():'\"-]+?\s*[-+*/@|&]?=\s*(?!.*\bshape\b\s*[=:])[\w.]*\w\(.*\)"
    r"|(?!\w*Tensor|(?:torch\.)?Size)[\w.]*\w\([^()]*(?:\([^()]*\)[^()]*)*\)(?:\.\w+.*|\s*|\s*#.*)$"
    r"|from\s+[\w.]+\s+import\b"
    r"|>>>|\.\.\.\s"
)
_OF_SIZES = re.compile(r"(?i:(?:size|sizes|dims?|depths?|widths?|heights?|ratios?|shapes?|channels)$)")
_SIZE_CALL = re.compile(r"[\w.]+\.size\(\)")
_BARS = re.compile(r"\|([A-Za-z_][\w.]*)\|(?=\s*=\s*[(\[])")
_LATEX = re.compile(r"\$[^$]*\$")
_MARKS = re.compile(r"[#\s!\-*>^|•·~]*(?=[^\s>])")
_ARROW = re.compile(r"\s*(?:(?:-+[\w ,]*-*>|=+>|→|⇒|⟶)\s*(?:to|into)?|,?\s*(?:to|into))\s*$")
_TIMES = re.compile(r"\s*(?:[xX\u00d7@*\u00b7]|bmm|matmul|dot|\.)\s*$")
_EQUALS = re.compile(r"\s*==?\s*$")
_OR = re.compile(r"\s*(?:,?\s*or(?:\s+\w*Tensor)?|\||/)\s*$")
_BOTH = re.compile(r"[\s\])}]*(?:,|&|\+|and)[\s\[({]*")
_GOES_ON = re.compile(r"\s*(?:-+>|=+>|→|⇒|⟶)")
_OR_END = re.compile(r"(?:\bor(?:\s+\w*Tensor)?|/)\s*$")
_LIST = re.compile(r"\s*(?:[,;&.]|\band\b|\s)*")
_SPREADS = re.compile(r"[\s,]*(?:(?:is|are|gets?)\s+)?broadcast(?:s|ed|ing)?\s+(?:over|with|against|along|across)\b")
_IF = re.compile(r"[\s,]*(?:if|when|unless|for|else|in case)\b")
_EXPLICIT = re.compile(r"shapedoc:\s*")
_DIRECTIVE = re.compile(r"(?:ignore|skip|off|on|disable|enable|noqa)\b")
_EXPLICIT_NAME = re.compile(r"[A-Za-z_][\w.]*(?:\s*,\s*[A-Za-z_][\w.]*)*(?=\s*[:=]?\s*(?:[\[(]|\w+\s+x\s))")

Locate = Callable[[int, int], Span4]


def may_state(text: str) -> bool:
    """Whether it is worth reading a comment: false for nearly all."""
    return _MAY.search(plain(text)) is not None or text.startswith("shapedoc:")


@dataclass(slots=True)
class _Group:
    """Lists joined by arrows, products and alternatives, and the words before them."""

    prefix: Prefix
    atoms: list[Atom]
    links: list[str] = field(default_factory=list)
    doubtful: bool = False


def read_comment(text: str, locate: Locate, *, trailing: bool, numbers: bool = False) -> list[StatedShape] | str:
    """The shapes that a comment states, or what is wrong with an explicit one.

    text: without the hash. locate: the span of a stretch of it. trailing: code stands before it. numbers: read
    ``[64, 1, 512]`` without a name, since the file states shapes elsewhere.
    """
    explicit = _EXPLICIT.match(text)
    if explicit:
        return _explicit(text, explicit.end(), locate)
    if "|" in text:
        text = _BARS.sub(r" \1 ", text)
    clean = _clean(text)
    if clean is None:
        return []
    atoms = find_atoms(clean)
    if not atoms:
        return _bare_list(clean, locate) if trailing else []
    return _read(clean, atoms, locate, numbers=numbers, trailing=trailing)


def read_prose(text: str, locate: Locate) -> list[StatedShape]:
    """The shapes in a line of a docstring, from the same forms; nothing is taken for commented-out code."""
    if not _MAY.search(plain(text)) or "\\" in text or "$" in text:
        return []
    clean = _plain(text)
    atoms = find_atoms(clean)
    if not atoms:
        return []
    found = [(g, _states(g, clean, locate, numbers=False)) for g in _groups(clean, atoms)]
    stating = [(g, shapes) for g, shapes in found if shapes]
    certain = len(stating) == 1 and stating[0][0].prefix.context is Context.SHAPE and not stating[0][0].doubtful
    return [replace(s, form="docstring", sure=s.sure or certain) for _, shapes in stating for s in shapes]


def _read(clean: str, atoms: list[Atom], locate: Locate, *, numbers: bool, trailing: bool) -> list[StatedShape]:
    shapes: list[StatedShape] = []
    for group in _groups(clean, atoms):
        if trailing and group.prefix.step:
            group.prefix = Prefix((), Context.NAMED, True)  # code stands before it: the step is done there
        shapes.extend(_states(group, clean, locate, numbers=numbers))
    return shapes


def _clean(text: str) -> str | None:
    """The text with formulas and marks blanked, or None for commented-out code."""
    if text.startswith((">>>", "...")):
        return None
    marks = _MARKS.match(text)
    start = marks.end() if marks else 0
    if start and text[start - 1] in "->" and re.match(r"[-=]+>", text[start - 2 : start + 1] or ""):
        start = max(0, start - 2)
    body = text[start:]
    if _CODE.match(_SIZE_CALL.sub("x.shape", body)):
        return None
    if "$" in body:
        body = _LATEX.sub(lambda m: "~" * len(m.group()), body)
    if "$" in body or "\\" in body or "http" in body:
        return None
    return " " * start + _plain(body)


def _plain(text: str) -> str:
    """The text without marks of emphasis, every character in its place."""
    return plain(text).replace("`", " ").replace("**", "  ").replace("no. of", "num of")


def _groups(text: str, atoms: list[Atom]) -> list[_Group]:
    groups: list[_Group] = []
    end = 0
    for atom in atoms:
        glue = text[end : atom.start]
        link = _link(glue) if groups else None
        if link is not None and (link != "=" or "x" in groups[-1].links):
            groups[-1].atoms.append(atom)
            groups[-1].links.append(link)
        else:
            if groups:
                glue = glue[match.end() :] if (match := _LIST.match(glue)) else glue
            prefix = read_prefix(glue)
            if prefix is not None and end and glue.strip() in ("-", ">", "^"):
                prefix = None
            if prefix is not None:
                if atom.typed:
                    prefix = _typed(glue, prefix)
                groups.append(_Group(prefix, [atom]))
        end = atom.end
        if groups and _IF.match(text, end):
            groups[-1].doubtful = True
    # What is spread over something else is one of two operands, whatever the line makes of them.
    groups = [g for g in groups if not _SPREADS.match(text, g.atoms[-1].end)]
    for one, other in pairwise(groups):
        if _BOTH.fullmatch(text, one.atoms[-1].end, other.atoms[0].start):
            become = [g for g in groups if (g is other and "->" in g.links) or g.prefix.arrow]
            for group in (one, other, *become) if become else ():
                group.doubtful = True  # what becomes of two of them is said of neither
    for group in groups:
        if _GOES_ON.match(text, group.atoms[-1].end):
            group.doubtful = True  # what it becomes could not be read
        elif len(group.prefix.names) > 1 and re.match(r"\s*,\s*$", text[group.atoms[-1].end :]):
            group.doubtful = True  # the list of shapes goes on in the next line
    return groups


def _typed(glue: str, prefix: Prefix) -> Prefix:
    """``x: FloatTensor(b, t)``: the type says that it is a shape, the name stands before it."""
    before = read_prefix(re.sub(r"[\w.]+\s*$", "", glue)) or prefix
    return replace(before, context=Context.SHAPE)


def _link(glue: str) -> str | None:
    if _ARROW.match(glue):
        return "->"
    if _TIMES.match(glue) and glue.strip() not in ("", "."):
        return "x"
    if _EQUALS.match(glue):
        return "="
    if _OR.match(glue) or _OR_END.search(glue):
        return "or"
    return None


def _states(group: _Group, text: str, locate: Locate, *, numbers: bool) -> list[StatedShape]:
    """What a group of lists says, nothing where one of them is no shape."""
    prefix = group.prefix
    joined = "->" in group.links or "x" in group.links
    context = prefix.context
    if joined and context in (Context.BARE, Context.PROSE):
        context = Context.NAMED
    for atom in group.atoms:
        if not _good(atom, context, prefix, joined=joined, numbers=numbers):
            return []
    sure = prefix.structured and not group.doubtful and prefix.context is not Context.PROSE
    first = group.atoms[0]
    if len(group.atoms) == 1 and not joined:
        if first.parts:
            return [
                _stated(None if not prefix.names else prefix.names[0], first, dims, text, locate, "after", sure, i)
                for i, dims in enumerate(first.parts)
            ]
        sure = sure and not _only_numbers(first, prefix)
        if len(first.dims) == 1 and isinstance(first.dims[0], Product) and len(first.dims[0].factors) > 2:
            sure = False  # `[B*T*d]` is also written for three axes
        names: tuple[str | None, ...] = prefix.names or (None,)
        return [_stated(n, first, first.dims, text, locate, prefix.where, sure) for n in names]
    if any(a.parts for a in group.atoms):
        return []
    return _joined(group, text, locate, sure=sure)


def _joined(group: _Group, text: str, locate: Locate, *, sure: bool) -> list[StatedShape]:
    """Arrows, products and alternatives."""
    atoms, links = group.atoms, group.links
    name = group.prefix.names[0] if len(group.prefix.names) == 1 else None
    if all(link == "or" for link in links):
        shape = _stated(name, atoms[0], atoms[0].dims, text, locate, group.prefix.where, sure)
        return [replace(shape, alternatives=tuple(a.dims for a in atoms[1:]))]
    out: list[StatedShape] = []
    if links[0] == "x":
        out.append(_stated(None, atoms[0], atoms[0].dims, text, locate, "left", sure))
        out.append(_stated(None, atoms[1], atoms[1].dims, text, locate, "right", sure))
        if len(links) == 1 or links[1] not in ("->", "="):
            return out if len(links) == 1 else []
        out.append(_stated(None, atoms[-1], atoms[-1].dims, text, locate, "after", sure))
        return out
    if any(link != "->" for link in links):
        return []
    out.append(_stated(name, atoms[0], atoms[0].dims, text, locate, "before", sure))
    sure = sure and atoms[0].bracketed == atoms[-1].bracketed  # `(B, T) -> B x T` ends in a number of elements
    out.append(_stated(name, atoms[-1], atoms[-1].dims, text, locate, "after", sure))
    return out


def _good(atom: Atom, context: Context, prefix: Prefix, *, joined: bool, numbers: bool) -> bool:
    """Whether a list may be a shape where it stands."""
    if any(n.rpartition(".")[2].lower() in CONTAINERS for n in prefix.names):
        return False
    if atom.parts:
        return all(acceptable(p, Context.NAMED) or tally(p).numeric for p in atom.parts)
    dims = atom.dims
    count = tally(dims)
    if count.numeric and count.number:
        return _numbers(dims, context, prefix, joined=joined, numbers=numbers, round_=atom.round_)
    if count.rank == 1:
        if atom.chain or count.never:
            return False
        named = context is Context.SHAPE or (context is Context.NAMED and (bool(prefix.names) or joined))
        if isinstance(dims[0], Anonymous):
            return False
        return (named or _trailing_comma(atom, context)) and count.sized + (count.neutral if named else 0) == 1
    if atom.chain and not atom.bracketed:
        return _chain(dims, context, prefix)
    return acceptable(dims, context, colon=prefix.structured and prefix.separator == ":")


def _trailing_comma(atom: Atom, context: Context) -> bool:
    # `(batch_size,)`: nobody writes that comma but for a tuple.
    return context is Context.BARE and atom.comma and isinstance(atom.dims[0], Named)


def _chain(dims: tuple[DimExpr, ...], context: Context, prefix: Prefix) -> bool:
    """``B x T x D`` without brackets: stricter, since x is also a name and a times sign."""
    count = tally(dims)
    if count.weak or count.never or count.role > count.strong:
        return False
    letters = {str(d) for d in dims}
    if len(dims) == 2 and len(letters) > 1 and letters <= {"Q", "K", "V", "W", "X", "Y", "A", "U", "P", "M", "B"}:
        return False  # a product of matrices
    if all(len(n) == 1 and n.isupper() and n not in AXES for n in letters):
        return False
    if len(dims) == 2:
        begins = str(dims[0]) in BATCH and context is not Context.PROSE
        whole = count.letter == 2 or (count.letter == 1 and count.number == 1) or count.strong > 0
        whole = whole or all(n.isupper() for n in letters)
        return whole or (begins and count.letter == 0 and count.role == 0)
    if context is Context.PROSE and ((len(dims) < 3 and count.strong == 0) or count.neutral > 1):
        return False
    return (
        count.sized >= 1
        or (count.neutral == len(dims) and len(dims) >= 3)
        or (count.neutral + count.number == len(dims) and str(dims[0]) in BATCH and context is not Context.PROSE)
    )


def _numbers(
    dims: tuple[DimExpr, ...], context: Context, prefix: Prefix, *, joined: bool, numbers: bool, round_: bool
) -> bool:
    """Whether a list of numbers is a shape: only with the name of a tensor, the word shape, or others about.

    round_: in round brackets; in square ones it is as often a list of values.
    """
    values = [d.value for d in dims if isinstance(d, Number)]
    if len(dims) < 2 or len(dims) > 6 or min(values) < 1 or max(values) > 300_000:
        return False
    if any(n.rpartition(".")[2].lower() in NOT_TENSORS or _OF_SIZES.search(n) for n in prefix.names):
        return False
    if context is Context.SHAPE or (context is Context.NAMED and prefix.names and prefix.structured):
        return True
    return ((numbers and round_) or (joined and prefix.structured)) and context in (Context.BARE, Context.NAMED)


def _only_numbers(atom: Atom, prefix: Prefix) -> bool:
    """Numbers that no word calls a shape: ``# x = [2, 3]`` may be the value."""
    return tally(atom.dims).numeric and (prefix.context is not Context.SHAPE and prefix.separator != ":")


def _stated(
    name: str | None,
    atom: Atom,
    dims: tuple[DimExpr, ...],
    text: str,
    locate: Locate,
    where: Where,
    sure: bool,
    part: int | None = None,
    form: Form = "comment",
) -> StatedShape:
    start, end = atom.start, atom.end
    of = len(atom.parts) or 1
    return StatedShape(name, dims, form, locate(start, end), text[start:end], where, sure, part, of)


def _bare_list(text: str, locate: Locate) -> list[StatedShape]:
    """``B,T,D`` as the whole of a comment at the end of a line, every size a usual name or a number."""
    stripped = text.strip()
    if "," not in stripped or len(stripped) > 60 or ":" in stripped or "=" in stripped:
        return []
    dims: list[DimExpr] = []
    for part in split_commas(stripped):
        dim = parse_dim(part)
        if dim is None or any(not _alias(w) for w in re.findall(r"[A-Za-z_]\w*", part)) or " " in part.strip(" "):
            return []
        dims.append(dim)
    names = {str(d) for d in dims}
    count = tally(tuple(dims))
    if count.numeric or count.rank < 2 or any(names <= pair for pair in PAIRS) or names <= {"Q", "K", "V", "X", "Y"}:
        return []
    first = str(dims[0])
    begins = first in BATCH or first[:1].isupper() or first[:1].isdigit() or count.strong > 0
    if not begins and (len(dims) < 3 or not isinstance(dims[0], Named | Number)):
        return []
    start = text.index(stripped[0])
    atom = Atom(start, start + len(stripped), tuple(dims))
    return [_stated(None, atom, atom.dims, text, locate, "after", len(dims) > 2)]


def _alias(word: str) -> bool:
    return word.lower() in ALIASES or (word[0].isupper() and len(word) <= 2)


def _explicit(text: str, at: int, locate: Locate) -> list[StatedShape] | str:
    """``shapedoc: x (B, T, d)``, ``shapedoc: (B, T) -> (T, B)``, ``shapedoc: q, k (B, T, d)``."""
    body = text[at:]
    if _DIRECTIVE.match(body):
        return []
    out: list[StatedShape] = []
    atoms = find_atoms(" " * at + body)
    if not atoms:
        return "no list of sizes in brackets is in it, as in `x (B, T, d)`"
    end = at
    for i, atom in enumerate(atoms):
        glue = text[end : atom.start].strip().lstrip(",;").strip()
        arrow = _ARROW.match(text[end : atom.start]) is not None and i > 0
        names = _EXPLICIT_NAME.match(text, text.index(glue, end)) if glue and not arrow else None
        if glue and not arrow and (names is None or re.sub(r"[\s:=]+$", "", glue) != names.group()):
            return f"`{glue}` is no name of a value"
        if atom.parts or not atom.dims:
            return f"`{text[atom.start : atom.end]}` is no list of sizes"
        if arrow:
            out[-1] = replace(out[-1], where="before")
        owners: list[str | None] = [n.strip() for n in names.group().split(",")] if names else [None]
        if arrow:
            owners = [out[-1].name]
        out.extend(_stated(o, atom, atom.dims, text, locate, "after", True, None, "explicit") for o in owners)
        end = atom.end
    if text[end:].strip(" .;"):
        return f"`{text[end:].strip()}` is no part of a shape"
    return out
