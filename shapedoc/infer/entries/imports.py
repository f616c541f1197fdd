"""Imports of other files under the linted paths: their definitions are walked once, as the file's own are.

What happens in an imported file is reported when that file is analysed; here it serves to know what its functions and
classes make of their arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import sep
from os.path import dirname, isdir, isfile, join, realpath
from pathlib import Path

from shapedoc.cache import digest_of_file
from shapedoc.core.finding import FileError
from shapedoc.core.value import Library, Value
from shapedoc.infer.machine import Frame, Machine
from shapedoc.infer.nodes.attributes import is_constant, is_foreign
from shapedoc.infer.values import LocalModule
from shapedoc.source import ir
from shapedoc.source.lowered import lowered
from shapedoc.source.names import resolve_import
from shapedoc.source.parse import SourceError
from shapedoc.source.read import read_source

__all__ = ["FileLoader", "load_library"]

_MAX_FILES = 24
_MAX_BYTES = 400_000
_LIBRARIES = frozenset(("torch", "numpy", "einops", "math", "copy", "functools", "typing", "collections", "jaxtyping"))


def load_library(m: Machine, node: ir.Import) -> dict[str, Value]:
    """Imports as names of a library; those of other files are not followed, a constant's is a setting."""
    found = resolve_import(node).items()
    return {name: m.setting(q) if is_constant(name) and is_foreign(q) else Library(q) for name, q in found}


class FileLoader:
    """Finds the file that an import means, and walks its definitions.

    path: the file under analysis. roots: the linted paths; nothing outside them is read. absent: the files that were
    looked for and are not there; a result holds only while they stay away.
    """

    def __init__(self, path: str, roots: Sequence[str]) -> None:
        self.path = path
        self.roots = [r for r in (realpath(r) for r in roots) if isdir(r)]
        self.loaded: dict[str, LocalModule] = {}
        self.absent: set[str] = set()
        self._within = tuple(r if r.endswith(sep) else r + sep for r in self.roots)
        self._places: dict[str, str] = {}

    def __call__(self, m: Machine, node: ir.Import) -> dict[str, Value]:
        """The names that an import statement binds."""
        names = load_library(m, node)
        if not self.roots or (node.level == 0 and self._first(node) in _LIBRARIES):
            return names
        here = m.path or self.path
        if node.module is None and node.level == 0:
            for name, alias in node.names:
                module = self._load(m, self._find(here, 0, name))
                if module is not None and (alias or "." not in name):
                    names[alias or name] = module
            return names
        module = self._load(m, self._find(here, node.level, node.module or ""))
        for name, alias in node.names:
            if name == "*":
                if module is not None:
                    names.update({k: v for k, v in module.names.items() if not k.startswith("_")})
                continue
            value = module.names.get(name) if module is not None else None
            if value is None:
                dotted = f"{node.module}.{name}" if node.module else name
                value = self._load(m, self._find(here, node.level, dotted))
            if value is not None:
                names[alias or name] = value
        if module is not None:
            names.pop("*", None)
        return names

    @staticmethod
    def _first(node: ir.Import) -> str:
        return (node.module or node.names[0][0]).split(".")[0]

    def _find(self, here: str, level: int, dotted: str) -> str | None:
        parts = [p for p in dotted.split(".") if p]
        folder = dirname(self._place(here))
        if level:
            for _ in range(level - 1):
                folder = dirname(folder)
            return self._file(folder, parts)
        while True:
            found = self._file(folder, parts)
            if found is not None:
                return found
            above = dirname(folder)
            if above == folder or not self._inside(above):
                return None
            folder = above

    def _file(self, folder: str, parts: Sequence[str]) -> str | None:
        place = join(folder, *parts)
        for candidate in (place + ".py" if parts else None, join(place, "__init__.py")):
            if candidate is None or not self._inside(candidate):
                continue
            if isfile(candidate):
                return candidate
            self.absent.add(candidate)
        return None

    def _inside(self, path: str) -> bool:
        return path.startswith(self._within) or path in self.roots

    def _place(self, path: str) -> str:
        """Where a file really lies."""
        place = self._places.get(path)
        if place is None:
            place = self._places[path] = realpath(path)
        return place

    def _load(self, m: Machine, path: str | None) -> LocalModule | None:
        if path is None or path == self._place(self.path):
            return None
        if path in self.loaded:
            return self.loaded[path]
        if len(self.loaded) >= _MAX_FILES:
            return None
        source = read_source(Path(path))
        if isinstance(source, FileError) or len(source.text) > _MAX_BYTES:
            return None
        module = self.loaded[path] = LocalModule(path)
        m.trace.inputs[path], m.trace.texts[path] = digest_of_file(path), source.text
        try:
            tree = lowered(source.text)
        except SourceError:
            return module
        module.tree = tree
        self._define(m, module, tree)
        return module

    def _define(self, m: Machine, module: LocalModule, tree: ir.Module) -> None:
        """Walk the definitions of a file, not its driver code."""
        frames, path, calls = m.frames, m.path, m.calls
        m.frames = [Frame("", module.names, {}, module=module)]
        m.path, m.calls = module.path, ()
        module.names["__name__"] = Library("imported")
        start = len(m.trace.events)
        try:
            for statement in tree.body:
                if defines(statement):
                    m.run([statement])
        finally:
            del m.trace.events[start:]
            m.frames, m.path, m.calls = frames, path, calls


def defines(statement: ir.Stmt) -> bool:
    """Whether a statement of a file defines something rather than drives it."""
    match statement:
        case ir.Import() | ir.FunctionDef() | ir.ClassDef() | ir.Try():
            return True
        case ir.Assign(value=ir.Const()):
            return True
    return False
