"""Imports in the jail: what is not visible there has a stand-in, which fails where it is used.

A notebook that draws with matplotlib beside its exercise is gradable; only a function that needs it is not.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

from shapedoc.grade.jail.visible import PACKAGES

__all__ = ["install"]

# Names that programs ask for to see whether there is something.
_ASKED = frozenset({"__path__", "__file__", "__spec__", "__loader__", "__all__", "__wrapped__", "__path_hooks__"})


def install() -> None:
    """Put the finder of stand-ins before all others."""
    sys.meta_path.insert(0, _Absent())


class _Absent(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Stand in for what is neither of the standard library nor visible."""
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top in PACKAGES or top.startswith("_"):
            return None
        return ModuleSpec(name, _StandIn(top), is_package=True)


class _StandIn(Loader):
    def __init__(self, package: str) -> None:
        self._package = package

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty module whose names are all there and none can be used."""
        package = self._package
        module = ModuleType(spec.name)

        def missing(name: str) -> Any:
            if name in _ASKED:
                raise AttributeError(name)
            if name == "check" and package == "shapedoc":
                return _unchecked
            return _Missing(f"{spec.name}.{name}", package)

        module.__dict__["__getattr__"] = missing
        return module

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def _unchecked(function: Any = None, **_: Any) -> Any:
    """`shapedoc.check` without its checks."""
    return (lambda given: given) if function is None else function


class _Missing:
    """A name of a package that is not there."""

    def __init__(self, name: str, package: str) -> None:
        self._name = name
        self._package = package

    def __getattr__(self, name: str) -> _Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(f"{self._name}.{name}", self._package)

    def _fail(self, *_: Any, **__: Any) -> NoReturn:
        raise ModuleNotFoundError(f"{self._name}: the package {self._package} is not there when grading")

    __call__ = __iter__ = __enter__ = __getitem__ = __mro_entries__ = _fail
