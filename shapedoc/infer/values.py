"""Values that only the interpreter understands: what the author defined, and what nobody described."""

from __future__ import annotations

from dataclasses import dataclass, field

from shapedoc.core.dim import Dim, Sym
from shapedoc.core.shape import Run, Shape
from shapedoc.core.value import Float, Int, Opaque, Seq, Str, Tensor, Value
from shapedoc.source import ir

__all__ = [
    "Amended",
    "BoundMethod",
    "Builtin",
    "Choice",
    "Class",
    "Container",
    "Function",
    "Instance",
    "LocalModule",
    "Partial",
    "Range",
    "Setting",
    "Super",
    "Symbolic",
]


@dataclass(slots=True, eq=False)
class Function(Opaque):
    """A function of the author's: its node, the variables it closes over, and the class it was defined in.

    role: "static", "class" or "property" for a method that is one. assigned: the attributes that a method assigns to
    its receiver, once that has been asked. replaced: a decorator that is read puts something else in its place.
    """

    node: ir.FunctionDef | ir.Lambda
    closure: dict[str, Value]
    owner: Class | None = None
    defaults: dict[str, Value] = field(default_factory=dict)
    module: LocalModule | None = None
    role: str = ""
    assigned: frozenset[str] | None = None
    replaced: bool = False

    @property
    def name(self) -> str:
        if isinstance(self.node, ir.Lambda):
            return "<lambda>"
        return f"{self.owner.name}.{self.node.name}" if self.owner else self.node.name

    @property
    def node_expression(self) -> ir.Expr:
        """Something to stand for a call of it that nobody wrote."""
        span = self.node.span if isinstance(self.node, ir.Lambda) else self.node.header
        return ir.Name(span, self.name)


@dataclass(slots=True, eq=False)
class Class(Opaque):
    """A class of the author's; `bases` may be library names."""

    node: ir.ClassDef
    name: str
    bases: tuple[Value, ...]
    members: dict[str, Value] = field(default_factory=dict)
    module: LocalModule | None = None

    def find(self, name: str) -> tuple[Value, Class] | None:
        """A member by name, own or inherited, and the class that has it."""
        if name in self.members:
            return self.members[name], self
        for base in self.bases:
            if isinstance(base, Class):
                found = base.find(name)
                if found:
                    return found
        return None

    def ancestors(self) -> list[Value]:
        """Every base, nearest first; library bases as they are."""
        out: list[Value] = []
        for base in self.bases:
            out.append(base)
            if isinstance(base, Class):
                out.extend(base.ancestors())
        return out


@dataclass(slots=True, eq=False)
class Instance(Opaque):
    """An object of one of the author's classes.

    open: it may have attributes that were not seen. given: what its constructor was called with, by parameter.
    """

    cls: Class
    attributes: dict[str, Value] = field(default_factory=dict)
    open: bool = False
    name: str = ""
    given: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class BoundMethod(Opaque):
    """A method of an instance, not yet called."""

    function: Function
    receiver: Value


@dataclass(slots=True, eq=False)
class Super(Opaque):
    """``super()`` inside a method."""

    receiver: Value
    cls: Class


@dataclass(slots=True, eq=False)
class Partial(Opaque):
    """``functools.partial(function, ...)``."""

    function: Value
    args: tuple[Value, ...]
    keywords: dict[str, Value]


@dataclass(slots=True, eq=False)
class Range(Opaque):
    """``range(start, stop, step)``."""

    start: Int
    stop: Int
    step: Int


@dataclass(slots=True, eq=False)
class Choice(Opaque):
    """One of several things that can be called, or None: which one, a setting decides."""

    values: tuple[Value, ...]


@dataclass(slots=True, unsafe_hash=True)
class Builtin(Opaque):
    """A function of Python's own."""

    name: str


class Container(Opaque):
    """``nn.Sequential``, ``nn.ModuleList`` or ``nn.ModuleDict``.

    held: its modules and their names, as "items" and "names", so that a branch can take back what it added. repeated:
    its layers were appended in a loop whose rounds stand for any number of them: there may be more than `items`, and
    `length` of them where that is known. loops: those that it was built in.
    """

    __slots__ = ("held", "kind", "length", "loops", "repeated")

    def __init__(
        self,
        kind: str,
        items: Seq,
        names: tuple[str, ...] = (),
        *,
        repeated: bool = False,
        length: Dim | None = None,
        loops: tuple[tuple[int, int], ...] = (),
    ) -> None:
        self.kind = kind
        self.held: dict[str, Value] = {
            "items": Seq(items.items, "modules", items.rest, items.length),
            "names": Seq(tuple(Str(n) for n in names), "modules"),
        }
        self.repeated = repeated
        self.length = length
        self.loops = loops

    @property
    def items(self) -> Seq:
        """The modules."""
        items = self.held["items"]
        assert isinstance(items, Seq)
        return items

    @property
    def names(self) -> tuple[str, ...]:
        """The modules' names, "" for one that is not known."""
        names = self.held["names"]
        assert isinstance(names, Seq)
        return tuple(n.value or "" for n in names.items if isinstance(n, Str))


@dataclass(slots=True, eq=False)
class LocalModule(Opaque):
    """Another file under the linted paths, imported; its names are filled when it has run."""

    path: str
    names: dict[str, Value] = field(default_factory=dict)
    tree: ir.Module | None = None


class Symbolic(Opaque):
    """A parameter that nobody describes: it becomes what it is used as.

    name: the parameter (or attribute, for a field of a config). It is one object through all passes over its
    function, so that what one pass learns of it (its rank, its sizes) the next one starts with. alone: what it was used
    as first is all that a new tensor's shape is made of: it may be a tuple of sizes.
    """

    __slots__ = ("_int", "_tensor", "alone", "fields", "hint", "line", "name", "owner", "size", "source")

    def __init__(self, name: str, owner: str, *, size: bool, line: int = 0, hint: str = "", source: str = "") -> None:
        self.name = name
        self.owner = owner
        self.size = size
        self.line = line
        self.hint = hint
        self.source = source or name
        self.alone = False
        self.fields: dict[str, Symbolic] = {}
        self._int: Int | None = None
        self._tensor: Tensor | None = None

    @property
    def undecided(self) -> bool:
        return not self.size and self._int is None

    @property
    def is_number(self) -> bool:
        return self._tensor is None and (self.size or self._int is not None)

    @property
    def counted(self) -> bool:
        """Whether it has been used as a number."""
        return self._int is not None

    def as_int(self) -> Int:
        if self._int is None:
            origin = f"parameter `{self.name}`"
            sym = Sym(self.name, flexible=not self.size, owner=self.owner, origin=origin, line=self.line)
            self._int = Int(Dim.of(sym), self.name)
        return self._int

    def as_float(self) -> Float:
        return Float()

    def as_tensor(self) -> Tensor:
        if self._tensor is None:
            self._tensor = Tensor(Shape((Run(self.name),)), name=self.name, source=self.source)
        return self._tensor

    @property
    def used_as_tensor(self) -> bool:
        return self._tensor is not None

    def refine(self, shape: Shape) -> None:
        """Take over what a pass learnt."""
        tensor = self.as_tensor()
        self._tensor = Tensor(shape, tensor.kind, tensor.library, name=tensor.name, source=tensor.source)

    def child(self, name: str) -> Symbolic:
        """A field of a config, an element of a state."""
        if name not in self.fields:
            label = name if not name.lstrip("-").isdigit() else f"{self.name}[{name}]"
            self.fields[name] = Symbolic(
                label, self.owner, size=self.size, line=self.line, source=f"{self.source}.{name}"
            )
        return self.fields[name]

    def item(self, name: str) -> Value:
        """A field as it is now: what has been assigned to it, or what came."""
        return self.child(name)

    def amended(self, name: str, value: Value) -> Amended:
        """The same with one field assigned anew."""
        return Amended(self, {name: value})

    def walk(self) -> list[Symbolic]:
        """This one and everything below it."""
        out = [self]
        for f in self.fields.values():
            out.extend(f.walk())
        return out


class Amended(Symbolic):
    """A parameter some fields of which have been assigned: ``config["d_model"] = d``; it is itself in all else."""

    __slots__ = ("base", "changed")

    def __init__(self, base: Symbolic, changed: dict[str, Value]) -> None:
        super().__init__(base.name, base.owner, size=base.size, line=base.line, hint=base.hint, source=base.source)
        self.base = base
        self.changed = changed
        self.fields = base.fields

    def as_int(self) -> Int:
        self._int = self.base.as_int()
        return self._int

    def as_tensor(self) -> Tensor:
        self._tensor = self.base.as_tensor()
        return self._tensor

    def child(self, name: str) -> Symbolic:
        return self.base.child(name)

    def item(self, name: str) -> Value:
        value = self.changed.get(name)
        return value if value is not None else self.base.item(name)

    def amended(self, name: str, value: Value) -> Amended:
        return Amended(self.base, {**self.changed, name: value})


class Setting(Symbolic):
    """A name of a file that is not read: ``config.d_model``, ``hparams.n_heads``, ``MAX_LENGTH``.

    Used as a number it is a size of its own, the same wherever it is named; called, it is a function that nobody knows.
    All settings of one file have one owner, however deep they lie in it.
    """

    __slots__ = ()

    def __init__(self, qualified: str, owner: str = "") -> None:
        module, _, name = qualified.rpartition(".")
        super().__init__(name, owner or module, size=True, source=qualified)

    def as_int(self) -> Int:
        if self._int is None:
            self._int = Int(Dim.of(Sym(self.name, owner=self.owner, origin=f"setting `{self.source}`")), self.name)
        return self._int

    def child(self, name: str) -> Symbolic:
        """A field of a setting."""
        if name not in self.fields:
            self.fields[name] = Setting(f"{self.source}.{name}", self.owner)
        return self.fields[name]
