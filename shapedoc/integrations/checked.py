"""One checked function: what is verified on a new signature, and what is remembered of it."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import weakref
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from types import FrameType, FunctionType
from typing import Any

from shapedoc.integrations.guards import Form, forms_of, held
from shapedoc.integrations.kept import NOTHING, RESULTS, kept
from shapedoc.integrations.looks import component, is_general, is_tensor, sizes_of
from shapedoc.integrations.reading import foresee, is_numpy_call, read_ahead, read_call
from shapedoc.integrations.signature import Plan, build, mentions, part, told_by_identity
from shapedoc.integrations.surmised import fits, surmise
from shapedoc.integrations.told import ShapeError, hide_own_frames
from shapedoc.integrations.watched import Options, Watch, tell
from shapedoc.runtime.blame import agree, blame
from shapedoc.runtime.contracts import Contract, Term, annotations_of, read_function, something
from shapedoc.runtime.mismatch import of_arguments, of_result
from shapedoc.runtime.patterns import pattern_of, shape_of
from shapedoc.source.contracts import DimExpr, Named

__all__ = ["Checked"]

_MOST_SIGNATURES = 4096
# The call of a signature that is compared again with what reading said, where its results are not; then every 2^k-th.
_COMPARED_AGAIN = 16


class Checked:
    """The state behind one decorated function."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        self.function = function
        self.options = options
        # By signature: the count of calls, the next count that goes the slow way (0 for none; calls are counted where
        # there is one), the shapes of the results, and what a call is compared with to see that it is alike.
        self.seen: dict[tuple[object, ...], list[Any]] = {}
        # The entry of the last call, its shapes, and what its arguments are compared with.
        self.last: list[Any] = []
        # Parameters that were tensors in every call; None before the first.
        self.tensors: frozenset[str] | None = None
        self.plan: Plan | None = None
        # Whether reading has followed all that the function can do, so that its results follow from its arguments.
        self.follows = False
        # What the arguments of a function that states nothing are taken for, to read it before it is called.
        self.surmised: dict[str, Term] = {}
        # Objects that signatures tell by their identity.
        self.alive: dict[int, weakref.ref[Any]] = {}
        self.signature = inspect.signature(function)
        self._contract: Contract | None = None
        self._typed: Callable[..., Any] | None = None
        # Sizes by name that were the same in every good call so far.
        self.history: dict[str, int] = {}
        self.good = 0
        self.watch = Watch(getattr(getattr(function, "__code__", None), "co_filename", ""), options)
        self.wrapper = self._wrap()

    # -- the wrapper

    def _wrap(self) -> FunctionType:
        torch = sys.modules.get("torch")
        self._autocast: Callable[[], bool] = torch._C._is_any_autocast_enabled if torch is not None else _never
        self._compiling: Callable[[], bool] = torch.compiler.is_compiling if torch is not None else _never
        self.names: dict[str, Any] = {
            "_function": self.function,
            "_seen": self.seen,
            "_slow": self.slow,
            "_result": self.result,
            "_call": _call,
            "_part": part,
            "_compiling": torch.compiler.is_dynamo_compiling if torch is not None else _never,
            "_autocast": self._autocast,
            "_last": self.last,
            "_id": id,
            "_type": type,
        }
        return self._build(Plan(self.signature), ready=False)

    def _build(self, plan: Plan, *, ready: bool) -> FunctionType:
        scope: dict[str, Any] = getattr(self.function, "__globals__", {})
        return build(plan, self.names, scope, ready=ready)

    def _specialise(self, args: Mapping[str, Any], out: Any) -> None:
        """Write the wrapper for what calls have shown: which parameters are tensors, always, and what is returned."""
        tensors = frozenset(n for n, v in args.items() if is_tensor(v))
        if self.tensors is not None:
            tensors &= self.tensors
        self.tensors = tensors
        results = 0
        if self.contract.returns and not self.follows:
            results = len(out) if type(out) is tuple and all(is_tensor(o) for o in out) else int(is_tensor(out))
        plan = self._plan(args, tensors, results)
        if plan != self.plan:
            self.plan = plan
            self.seen.clear()
            self.last.clear()
            self.wrapper.__code__ = self._build(plan, ready=True).__code__

    def _plan(self, args: Mapping[str, Any], tensors: frozenset[str], results: int) -> Plan:
        rest = frozenset(p.name for p in self.signature.parameters.values() if p.kind.name.startswith("VAR"))
        values = self._values(args)
        joined = len({id(values[n]) for n in tensors}) == len(tensors)
        return Plan(self.signature, tensors, results, forms_of(values, tensors, rest), joined=joined)

    def _values(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call in the order of the parameters, those that it leaves to their defaults too."""
        return {
            n: args.get(n, p.default if p.default is not p.empty else ()) for n, p in self.signature.parameters.items()
        }

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

                self._typed = jaxtyped(kept(self.function), typechecker=beartype)
        return self._typed

    def prepare(self) -> None:
        """Do what does not depend on a call: compile, read the file, import."""
        function = self.function
        if not self.options.record or not self.watch.path or not isinstance(function, FunctionType):
            return
        if sys.modules.get("torch") is None:
            return  # There will be nothing to follow.
        try:
            given = {n: p for i, (n, p) in enumerate(self.signature.parameters.items()) if i or n != "self"}
            stated = inspect.get_annotations(function, eval_str=True)
            typed = {n for n in given if hasattr(something(stated.get(n)), "dim_str")}
            optional = [n for n in given if n in typed and not hasattr(stated[n], "dim_str")]
            terms = self.contract.params
            _ = self.typed
            if given and typed == set(given) and len(optional) < 2 and all(given[n].default is None for n in optional):
                plans = foresee(function, *optional)
                self.follows = len(plans) == 1 + len(optional) and len(given) == len(self.signature.parameters)
                # What an axis of size 1 may do by itself is seen by a recording only.
                if all(isinstance(d, Named) for term in terms.values() for d in term.dims):
                    self.watch.foreseen = plans
            if not typed and not terms:
                self._surmise(function, given)
            if not self.watch.foreseen:
                read_ahead(function)
            self._build(self._expected(given), ready=True)
        except Exception as problem:  # A name that is defined further down: the first call will see.
            if os.environ.get("SHAPEDOC_DEBUG") and not isinstance(problem, NameError):
                raise

    def _surmise(self, function: FunctionType, given: Mapping[str, inspect.Parameter]) -> None:
        """Read a function that states nothing with arguments as most calls give them."""
        if "." in function.__qualname__.rpartition("<locals>.")[2] and function.__name__ not in ("forward", "__call__"):
            return  # What other methods do is mostly seen where these call them.
        needed = [n for n, p in given.items() if p.default is p.empty]
        others = [n for n in given if n not in needed]
        plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in given.values())
        if needed and plain and all(given[n].default is None for n in others):
            read = surmise(function, needed, others)
            if read is not None:
                self.surmised, self.watch.foreseen = read[0], {frozenset(): read[1]}

    def _expected(self, given: Mapping[str, inspect.Parameter]) -> Plan:
        """The wrapper that calls will probably need, to be compiled before the first one."""
        forms: dict[str, Form] = {n: "module" for n in self.signature.parameters if n not in given}
        for name, parameter in given.items():
            rest = parameter.kind.name.startswith("VAR")
            forms[name] = "rest" if rest else "tensor" if parameter.default is parameter.empty else "choice"
        tensors = frozenset(n for n, form in forms.items() if form == "tensor")
        results = 0 if self.follows else len(self.contract.returns)
        return Plan(self.signature, tensors, results, forms if tensors else None)

    # -- a signature that has not been verified

    def slow(self, key: tuple[object, ...] | None, call: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        """Verify, record and run one call, then remember its signature."""
        __tracebackhide__ = True
        try:
            return self._verified(key, call, sys._getframe(2))
        except Exception as problem:
            hide_own_frames(problem)
            raise

    def _verified(
        self, key: tuple[object, ...] | None, call: tuple[tuple[Any, ...], dict[str, Any]], caller: FrameType
    ) -> Any:
        __tracebackhide__ = True
        args, kwargs = call
        if self._compiling():
            return self.function(*args, **kwargs)
        try:
            bound = self.signature.bind(*args, **kwargs).arguments
        except TypeError:
            return self.function(*args, **kwargs)
        shapes = {n: s for n, v in bound.items() if (s := sizes_of(v)) is not None}
        if any(type(size) is not int and not isinstance(size, int) for s in shapes.values() for size in s):
            return self.function(*args, **kwargs)  # Symbolic sizes: an export is under way.
        sizes = self._verify(bound, shapes, caller)
        entry = self.seen.get(key) if key is not None else None
        RESULTS.last = NOTHING
        try:
            pattern = partial(pattern_of, bound.values(), (self._autocast(),))
            read = partial(read_call, self.function, bound) if is_numpy_call(bound) else None
            run = partial(self._run, args, kwargs)
            recorded = entry is not None and self.watch.has_steps
            ways = len(self.watch.foreseen)
            absent = self._absent(bound) if sizes is not None and self.watch.foreseen else None
            out = self.watch.run(run, pattern, recorded=recorded, absent=absent, read=read)
        except TypeError as problem:
            if type(problem).__module__.startswith("jaxtyping") and RESULTS.last is not NOTHING:
                self._verify_result(RESULTS.last, sizes, problem)
            raise
        self._verify_result(out, sizes)
        if sizes is not None:
            self._remember(sizes)
        if self.follows and len(self.watch.foreseen) < ways:
            self.follows, key = False, None  # It goes another way than reading said.
        if key is None:
            self._specialise(bound, out)
        elif entry is None:
            if len(self.seen) >= _MOST_SIGNATURES:
                for old in list(self.seen)[: _MOST_SIGNATURES // 2]:
                    del self.seen[old]
            # The call of this signature that is recorded next: soon, where this one went a way of its own.
            due = 2 if self.watch.has_steps or self.watch.again else _COMPARED_AGAIN if self.follows else 0
            self.seen[key] = self._entry(bound, out, due)
            for value in bound.values():
                self._forget_with(value)
        else:
            entry[1] = entry[1] * 2 if self.watch.has_steps or self.follows else 0
        return out

    def _entry(self, args: Mapping[str, Any], out: Any, due: int) -> list[Any]:
        """What is remembered of a signature."""
        plan = self.plan
        count = plan.results if plan is not None else 0
        outs = out if type(out) is tuple else (out,)
        shapes = tuple(shape_of(o) for o in outs) if len(outs) == count else (None,) * count
        entry: list[Any] = [1, due, shapes, []]
        if plan is not None and plan.forms is not None:
            compared = held(plan.forms, self._values(args), joined=plan.joined)
            entry[3] = [*shapes, *compared] if compared is not None else []
        return entry

    def _run(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], around: AbstractContextManager[Any] | None = None
    ) -> Any:
        """Call the function as it is checked; `around` is entered for what it does itself, and not for the checks."""
        __tracebackhide__ = True
        typed = self.typed
        if around is None:
            return typed(*args, **kwargs)
        if typed is self.function:
            with around:
                return typed(*args, **kwargs)
        RESULTS.around = around
        try:
            return typed(*args, **kwargs)
        finally:
            RESULTS.around = None

    def _absent(self, bound: Mapping[str, Any]) -> frozenset[str] | None:
        """The arguments that are None, where all others are what reading took them for; None where one is not.

        An object of a subclass may be built of other parts.
        """
        owner = bound.get("self")
        if owner is not None and vars(type(owner)).get(self.function.__name__) is not self.wrapper:
            return None
        terms = self.surmised or self.contract.params
        if self.surmised:
            others = [v for n, v in bound.items() if n not in terms and n != "self"]
            good = all(v is None for v in others) and all(is_general(bound[n], t) for n, t in terms.items())
            plan = self.watch.foreseen.get(frozenset())
            return frozenset() if good and plan is not None and fits(terms, plan, bound) else None
        absent = frozenset(name for name in terms if bound.get(name) is None)
        return absent if all(name in absent or is_general(bound[name], t) for name, t in terms.items()) else None

    def _forget_with(self, value: Any) -> None:
        """Forget signatures of an object when it goes: another one may get its identity."""
        for one in told_by_identity(value):
            number = id(one)
            if number not in self.alive:
                with contextlib.suppress(TypeError):  # It cannot be referred to weakly.
                    self.alive[number] = weakref.ref(one, lambda _, n=number: self._gone(n))  # type: ignore[misc]

    def _gone(self, number: int) -> None:
        self.alive.pop(number, None)
        self.last.clear()
        for key in [k for k in list(self.seen) if mentions(k, number)]:
            self.seen.pop(key, None)

    def result(self, out: Any, call: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        """A verified signature has given a result of other shapes than before: verify those."""
        args, kwargs = call
        bound = self.signature.bind(*args, **kwargs).arguments
        shapes = {n: s for n, v in bound.items() if (s := sizes_of(v)) is not None}
        specs = {n: t.dims for n, t in self.contract.params.items()}
        self._verify_result(out, agree(specs, shapes, {}))
        return out

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
        tell([finding], self.options)
        return None

    def _verify_result(self, out: Any, sizes: dict[str, int] | None, cause: BaseException | None = None) -> None:
        if sizes is None:
            return
        for term in self.contract.returns:
            shape = sizes_of(component(out, term))
            if shape is not None and agree({"": term.dims}, {"": shape}, sizes) is None:
                finding = of_result(self.contract, term, shape, sizes)
                if finding.severity == "error":
                    raise ShapeError([finding]) from cause
                tell([finding], self.options)

    def _remember(self, sizes: dict[str, int]) -> None:
        self.good += 1
        if self.good == 1:
            self.history = dict(sizes)
        else:
            self.history = {n: v for n, v in self.history.items() if sizes.get(n, v) == v}


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


def _is_jaxtyping(annotation: object) -> bool:
    return "jaxtyping" in repr(annotation) or hasattr(annotation, "dim_str")


def _call(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs


def _never() -> bool:
    return False
