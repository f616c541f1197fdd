"""The function under test, called with NumPy arrays whatever its own framework is."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shapedoc.runtime.behave.contract import Contract
from shapedoc.runtime.behave.draw import Array, Inputs

__all__ = ["Raised", "Subject"]


class Raised(Exception):
    """The function raised; `error` is what it raised."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.error = error


class Subject:
    """A callable with its contract.

    fn: a function, a method, a bound ``nn.Module`` or any callable. framework: "torch" or "numpy"; found from the
    callable where it is not given. dtype: of the float arguments.
    """

    def __init__(self, fn: Callable[..., Any], contract: Contract, framework: str | None, dtype: str | None) -> None:
        self.fn = fn
        self.contract = contract
        self.module = _module_of(fn)
        self.framework = framework or _framework_of(fn, self.module)
        self.dtype = dtype or self._parameter_dtype() or ("float32" if self.framework == "torch" else "float64")
        self.returns_several = False
        self.by_name = _takes(fn, [*(a.name for a in contract.arguments), *(c.name for c in contract.carried)])

    @property
    def name(self) -> str:
        """How the function is called in messages and tests."""
        fn = _plain(self.fn)
        name = getattr(fn, "__name__", None) or type(fn).__name__
        return str(name)

    def call(self, inputs: Inputs) -> dict[str, Array]:
        """The results by name, as NumPy arrays.

        Raises Raised with the function's own error, and Raised for a result that the contract does not have.
        """
        with self._quiet(), _ignoring():
            try:
                found = self._invoke({name: self._out(array) for name, array in inputs.items()})
            except Exception as error:
                raise Raised(error) from error
        return self._named(found)

    def changes(self, inputs: Inputs) -> list[str]:
        """The arguments that hold other numbers after a call; raises Raised as `call` does."""
        given = {name: self._out(array) for name, array in inputs.items()}
        before = {n: (a, a.copy()) for n, v in given.items() if (a := _array(v)) is not None}
        with self._quiet(), _ignoring():
            try:
                self._invoke(given)
            except Exception as error:
                raise Raised(error) from error
        return [n for n, (a, was) in before.items() if not np.array_equal(a, was, equal_nan=a.dtype.kind == "f")]

    def step(self, inputs: Inputs, carried: dict[str, Any]) -> tuple[dict[str, Array], dict[str, Any]]:
        """The results of one call that carries something from the last one, and what the next one is to be given.

        Raises Raised as `call` does.
        """
        with self._quiet(), _ignoring():
            try:
                found = self._invoke({name: self._out(array) for name, array in inputs.items()}, carried)
            except Exception as error:
                raise Raised(error) from error
        back = {c.name: found[c.returned] for c in self.contract.carried if c.returned is not None}
        return self._named(found), {**carried, **back}

    def gradients(self, inputs: Inputs, rng: np.random.Generator) -> dict[str, float] | None:
        """The largest gradient of every parameter, of a random sum of the float results; torch modules only."""
        if self.module is None:
            return None
        import torch

        parameters = {n: p for n, p in self.module.named_parameters() if p.requires_grad}
        with self._quiet(), torch.enable_grad():
            kept = {n: p.grad for n, p in parameters.items()}
            self.module.zero_grad(set_to_none=True)
            try:
                found = self._invoke({name: self._out(array) for name, array in inputs.items()})
            except Exception as error:
                raise Raised(error) from error
            try:
                total = torch.zeros(())
                for value in _flat(found):
                    if isinstance(value, torch.Tensor) and value.requires_grad and value.is_floating_point():
                        total = total + (value * torch.as_tensor(rng.normal(size=value.shape), dtype=value.dtype)).sum()
                if not total.requires_grad:
                    return None
                total.backward()
                return {n: 0.0 if p.grad is None else float(p.grad.abs().max()) for n, p in parameters.items()}
            except RuntimeError as error:
                raise Raised(error) from error
            finally:
                for name, parameter in parameters.items():
                    parameter.grad = kept[name]

    def _invoke(self, values: dict[str, Any], carried: dict[str, Any] | None = None) -> Any:
        kept = {c.name: 0 if c.kind == "offset" else None for c in self.contract.carried} | (carried or {})
        if self.framework == "torch":
            import torch

            torch.manual_seed(0)
        if self.by_name:
            return self.fn(**values, **kept)
        ordered = list(values.values())
        for one in self.contract.carried:
            ordered.insert(one.position, kept[one.name])
        return self.fn(*ordered)

    def _out(self, array: Array) -> Any:
        """One array as the function takes it."""
        if array.ndim == 0:
            return array.item()
        if array.dtype.kind == "f":
            array = array.astype(self.dtype)
        if self.framework == "torch":
            import torch

            return torch.from_numpy(np.array(array, order="C"))
        return array.copy()

    def _named(self, found: Any) -> dict[str, Array]:
        self.returns_several = isinstance(found, tuple | list)
        values = list(found) if isinstance(found, tuple | list) else [found]
        if isinstance(found, dict):
            values = [found.get(r.name) for r in self.contract.results]
        places = {c.returned for c in self.contract.carried}
        values = [value for i, value in enumerate(values) if i not in places]
        wanted = self.contract.results
        if len(values) < len(wanted):
            raise Raised(TypeError(f"the contract names {len(wanted)} results, the function returned {len(values)}"))
        named: dict[str, Array] = {}
        for result, value in zip(wanted, values, strict=False):
            array = _array(value)
            if array is None:
                raise Raised(TypeError(f"result {result.name} is a {type(value).__name__}, not a tensor"))
            named[result.name] = array
        return named

    def _parameter_dtype(self) -> str | None:
        if self.module is None:
            return None
        for parameter in self.module.parameters():
            if parameter.is_floating_point():
                return str(parameter.dtype).removeprefix("torch.")
        return None

    @contextlib.contextmanager
    def _quiet(self) -> Iterator[None]:
        """Evaluation mode, one thread, no gradients; the caller's random state is left as it was."""
        if self.framework != "torch":
            yield
            return
        import torch

        state, threads = torch.get_rng_state(), torch.get_num_threads()
        # The tensors are tiny: more than one thread only waits.
        torch.set_num_threads(1)
        try:
            with self._evaluated(), torch.no_grad():
                yield
        finally:
            torch.set_rng_state(state)
            torch.set_num_threads(threads)

    @contextlib.contextmanager
    def _evaluated(self) -> Iterator[None]:
        modes = [(m, m.training) for m in self.module.modules()] if self.module is not None else []
        if self.module is not None:
            self.module.eval()
        try:
            yield
        finally:
            for module, training in modes:
                module.training = training


@contextlib.contextmanager
def _ignoring() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def _plain(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function of which some arguments are bound already."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return fn


def _module_of(fn: Callable[..., Any]) -> Any:
    """The torch module that `fn` is or belongs to, without importing torch."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    bound = (*fn.args, *fn.keywords.values()) if isinstance(fn, functools.partial) else ()
    for candidate in (fn, getattr(fn, "__self__", None), *bound):
        if isinstance(candidate, torch.nn.Module):
            return candidate
    return None


def _framework_of(fn: Callable[..., Any], module: Any) -> str:
    if module is not None:
        return "torch"
    code = inspect.unwrap(_plain(fn))
    scope: dict[str, object] = getattr(code, "__globals__", None) or {}
    used = [scope[name] for name in getattr(getattr(code, "__code__", None), "co_names", ()) if name in scope]
    for values in (used, list(scope.values())):
        roots = {_root(value) for value in values} & {"torch", "numpy"}
        if roots:
            return "torch" if "torch" in roots else "numpy"
    return "numpy"


def _root(value: object) -> str:
    """The package that a module, a class or a function belongs to."""
    name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", "")
    return str(name).split(".")[0]


def _takes(fn: Callable[..., Any], names: list[str]) -> bool:
    """Whether the function can be called with all the contract's names as keywords."""
    try:
        parameters = inspect.signature(fn.forward if hasattr(fn, "forward") else fn).parameters
    except (TypeError, ValueError):
        return False
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return all(name in parameters and parameters[name].kind in kinds for name in names)


def _array(value: Any) -> Array | None:
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        return np.asarray(value.float() if str(value.dtype) == "torch.bfloat16" else value)
    if isinstance(value, np.ndarray | np.generic | int | float | bool):
        return np.asarray(value)
    return None


def _flat(found: Any) -> list[Any]:
    if isinstance(found, dict):
        return [each for value in found.values() for each in _flat(value)]
    if isinstance(found, tuple | list):
        return [each for value in found for each in _flat(value)]
    return [found]
