"""Where branches and rounds of a loop meet: one value that stands for several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import Sizes
from shapedoc.core.value import Bool, DictValue, Float, Int, Layer, Library, NoneValue, Seq, Str, Tensor, Unknown, Value
from shapedoc.infer.machine import Machine
from shapedoc.infer.values import Amended, Choice, Class, Container, Function, Instance, Partial, Symbolic
from shapedoc.ops.calling.bind import as_tensor
from shapedoc.source import ir

__all__ = ["OPTIONAL", "State", "join", "join_different", "join_states", "settled", "snapshot"]

Where = ir.Stmt | ir.Expr | None

# Why a value is unknown that is a tensor or None; its event is the tensor.
OPTIONAL = "a tensor in one branch, None in another"
_ALTERNATIVES = 3


class State:
    """The variables and attributes at one point, and what was known of sizes.

    unbound: names that were used before anything had set them: Python would have raised.
    """

    __slots__ = ("attributes", "signal", "sizes", "unbound", "variables")

    def __init__(self, machine: Machine, mark: int, signal: str) -> None:
        self.variables = machine.frame.variables
        self.unbound = machine.unbound
        self.sizes = machine.sizes
        self.signal = signal
        # What this branch wrote to objects, by (attributes dict, name); taken back by `snapshot`'s owner.
        self.attributes: dict[tuple[int, str], tuple[dict[str, Value], Value]] = {}
        for attributes, name, _ in machine.journal[mark:]:
            if name in attributes:
                self.attributes[(id(attributes), name)] = (attributes, attributes[name])


def snapshot(machine: Machine, walk: Callable[[], str]) -> State:
    """Walk one branch on copies, and take back what it did to variables, attributes and sizes."""
    frame, sizes, mark = machine.frame, machine.sizes, len(machine.journal)
    variables = frame.variables
    branch = machine.branch
    unbound, machine.unbound = machine.unbound, frozenset()
    machine.branch_count += 1
    machine.branch = (*branch, machine.branch_count)
    frame.variables = dict(variables)
    machine.sizes = sizes.fork()
    try:
        signal = walk()
        state = State(machine, mark, signal)
    finally:
        machine.take_back(mark)
        frame.variables, machine.sizes, machine.branch = variables, sizes, branch
        machine.unbound = unbound
    return state


def join_states(machine: Machine, states: Sequence[State], node: Where) -> str:
    """Go on with what the branches that fall through have in common; the signal where none does."""
    going = [s for s in states if not s.signal]
    if not going:
        signals = {s.signal for s in states}
        return "return" if "return" in signals else signals.pop()
    machine.sizes.join([s.sizes for s in going])
    if len(going) == 1:
        machine.frame.variables.clear()
        machine.frame.variables.update(going[0].variables)
        for attributes, name in ((a, n) for (_, n), (a, _) in going[0].attributes.items()):
            machine.journal.append((attributes, name, attributes.get(name)))
            attributes[name] = going[0].attributes[(id(attributes), name)][1]
        return ""
    names, depth = {n: None for s in going for n in s.variables}, len(machine.frames)
    variables, first, second = machine.frame.variables, going[0].variables, going[1].variables
    others, objects = [s.variables for s in going[2:]], dict[str, Sequence[Value]]()
    for name in names:
        value = first.get(name)
        if value is not None and second.get(name) is value and all(o.get(name) is value for o in others):
            variables[name] = value
            continue
        # A branch that uses it before it sets it, as in `x = x * y`, is not the one that is taken first.
        taken = [s for s in going if (depth, name) not in s.unbound and name in s.variables] or going
        values = [v and settled(s.sizes, v) for s in taken for v in (s.variables.get(name),)]
        several = [v for v in values if isinstance(v, Instance)]
        if several and len(several) == len(values):
            objects[name] = several  # what they hold is put back below
        # Where a branch does not set it, no program that goes on from there may use it.
        variables[name] = _called(machine, join(machine, [v for v in values if v is not None], node), name, node)
    keys = {k: s.attributes[k][0] for s in going for k in s.attributes}
    for key, attributes in keys.items():
        old = attributes.get(key[1])
        values = [settled(s.sizes, s.attributes[key][1]) if key in s.attributes else old for s in going]
        machine.journal.append((attributes, key[1], old))
        attributes[key[1]] = join(machine, [v for v in values if v is not None], node)
    for name, built in objects.items():
        variables[name] = join(machine, built, node)
    return ""


def _called(machine: Machine, value: Value, name: str, node: Where) -> Value:
    """A number that differs between the branches is called after the variable that has it."""
    if not isinstance(value, Int) or value.name or node is None:
        return value
    return machine.name_size(value, name, node.span[0], machine.function)


def settled(sizes: Sizes, value: Value) -> Value:
    """A value with all put in that is known where it was made, before it is forgotten where branches meet."""
    match value:
        case Tensor():
            shape = sizes.shape(value.shape)
            return value if shape is value.shape else replace(value, shape=shape)
        case Int():
            dim = sizes.resolve(value.dim)
            return value if dim is value.dim else Int(dim, value.name)
        case Seq():
            items = tuple(settled(sizes, v) for v in value.items)
            if all(a is b for a, b in zip(items, value.items, strict=True)):
                return value
            return Seq(items, value.kind, value.rest, value.length, value.names)
    return value


def join(machine: Machine, values: Sequence[Value], node: Where = None) -> Value:
    """One value for several."""
    first = values[0]
    if all(v is first for v in values[1:]):
        return first
    return _join_used(machine, values, node) or _join_alike(machine, values, node) or join_different(values)


def _join_used(machine: Machine, values: Sequence[Value], node: Where) -> Value | None:
    """Where tensors are among them, or parameters that nobody describes."""
    tensors = [v for v in values if isinstance(v, Tensor)]
    if tensors and len(tensors) == len(values):
        return _join_tensors(machine, tensors, node)
    symbols = [v for v in values if isinstance(v, Symbolic)]
    if symbols and len(symbols) == len(values) and (one := _amended(machine, symbols, node)) is not None:
        return one
    if symbols and not tensors and all(s.hint == "none" and not s.used_as_tensor for s in symbols):
        others = [v for v in values if not isinstance(v, Symbolic)]
        if all(isinstance(v, NoneValue) for v in others) and all(s is symbols[0] for s in symbols):
            return symbols[0]
        if others and all(isinstance(v, DictValue) for v in others):
            return DictValue({}, complete=False)  # what is given has other keys than what replaces it
        if others and not any(isinstance(v, NoneValue | Unknown) for v in others):
            return join(machine, others, node)  # a parameter is replaced where it was not given
    if len(symbols) == len(values) and not any(s.used_as_tensor for s in symbols) and any(s.size for s in symbols):
        optional = [s for s in symbols if s.hint == "none"]
        if len(optional) == 1:
            return optional[0]  # ``key_size or query_size``: a size of its own wherever it is given
    if tensors and len(tensors) + len(symbols) == len(values):
        return _join_default(machine, tensors, symbols, node)
    if any(isinstance(v, Int) for v in values) and all(isinstance(v, Int | Symbolic) for v in values):
        return _one_of(machine, values)
    if tensors:
        lost = [v for v in values if isinstance(v, Unknown)]
        if len(lost) + len(tensors) == len(values):
            kept = tensors[0] if all(_is_made_of(machine, v, tensors) for v in lost) else None
            return _join_tensors(machine, [*tensors, *map(as_tensor, lost)], node, kept)
        if all(isinstance(v, Tensor | NoneValue) for v in values):
            return Unknown(OPTIONAL, (_join_tensors(machine, tensors, node).event,))
        return Unknown(
            "a tensor in one branch, something else in another", tuple(t.event for t in tensors if t.event >= 0)
        )
    return None


def _join_alike(machine: Machine, values: Sequence[Value], node: Where) -> Value | None:
    """Where all are of one kind."""
    first = values[0]
    match first:
        case Int():
            if all(
                isinstance(v, Int) and machine.sizes.resolve(v.dim) == machine.sizes.resolve(first.dim) for v in values
            ):
                return first
            if all(isinstance(v, Int) for v in values):
                return _one_of(machine, values)
            if all(isinstance(v, Int | Float) for v in values):
                return Float()
        case Float():
            if all(v == first for v in values):
                return first
            if all(isinstance(v, Int | Float) for v in values):
                return Float()
        case Bool():
            if all(isinstance(v, Bool) for v in values):
                return first if all(v == first for v in values) else Bool()
        case Str():
            if all(isinstance(v, Str) for v in values):
                return first if all(v == first for v in values) else Str()
        case NoneValue():
            if all(isinstance(v, NoneValue) for v in values):
                return first
        case Seq():
            if all(isinstance(v, Seq) for v in values):
                return _join_lists(machine, [v for v in values if isinstance(v, Seq)], node)
        case DictValue():
            if all(isinstance(v, DictValue) for v in values):
                return _join_dicts(machine, [v for v in values if isinstance(v, DictValue)], node)
        case Layer():
            if all(isinstance(v, Layer) and v.kind == first.kind for v in values):
                return _join_layers(machine, [v for v in values if isinstance(v, Layer)], node)
        case Instance():
            if all(isinstance(v, Instance) and v.cls is first.cls for v in values):
                return _join_instances(machine, [v for v in values if isinstance(v, Instance)], node)
        case _:
            if all(v == first for v in values[1:]):
                return first
    return None


def _one_of(machine: Machine, values: Sequence[Value]) -> Int:
    """A number that is one of several; where 0 is among them nothing may rest on its being there."""
    none = any(isinstance(v, Int) and v.dim.const == 0 for v in values)
    return machine.fresh_count() if none else machine.fresh_int()


def join_different(values: Sequence[Value]) -> Value:
    """One of several callables, or unknown; it comes from what all of them come from."""
    choice = _choice(values)
    if choice is not None:
        return choice
    # Once each: the branches mostly share them, and a row of branches would double them every time.
    events = tuple(dict.fromkeys(e for v in values if isinstance(v, Unknown) for e in v.events))
    return Unknown("different things in different branches", events)


def _choice(values: Sequence[Value]) -> Choice | None:
    """Things that can be called, at most one of them None."""
    found: list[Value] = []
    for value in values:
        for v in value.values if isinstance(value, Choice) else (value,):
            if not isinstance(v, Layer | Instance | Function | Class | Container | Partial | Library | NoneValue):
                return None
            if not any(v is w or v == w for w in found):
                found.append(v)
    can_be_called = [v for v in found if not isinstance(v, NoneValue)]
    return Choice(tuple(found)) if 0 < len(can_be_called) <= _ALTERNATIVES else None


def _is_made_of(machine: Machine, lost: Unknown, tensors: Sequence[Tensor]) -> bool:
    """Whether what is lost is what a callable that is not known made of the one tensor that the other way keeps."""
    if len(lost.events) != 1 or len(tensors) != 1:
        return False
    event = machine.trace.events[lost.events[0]]
    return event.result is lost and len(event.operands) == 1 and event.operands[0].value is tensors[0]


def _join_tensors(machine: Machine, tensors: Sequence[Tensor], node: Where, kept: Tensor | None = None) -> Tensor:
    """One tensor for several; it has the shape of the one that is kept, where one is."""
    shapes = [machine.sizes.shape(t.shape) for t in tensors]
    shape = shapes[0] if kept is None else machine.sizes.shape(kept.shape)
    for other in shapes[1:] if kept is None else ():
        shape = _join_shapes(machine, shape, other)
    met = machine.phi(node, tensors, shape)
    if kept is not None or (shape.rank is not None and any(s.rank is None for s in shapes)):
        machine.tentative.add(met.event)
        machine.one_sided.add(met.event)
    return met


def _amended(machine: Machine, symbols: Sequence[Symbolic], node: Where) -> Symbolic | None:
    """One parameter, fields of which some branches have assigned."""
    root = next((s.base for s in symbols if isinstance(s, Amended)), None)
    if root is None or any(s is not root and not (isinstance(s, Amended) and s.base is root) for s in symbols):
        return None
    keys = {key: None for s in symbols if isinstance(s, Amended) for key in s.changed}
    return Amended(root, {key: join(machine, [s.item(key) for s in symbols], node) for key in keys})


def _join_default(machine: Machine, tensors: Sequence[Tensor], symbols: Sequence[Symbolic], node: Where) -> Tensor:
    """A parameter that is replaced where it was not given: it has the shape of what replaces it.

    One that is given, and replaced where it has another rank or kind, need not.
    """
    given = [s.as_tensor() for s in symbols]
    known = [t for t in given if not machine.sizes.shape(t.shape).is_unknown]
    if known:
        return _join_tensors(machine, [*tensors, *given], node)
    shape = machine.sizes.shape(tensors[0].shape)
    for other in tensors[1:]:
        shape = _join_shapes(machine, shape, machine.sizes.shape(other.shape))
    met = machine.phi(node, [*tensors, *given], shape)
    if any(s.hint != "none" for s in symbols):
        machine.tentative.add(met.event)
        machine.one_sided.add(met.event)
    return met


def _join_shapes(machine: Machine, a: Shape, b: Shape) -> Shape:
    if a.rank is not None and a.rank == b.rank:
        return Shape(tuple(_join_axes(machine, x, y) for x, y in zip(a.axes, b.axes, strict=True)))
    for known, other in ((a, b), (b, a)):
        # One branch says what the rank is: its shape is what happens there, so what follows may rely on it.
        if known.rank is not None and other.rank is None and known.rank >= len(other.items) - 1:
            # But a 1 that nobody wrote is what its test asked for: ``if x.shape[-2] == 1: return x``.
            return Shape(tuple(_unless_found(machine, axis) for axis in known.axes))
    tail: list[Axis | Run] = []
    for x, y in zip(reversed(a.suffix), reversed(b.suffix), strict=False):
        if x.dim != y.dim:
            break
        tail.append(x.merged(y))
    room = min(len(s.axes) - len(tail) for s in (a, b))
    begun = list(zip(a.prefix[:room], b.prefix[:room], strict=False))
    ones = [i for i, (x, y) in enumerate(begun) if x.dim.const == y.dim.const == 1]
    head = [_join_axes(machine, x, y) for x, y in begun[: ones[-1] + 1]] if ones else []
    return Shape((*head, Run(), *reversed(tail)))


def _unless_found(machine: Machine, axis: Axis) -> Axis:
    return axis if axis.dim.const != 1 or axis.visible else Axis(machine.sizes.fresh(), axis.ids)


def _join_axes(machine: Machine, a: Axis, b: Axis) -> Axis:
    if a.dim == b.dim:
        return a.merged(b)
    return Axis(machine.sizes.either(a.dim, b.dim), a.ids | b.ids)


def _join_lists(machine: Machine, lists: Sequence[Seq], node: Where) -> Value:
    first = lists[0]
    if first.kind == "modules":
        longest = max(lists, key=lambda s: len(s.items))
        if all(s.rest is None and all(map(_is, s.items, longest.items)) for s in lists):
            return longest  # one way adds to what the other has
    if all(s.rest is None and len(s.items) == len(first.items) for s in lists):
        return Seq(tuple(join(machine, [s.items[i] for s in lists], node) for i in range(len(first.items))), first.kind)
    shared = min(len(s.items) for s in lists) if all(s.kind == "tuple" for s in lists) else 0
    values = [v for s in lists for v in (*s.items[shared:], *((s.rest,) if s.rest is not None else ()))]
    if not values:
        return first
    # Some ways give more than others: ``outputs + (weights,)``.
    begun = tuple(join(machine, [s.items[i] for s in lists], node) for i in range(shared))
    return Seq(begun, first.kind, join(machine, values, node))


def _join_instances(machine: Machine, instances: Sequence[Instance], node: Where) -> Instance:
    """One object for several of a class; what is another module in each is one of these: the decoder of a model.

    Weights and sizes that differ from object to object are joined: those of the first say nothing of the others.
    """
    first, parts = instances[0], dict[str, Value]()
    for name, own in first.attributes.items():
        values = [v for i in instances if (v := i.attributes.get(name)) is not None]
        if len(values) < len(instances) or all(v is own for v in values):
            continue
        if isinstance(own, Layer | Instance):
            known = [v for v in values if isinstance(v, Layer | Instance)]
            if len(known) == len(values) and len({v.kind if isinstance(v, Layer) else v.cls for v in known}) > 1:
                parts[name] = join_different(known)
        elif isinstance(own, Tensor | Int) and any(_differs(machine, own, v) for v in values[1:]):
            parts[name] = join(machine, values, node)
    if not parts:
        return first
    return Instance(first.cls, {**first.attributes, **parts}, first.open, first.name, first.given)


def _differs(machine: Machine, one: Tensor | Int, other: Value) -> bool:
    """Whether two objects hold tensors or numbers of other sizes."""
    sizes = machine.sizes
    match one, other:
        case Tensor(), Tensor():
            shapes = (sizes.shape(one.shape), sizes.shape(other.shape))
            return [i.dim if isinstance(i, Axis) else i for i in shapes[0].items] != [
                i.dim if isinstance(i, Axis) else i for i in shapes[1].items
            ]
        case Int(), Int():
            return sizes.resolve(one.dim) != sizes.resolve(other.dim)
    return True


def _is(one: Value, other: Value) -> bool:
    return one is other or (isinstance(one, Str) and one == other)


def _join_dicts(machine: Machine, dicts: Sequence[DictValue], node: Where) -> Value:
    keys = {k: None for d in dicts for k in d.items}
    shared = {k: join(machine, [d.items[k] for d in dicts], node) for k in keys if all(k in d.items for d in dicts)}
    return DictValue(shared, complete=len(shared) == len(keys) and all(d.complete for d in dicts))


def _join_layers(machine: Machine, layers: Sequence[Layer], node: Where) -> Value:
    first = layers[0]
    names = {n for layer in layers for n in layer.config}
    config = {n: join(machine, [layer.config.get(n, NoneValue()) for layer in layers], node) for n in sorted(names)}
    for name, size in config.items():
        # What one call says of a size does not hold for the next one, which may be of another layer.
        if isinstance(size, Int) and not any(layer.config.get(name) == size for layer in layers):
            config[name] = Unknown("one of several layers")
    return Layer(first.kind, config, first.span, first.name, first.event)
