"""An import hook: every function and class of the named packages is checked as if it were decorated."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType, ModuleType

from shapedoc.integrations.check import decorator, is_off
from shapedoc.integrations.watched import Options

__all__ = ["Hook", "install_import_hook"]


class Hook(MetaPathFinder):
    """The installed hook; `uninstall` takes it away, and as a context manager it takes itself away.

    Modules that were imported while it was installed stay checked.
    """

    def __init__(self, packages: Sequence[str], on_finding: str) -> None:
        self.packages = tuple(packages)
        self.on_finding = on_finding

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Let Python find the module, and check what it defines once it has been executed."""
        if not any(fullname == p or fullname.startswith(p + ".") for p in self.packages):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, self.on_finding)
        return spec

    def uninstall(self) -> None:
        """Take the hook away."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def __enter__(self) -> Hook:
        return self

    def __exit__(self, *problem: object) -> None:
        self.uninstall()


class _Loader(Loader):
    def __init__(self, inner: Loader, on_finding: str) -> None:
        self.inner = inner
        self.on_finding = on_finding

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.inner.exec_module(module)
        # Much of a package may never be called: nothing is read ahead of that.
        decorate = decorator(Options(self.on_finding))
        for name, value in list(vars(module).items()):
            own = getattr(value, "__module__", None) == module.__name__
            if own and isinstance(value, FunctionType | type) and not hasattr(value, "__shapedoc__"):
                setattr(module, name, decorate(value))

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


def install_import_hook(*packages: str, on_finding: str = "warn") -> Hook:
    """Check every function and class of these packages that is imported from now on.

    Raises ValueError without a package, or for one that has been imported already.
    """
    if not packages:
        raise ValueError("name the packages to check: install_import_hook('models')")
    hook = Hook(packages, on_finding)
    if is_off():
        return hook
    late = [p for p in packages if p in sys.modules]
    if late:
        raise ValueError(f"`{late[0]}` has been imported already: install the hook before its first import")
    sys.meta_path.insert(0, hook)
    return hook
