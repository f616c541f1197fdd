"""What a number that a program passes is made of: the sizes, in the author's names, that its source says it is."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.sizes import Sizes
from shapedoc.core.value import Float, Int, Tensor
from shapedoc.infer import numbers
from shapedoc.runtime.activations import Activation
from shapedoc.runtime.places import SourceFile, source_file
from shapedoc.runtime.sizes import AxisSize
from shapedoc.source import ir

__all__ = ["Figures", "real_value"]

_MISSING = object()
_DEEP = 6
# A number beyond this stands for infinity, not for a size.
_HUGE = 1e4


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where a name is looked up: its value, what the source assigns to it, and who owns it."""

    lookup: Callable[[str], object]
    assigned: Mapping[str, ir.Expr | None]
    owner: str
    file: SourceFile
    activation: Activation | None = None


@dataclass(slots=True)
class Figures:
    """Reads numbers for one recording.

    shadow: what is known of a tensor. built: what a module's constructor was given.
    """

    sizes: Sizes
    shadow: Callable[[object], Tensor | None]
    built: Callable[[object], Mapping[str, object]]
    _symbols: dict[tuple[str, int], Sym] = field(default_factory=dict)

    def whole(self, real: int, node: ir.Expr | None, activation: Activation | None) -> Int:
        """A whole number; without a source it is itself."""
        if isinstance(real, AxisSize):
            return Int(real.dim)
        found = self._of(node, activation) if node is not None and activation is not None else None
        if isinstance(found, Int) and self.sizes.resolve(found.dim).value == real:
            return found
        return Int(Dim.of(int(real)))

    def real(self, real: float, node: ir.Expr | None, activation: Activation | None) -> Float:
        """A number with a fraction; what its source does not say is not known."""
        found = self._of(node, activation) if node is not None and activation is not None else None
        if isinstance(found, Float) and found.known and math.isclose(real_value(found), real, rel_tol=1e-6):
            return found
        return Float(real, known=abs(real) > _HUGE or isinstance(node, ir.Const))

    def size(self, name: str, value: int, owner: str, line: int = 0) -> Dim:
        """The size of this name, one for each name and number, whichever functions use them."""
        if value <= 1:
            return Dim.of(value)
        key = (name, value)
        if key not in self._symbols:
            self._symbols[key] = Sym(name, value=value, owner=owner, origin=f"{name} = {value}", line=line)
        return Dim.of(self._symbols[key])

    def named(self, name: str, value: int | None) -> Dim | None:
        """The size of this name and number, if there is one."""
        sym = self._symbols.get((name, value)) if value is not None else None
        return Dim.of(sym) if sym is not None else None

    def expression(self, node: ir.Expr, activation: Activation) -> Int | Float | None:
        """What an expression says, whatever its value is."""
        return self._of(node, activation)

    def built_as(
        self, owner: object, name: str
    ) -> tuple[ir.Call, SourceFile, Callable[[ir.Expr], Int | Float | None]] | None:
        """The call that ``self.name`` of an object was built by, its file, and how its arguments are read."""
        for cls in type(owner).__mro__:
            file = _file_of(cls)
            source = file.attributes.get(cls.__name__, {}).get(name) if file is not None else None
            if file is not None and isinstance(source, ir.Call):
                scope = self._constructor(owner, cls, file)
                return source, file, partial(self._evaluate, scope=scope, deep=_DEEP)
        return None

    # -- expressions

    def _of(self, node: ir.Expr, activation: Activation) -> Int | Float | None:
        frame = activation.frame

        def lookup(name: str) -> object:
            value = frame.f_locals.get(name, _MISSING)
            return frame.f_globals.get(name, _MISSING) if value is _MISSING else value

        table = activation.file.visible(activation.function)
        owner = activation.function.partition(".")[0]
        return self._evaluate(node, _Scope(lookup, table, owner, activation.file, activation), _DEEP)

    def _evaluate(self, node: ir.Expr, scope: _Scope, deep: int) -> Int | Float | None:
        if deep == 0:
            return None
        match node:
            case ir.Const(value=bool()):
                return None
            case ir.Const(value=int(number)):
                return Int(Dim.of(number))
            case ir.Const(value=float(number)):
                return Float(number, known=True)
            case ir.Name(id=name):
                return self._name(name, scope, node, deep)
            case ir.Attribute():
                return self._attribute(node, scope, deep)
            case ir.UnaryOp(op="-"):
                inner = self._evaluate(node.operand, scope, deep - 1)
                negative = numbers.negate(inner) if inner is not None else None
                return negative if isinstance(negative, Int | Float) else None
            case ir.BinOp():
                return self._binary(node, scope, deep)
            case ir.Call():
                return self._call(node, scope, deep)
            case ir.Subscript(value=ir.Attribute(attr="shape", value=owner), index=index):
                return self._extent(owner, index, scope)
        return None

    def _name(self, name: str, scope: _Scope, node: ir.Name, deep: int) -> Int | Float | None:
        value = scope.lookup(name)
        if isinstance(value, AxisSize):
            return Int(value.dim, name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        source = scope.assigned.get(name, _MISSING)
        if isinstance(source, ir.Expr) and not isinstance(source, ir.Const):
            found = self._agreeing(self._evaluate(source, scope, deep - 1), value)
            return _called(found, name) if found is not None else self._named(name, value, scope)
        if source is None and isinstance(value, int):
            return Int(Dim.of(value))  # It changes: a counter, or the variable of a loop.
        return self._named(name, value, scope, node.span[0])

    def _named(self, name: str, value: float, scope: _Scope, line: int = 0) -> Int | Float | None:
        if isinstance(value, int):
            return Int(self.size(name, value, scope.owner, line), name)
        return Float(value, known=True) if value == int(value) and abs(value) > 1 else None

    @staticmethod
    def _agreeing(found: Int | Float | None, value: float) -> Int | Float | None:
        if isinstance(found, Int):
            return found if found.dim.value == value else None
        if isinstance(found, Float) and found.known:
            return found if math.isclose(real_value(found), value, rel_tol=1e-6) else None
        return None

    def _attribute(self, node: ir.Attribute, scope: _Scope, deep: int) -> Int | Float | None:
        owner = self._object(node.value, scope)
        value = getattr(owner, "__dict__", {}).get(node.attr, _MISSING)
        if isinstance(value, AxisSize):
            return Int(value.dim, node.attr)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        for cls in type(owner).__mro__:
            file = scope.file if cls.__name__ in scope.file.attributes else _file_of(cls) or scope.file
            source = file.attributes.get(cls.__name__, {}).get(node.attr)
            if source is not None:
                inner = self._constructor(owner, cls, file)
                found = self._agreeing(self._evaluate(source, inner, deep - 1), value)
                if found is not None:
                    return _called(found, node.attr)
                break
        if isinstance(value, int):
            return Int(self.size(node.attr, value, type(owner).__name__), node.attr)
        return None

    def _constructor(self, owner: object, cls: type, file: SourceFile) -> _Scope:
        """The scope of a class's constructor after it has run: what it was given, or what it kept by the same name."""
        given = self.built(owner)

        def lookup(name: str) -> object:
            if name == "self":
                return owner
            return given.get(name, getattr(owner, "__dict__", {}).get(name, _MISSING))

        return _Scope(lookup, file.assigned.get(f"{cls.__name__}.__init__", {}), cls.__name__, file)

    def _object(self, node: ir.Expr, scope: _Scope) -> object:
        match node:
            case ir.Name(id=name):
                return scope.lookup(name)
            case ir.Attribute():
                inner = self._object(node.value, scope)
                held = getattr(inner, "__dict__", {})
                return held.get(node.attr, held.get("_modules", {}).get(node.attr, _MISSING))
        return _MISSING

    def _binary(self, node: ir.BinOp, scope: _Scope, deep: int) -> Int | Float | None:
        left = self._evaluate(node.left, scope, deep - 1)
        right = self._evaluate(node.right, scope, deep - 1)
        if left is None or right is None:
            return None
        value = numbers.arithmetic(node.op, left, right, self.sizes, owner=scope.owner, line=node.span[0])
        return value if isinstance(value, Int | Float) else None

    def _call(self, node: ir.Call, scope: _Scope, deep: int) -> Int | Float | None:
        name = node.func.attr if isinstance(node.func, ir.Attribute) else getattr(node.func, "id", "")
        if name == "size" and isinstance(node.func, ir.Attribute) and len(node.args) == 1:
            return self._extent(node.func.value, node.args[0], scope)
        if len(node.args) != 1 or node.keywords:
            return None
        inner = self._evaluate(node.args[0], scope, deep - 1)
        if inner is None:
            return None
        if name == "sqrt":
            return numbers.square_root(inner)
        if name == "int" and isinstance(inner, Int):
            return inner
        if name == "float":
            return numbers.as_float(inner)
        return None

    def _extent(self, owner: ir.Expr, index: ir.Expr, scope: _Scope) -> Int | None:
        """``x.shape[i]`` or ``x.size(i)``."""
        tensor = self.shadow(self._object(owner, scope))
        number = self._evaluate(index, scope, 2)
        if tensor is None or not isinstance(number, Int) or number.value is None or tensor.shape.rank is None:
            return None
        axes = self.sizes.shape(tensor.shape).axes
        return Int(axes[number.value].dim) if -len(axes) <= number.value < len(axes) else None


def _called(found: Int | Float, name: str) -> Int | Float:
    """A quotient that is put into a variable is called after it."""
    sym = found.dim.sym if isinstance(found, Int) else None
    if sym is not None and not sym.flexible and "//" in sym.name:
        sym.name = name
    return found


def real_value(number: Float) -> float:
    """The number that a product of powers of sizes is."""
    total = number.value if number.value is not None else math.nan
    for dim, exponent in number.powers:
        total *= float(dim.value) ** float(exponent) if dim.value is not None else math.nan
    return total


def _file_of(cls: type) -> SourceFile | None:
    path = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return source_file(path) if isinstance(path, str) and path.endswith(".py") and "torch" not in path else None
