"""Everything that one file states of its shapes, each with what it is said of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shapedoc.source.contracts.annotated import is_one_tensor
from shapedoc.source.contracts.asserts import AssertedFact, read_assert
from shapedoc.source.contracts.binding import Binder
from shapedoc.source.contracts.comments import may_state, read_comment
from shapedoc.source.contracts.docstrings import Documented, read_docstring
from shapedoc.source.contracts.jaxtyping import read_annotation
from shapedoc.source.contracts.layout import Layout, target_names
from shapedoc.source.contracts.opposed import opposed
from shapedoc.source.contracts.own_lines import OwnLines
from shapedoc.source.contracts.pairs import set_to_pairs
from shapedoc.source.contracts.stated import Bound, StatedShape, Unreadable
from shapedoc.source.contracts.suffixes import read_suffix, suffixed_names
from shapedoc.source.ir import Assign, ClassDef, Comment, Expr, For, FunctionDef, Module, Span4, Stmt

__all__ = ["ModuleContracts"]

_FORWARD = frozenset(("forward", "__call__", "call"))
_Documents = dict[int, Documented]


class ModuleContracts:
    """The contracts of a module; cheap for one that states nothing, and docstrings are read when they are asked for.

    Statements and functions are looked up by identity: ask with the very nodes of the module that was given.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self._layout: Layout | None = None
        self._suffixed: frozenset[str] | None = None
        self._docs: _Documents = {}
        self._unreadable: list[Unreadable] = []
        self._annotated = False
        self._binder: Binder | None = None
        self._params: dict[int, tuple[FunctionDef, dict[str, list[StatedShape]]]] = {}
        self._returns: dict[int, tuple[FunctionDef, list[Bound]]] = {}
        self._read_comments(module.comments)

    # -- statements

    def after(self, stmt: Stmt) -> list[Bound]:
        """What is said of values as the statement leaves them.

        The name is that of a target (``x``, ``self.w``), or of a variable set inside a compound statement; "" is the
        value of a ``return``, of an expression, or of what is assigned to ``x[i]``.
        """
        binder = self._binder
        found = binder.after.get(id(stmt), _NOTHING) if binder is not None else _NOTHING
        if stmt.__class__ is Assign and stmt.annotation is not None:
            names = target_names(stmt)
            if names:
                return [*found, *read_annotation(stmt.annotation, names[0])[0]]
        return found

    def before(self, stmt: Stmt) -> list[Bound]:
        """The left side of an arrow: the shape of what the statement reshapes; "" where that has no name."""
        return self._binder.before.get(id(stmt), _NOTHING) if self._binder is not None else _NOTHING

    def operands(self, stmt: Stmt) -> tuple[StatedShape, StatedShape] | None:
        """The operands of the product in the statement: ``(B, n, m) x (B, m, p) -> (B, n, p)``."""
        return self._binder.operands.get(id(stmt)) if self._binder is not None else None

    def at(self, expression: Expr) -> list[StatedShape]:
        """What is said of an expression inside a statement of several lines, on the line where it ends."""
        return self._binder.at.get(expression.span, []) if self._binder is not None and self._binder.at else []

    def near(self, stmt: Stmt) -> list[StatedShape]:
        """Comments without a name directly above or below: of the value before or after this statement, or neither."""
        return self._binder.near.get(id(stmt), []) if self._binder is not None else []

    def rounds(self, loop: For) -> list[Bound]:
        """What is said of the target of a loop, in every round."""
        return self._binder.rounds.get(id(loop), _NOTHING) if self._binder is not None else _NOTHING

    def read_assert(self, test: Expr) -> list[AssertedFact]:
        """The facts of an ``assert``."""
        return read_assert(test)

    # -- functions

    def params(self, function: FunctionDef) -> dict[str, list[StatedShape]]:
        """What is said of parameters: annotations, comments, the docstrings of the function and of its class."""
        known = self._params.get(id(function))
        if known is None:
            known = self._params[id(function)] = function, self._read_params(function)
        return known[1]

    def _read_params(self, function: FunctionDef) -> dict[str, list[StatedShape]]:
        found: dict[str, list[StatedShape]] = {}
        for param in function.params:
            if param.annotation is not None:
                for bound in read_annotation(param.annotation, param.name)[0]:
                    if bound.index is None:
                        found.setdefault(param.name, []).append(bound.shape)
        if self._binder is not None:
            for name, shapes in self._binder.params.get(id(function), {}).items():
                found.setdefault(name, []).extend(shapes)
        names = [p.name for p in function.params if p.name not in ("self", "cls")]
        tensors = {p.name for p in function.params if p.annotation is not None and is_one_tensor(p.annotation)}
        for documented in self._documents(function):
            for name, shapes in documented.params(names).items():
                found.setdefault(name, []).extend(shapes)
            for name in tensors & documented.alone.keys():
                if not any(s.sure for s in found.get(name, ())):
                    found[name] = [documented.alone[name]]
        for name in names:
            suffix = self.suffix(name) if name[-1:].isupper() else None
            if suffix is not None and name not in found:
                found[name] = [replace(suffix, span=_param_span(function, name))]
        for name in opposed(found) | set_to_pairs(function, found) if found else ():
            del found[name]
        return found

    def returns(self, function: FunctionDef) -> list[Bound]:
        """What is said of the returned value, or of its components by their index."""
        known = self._returns.get(id(function))
        if known is None:
            known = self._returns[id(function)] = function, self._read_returns(function)
        return known[1]

    def _read_returns(self, function: FunctionDef) -> list[Bound]:
        found: list[Bound] = []
        if function.returns is not None:
            found.extend(read_annotation(function.returns)[0])
        if self._binder is not None:
            found.extend(self._binder.returns.get(id(function), _NOTHING))
        for documented in self._documents(function):
            if documented.returns:
                found.extend(documented.returns)
                break
        return found

    def suffix(self, name: str) -> StatedShape | None:
        """The shape that a variable's own name ends with (``q_BTD``), in a file that uses such names."""
        if not name[-1:].isupper() or "_" not in name:
            return None
        dims = read_suffix(name)
        if dims is None:
            return None
        if self._suffixed is None:
            layout = self._places()
            names = [n for slot in layout.slots for n in target_names(slot.stmt)]
            for slot in layout.functions:
                if isinstance(slot.stmt, FunctionDef):
                    names.extend(p.name for p in slot.stmt.params)
            self._suffixed = suffixed_names(names)
        if name not in self._suffixed:
            return None
        return StatedShape(name, dims, "suffix", (0, 0, 0, 0), name.rpartition("_")[2])

    @property
    def unreadable(self) -> list[Unreadable]:
        """Explicit lines and annotation strings that can only be shapes and do not parse, in source order."""
        if not self._annotated:
            self._annotated = True
            for slot in self._places().slots:
                stmt = slot.stmt
                if isinstance(stmt, FunctionDef):
                    annotations = [p.annotation for p in stmt.params] + [stmt.returns]
                elif isinstance(stmt, Assign):
                    annotations = [stmt.annotation]
                else:
                    continue
                for annotation in annotations:
                    if annotation is not None:
                        self._unreadable.extend(read_annotation(annotation)[1])
            self._unreadable.sort(key=lambda u: u.span)
        return self._unreadable

    # -- reading

    def _places(self) -> Layout:
        if self._layout is None:
            self._layout = Layout(self.module)
        return self._layout

    def _documents(self, function: FunctionDef) -> list[Documented]:
        """The docstring of a function and, for `forward`, that of its class."""
        found: list[Documented] = []
        if function.doc is not None:
            found.append(self._document(function))
        if function.name in _FORWARD:
            slot = self._places().of.get(id(function))
            if slot is not None and slot.owner is not None and slot.owner.doc is not None:
                found.append(self._document(slot.owner))
        return found

    def _document(self, scope: FunctionDef | ClassDef) -> Documented:
        read = self._docs.get(id(scope))
        if read is None:
            text, span = scope.doc if scope.doc is not None else ("", scope.span)
            read = read_docstring(text, span)
            self._docs[id(scope)] = read
        return read

    def _read_comments(self, comments: list[Comment]) -> None:
        candidates = [c for c in comments if may_state(c.text)]
        if not candidates:
            return
        read = [(c, read_comment(c.text, _locator(c), trailing=not c.own_line)) for c in candidates]
        symbolic = sum(len(s) for _, s in read if not isinstance(s, str))
        found = [(c, s) for c, s in read if s]
        empty = [c for c, s in read if not s and not c.own_line and c.text[-1:] in ")]"]
        numeric = [(c, read_comment(c.text, _locator(c), trailing=True, numbers=True)) for c in empty]
        numbers = {c.span[0] for c, s in numeric if s} if symbolic < 3 else set()
        found.extend((c, s) for c, s in numeric if s and not isinstance(s, str))
        if found:
            self._bind(found, comments, numbers)

    def _bind(
        self, found: list[tuple[Comment, list[StatedShape] | str]], comments: list[Comment], numbers: set[int]
    ) -> None:
        """Bind what was read; on the lines of `numbers` there is a list of numbers, in a file with hardly a shape."""
        binder = self._binder = Binder(self._places())
        lines = OwnLines(binder, {c.span[0] for c, shapes in found if not c.own_line and shapes})
        own_lines = {c.span[0] for c in comments if c.own_line}
        steps = {c.span[0]: shapes for c, shapes in found if c.own_line and not isinstance(shapes, str)}
        found.sort(key=lambda pair: pair[0].span)
        for comment, shapes in found:
            if isinstance(shapes, str):
                self._unreadable.append(Unreadable(comment.span, comment.text, shapes))
                continue
            if comment.span[0] in numbers:
                bound = binder.printed(comment, shapes)
            elif comment.own_line:
                shapes = [s for s in shapes if not _becomes(s, steps.get(comment.span[0] + 1, ()))]
                if not shapes:
                    continue  # the next line says what it becomes
                first = last = comment.span[0]
                while first - 1 in own_lines:
                    first -= 1
                while last + 1 in own_lines:
                    last += 1
                bound = lines.bind(comment, first, last, shapes)
            else:
                bound = binder.trailing(comment, shapes)
            if not bound and shapes[0].form == "explicit":
                reason = (
                    f"no value called `{shapes[0].name}` is assigned near it"
                    if shapes[0].name
                    else ("it stands beside no value; say of which it is, as in `x (B, T, d)`")
                )
                self._unreadable.append(Unreadable(comment.span, comment.text, reason))


_NOTHING: list[Bound] = []


def _locator(comment: Comment) -> Callable[[int, int], Span4]:
    """Where a stretch of a comment's text stands; the whole comment where its blanks leave that open."""
    line, column, end_line, end_column = comment.span
    blanks = end_column - column - 1 - len(comment.text)

    def locate(start: int, end: int) -> Span4:
        if blanks > 1:
            return comment.span
        first = column + 1 + blanks
        return line, first + start, end_line, first + end

    return locate


def _param_span(function: FunctionDef, name: str) -> Span4:
    return next(p.span for p in function.params if p.name == name)


def _becomes(shape: StatedShape, following: Sequence[StatedShape]) -> bool:
    """Whether the next comment states another number of axes of the same name: it says what comes of it."""
    if shape.name is None or shape.form == "explicit":
        return False
    return any(s.name == shape.name and len(s.dims) != len(shape.dims) for s in following)
