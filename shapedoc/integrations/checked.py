"""One checked function: what is verified on a new signature, and what is remembered of it."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any

from shapedoc.core.finding import Finding
from shapedoc.integrations.signature import Plan, build, part
from shapedoc.integrations.told import ShapeError, text_of_finding, warn_of
from shapedoc.runtime.active import is_recording
from shapedoc.runtime.blame import agree, blame
from shapedoc.runtime.contracts import Contract, Term, annotations_of, read_function
from shapedoc.runtime.mismatch import of_arguments, of_result
from shapedoc.source.contracts import DimExpr, Named

if TYPE_CHECKING:
    from shapedoc.runtime.recording import Recording

__all__ = ["Checked", "Options"]

_MOST_SIGNATURES = 4096
# New signatures of one function that are recorded; after that every 2^k-th.
_RECORDED = 4
_results = threading.local()
_NOTHING = object()
_told: set[tuple[str, str, int, int]] = set()


class Options:
    """How a function is checked. on_finding: "warn" or "raise" (errors only). record: watch the first calls."""

    def __init__(self, on_finding: str = "warn", record: bool = True) -> None:
        if on_finding not in ("warn", "raise"):
            raise ValueError(f'`on_finding` is "warn" or "raise", not {on_finding!r}')
        self.on_finding = on_finding
        self.record = record


class Checked:
    """The state behind one decorated function."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        self.function = function
        self.options = options
        self.seen: dict[tuple[object, ...], list[Any]] = {}
        self.signature = inspect.signature(function)
        self._contract: Contract | None = None
        self._typed: Callable[..., Any] | None = None
        # Sizes by name in every good call so far, and how many signatures there were.
        self.history: dict[str, int] = {}
        self.signatures = 0
        self.good = 0
        self.has_steps = False
        self.wrapper = self._wrap()

    # -- the wrapper

    def _wrap(self) -> FunctionType:
        torch = sys.modules.get("torch")
        self.names: dict[str, Any] = {
            "_function": self.function,
            "_seen": self.seen,
            "_slow": self.slow,
            "_result": self.result,
            "_call": _call,
            "_part": part,
            "_compiling": torch.compiler.is_compiling if torch is not None else _never,
            "_autocast": torch.is_autocast_enabled if torch is not None else _never,
        }
        return self._build(frozenset(), 0, ready=False)

    def _build(self, tensors: frozenset[str], results: int, *, ready: bool) -> FunctionType:
        scope: dict[str, Any] = getattr(self.function, "__globals__", {})
        return build(Plan(self.function, tensors, results), self.names, scope, ready=ready)

    def _specialise(self, args: Mapping[str, Any], out: Any) -> None:
        """Write the wrapper for what the first call has shown: which parameters are tensors, and what is returned."""
        tensors = frozenset(n for n, v in args.items() if _is_tensor(v))
        results = 0
        if self.contract.returns:
            results = len(out) if type(out) is tuple and all(_is_tensor(o) for o in out) else int(_is_tensor(out))
        self.wrapper.__code__ = self._build(tensors, results, ready=True).__code__

    @property
    def contract(self) -> Contract:
        if self._contract is None:
            self._contract = read_function(self.function)
        return self._contract

    @property
    def typed(self) -> Callable[..., Any]:
        """The function as jaxtyping and beartype check it, where its annotations are theirs."""
        if self._typed is None:
            self._typed = self.function
            if any(_is_jaxtyping(a) for a in annotations_of(self.function).values()):
                from beartype import beartype
                from jaxtyping import jaxtyped

                self._typed = jaxtyped(_kept(self.function), typechecker=beartype)
        return self._typed

    # -- a signature that has not been verified

    def slow(self, key: tuple[object, ...] | None, call: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        """Verify, record and run one call, then remember its signature."""
        __tracebackhide__ = True
        args, kwargs = call
        caller = sys._getframe(2)
        try:
            bound = self.signature.bind(*args, **kwargs).arguments
        except TypeError:
            return self.function(*args, **kwargs)
        shapes = {n: s for n, v in bound.items() if (s := _shape(v)) is not None}
        if any(type(size) is not int and not isinstance(size, int) for s in shapes.values() for size in s):
            return self.function(*args, **kwargs)  # Symbolic sizes: an export is under way.
        sizes = self._verify(bound, shapes, caller)
        entry = self.seen.get(key) if key is not None else None
        _results.last = _NOTHING
        try:
            out = self._run(args, kwargs, record=self._records(entry))
        except TypeError as problem:
            if type(problem).__module__.startswith("jaxtyping") and _results.last is not _NOTHING:
                self._verify_result(_results.last, sizes, problem)
            raise
        self._verify_result(out, sizes)
        if sizes is not None:
            self._remember(sizes)
        if key is None:
            self._specialise(bound, out)
        elif entry is None:
            if len(self.seen) >= _MOST_SIGNATURES:
                for old in list(self.seen)[: _MOST_SIGNATURES // 2]:
                    del self.seen[old]
            self.seen[key] = [1, 2 if self.has_steps else 0, _shapes_of(out)]
        else:
            entry[1] *= 2
        return out

    def result(self, out: Any, call: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        """A verified signature has given a result of other shapes than before: verify those."""
        args, kwargs = call
        bound = self.signature.bind(*args, **kwargs).arguments
        shapes = {n: s for n, v in bound.items() if (s := _shape(v)) is not None}
        specs = {n: t.dims for n, t in self.contract.params.items()}
        self._verify_result(out, agree(specs, shapes, {}))
        return out

    def _records(self, entry: list[Any] | None) -> bool:
        if not self.options.record or is_recording():
            return False
        if entry is not None:
            return True
        self.signatures += 1
        return self.signatures <= _RECORDED or self.signatures & (self.signatures - 1) == 0

    def _verify(
        self, bound: Mapping[str, Any], shapes: dict[str, tuple[int, ...]], caller: FrameType
    ) -> dict[str, int] | None:
        contract = self.contract
        specs = {n: t.dims for n, t in contract.params.items() if n in shapes}
        if not specs:
            return {}
        owned = _owned(bound, specs)
        history = {n: v for n, v in self.history.items() if n not in _shared(specs)} if self.good >= 2 else {}
        verdict = blame(specs, shapes, owned, history)
        if verdict is None:
            return agree(specs, shapes, {})
        finding = of_arguments(contract, shapes, verdict, {**history, **owned}, caller)
        if finding.severity == "error":
            raise ShapeError([finding])
        _tell([finding], self.options)
        return None

    def _verify_result(self, out: Any, sizes: dict[str, int] | None, cause: BaseException | None = None) -> None:
        if sizes is None:
            return
        for term in self.contract.returns:
            shape = _shape(_component(out, term))
            if shape is not None and agree({"": term.dims}, {"": shape}, sizes) is None:
                finding = of_result(self.contract, term, shape, sizes)
                if finding.severity == "error":
                    raise ShapeError([finding]) from cause
                _tell([finding], self.options)

    def _remember(self, sizes: dict[str, int]) -> None:
        self.good += 1
        if self.good == 1:
            self.history = dict(sizes)
        else:
            self.history = {n: v for n, v in self.history.items() if sizes.get(n, v) == v}

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, record: bool) -> Any:
        __tracebackhide__ = True
        from shapedoc.runtime.explain import explain
        from shapedoc.runtime.recording import record as recorded

        path = getattr(getattr(self.function, "__code__", None), "co_filename", "")
        if not record or not path:
            try:
                return self.typed(*args, **kwargs)
            except Exception as problem:
                _note(problem, explain(problem, None, lambda p: p == path))
                raise
        recording: Recording | None = None
        try:
            with recorded(lambda p: p == path) as recording:
                return self.typed(*args, **kwargs)
        except Exception as problem:
            if recording is not None and not isinstance(problem, ShapeError):
                _note(problem, _best(recording))
            raise
        finally:
            if recording is not None and recording.error is None:
                self.has_steps = self.has_steps or any(e.loops for e in recording.trace.events)
                _tell(recording.findings(), self.options)


def _best(recording: Recording) -> Finding | None:
    """What explains an exception best: a rule's finding on the line that raised, else the place and its shapes."""
    raised = recording.explanation()
    if raised is None:
        return None
    for finding in recording.findings():
        spans = [finding.span, *(label.span for label in finding.labels)]
        if finding.severity == "error" and any(s.line <= raised.span.line <= s.end_line for s in spans):
            return finding
    return raised


def _note(problem: BaseException, finding: Finding | None) -> None:
    """Put an explanation under an exception; it stays what it is."""
    if finding is not None and not any("[SD" in n for n in getattr(problem, "__notes__", ())):
        problem.add_note("\n" + text_of_finding(finding))


def _tell(findings: list[Finding], options: Options) -> None:
    errors = [f for f in findings if f.severity == "error"]
    if errors and options.on_finding == "raise":
        raise ShapeError(errors)
    for finding in findings:
        key = (finding.code, finding.path, finding.span.line, finding.span.column)
        if finding.severity != "note" and key not in _told:
            _told.add(key)
            warn_of(finding)


def _owned(bound: Mapping[str, Any], specs: Mapping[str, tuple[DimExpr, ...]]) -> dict[str, int]:
    """The sizes that the object of a method keeps under the names that are stated."""
    owner = bound.get("self")
    held = getattr(owner, "__dict__", {})
    stated = {d.key for dims in specs.values() for d in dims if isinstance(d, Named)}
    return {n: held[n] for n in stated if type(held.get(n)) is int and held[n] > 1}


def _shared(specs: Mapping[str, tuple[DimExpr, ...]]) -> set[str]:
    """Names that lead two arguments of different layouts: a batch, which the next call may change in both or in one."""
    leading: dict[str, set[tuple[DimExpr, ...]]] = {}
    for dims in specs.values():
        if dims and isinstance(dims[0], Named):
            leading.setdefault(dims[0].key, set()).add(dims)
    return {name for name, layouts in leading.items() if len(layouts) > 1}


def _component(out: Any, term: Term) -> Any:
    if term.index is None:
        return out
    return out[term.index] if isinstance(out, tuple | list) and term.index < len(out) else None


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _shape(value: Any) -> tuple[int, ...] | None:
    shape = getattr(value, "shape", None)
    return tuple(shape) if isinstance(shape, tuple) else None


def _shapes_of(out: Any) -> Any:
    if type(out) is tuple and all(_is_tensor(o) for o in out):
        shapes = tuple(o.shape for o in out)
        return shapes[0] if len(shapes) == 1 else shapes
    return getattr(out, "shape", None)


def _is_jaxtyping(annotation: object) -> bool:
    return "jaxtyping" in repr(annotation) or hasattr(annotation, "dim_str")


def _kept(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; what it returns is kept, so that a result which a checker refuses can be told of."""

    @functools.wraps(function)
    def kept(*args: Any, **kwargs: Any) -> Any:
        out = function(*args, **kwargs)
        _results.last = out
        return out

    return kept


def _call(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


def _never() -> bool:
    return False
