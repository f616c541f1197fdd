"""A model that a function puts together of its parts and gives back: what is called of it is walked on that very model.

``build_transformer(...)`` makes the encoder, the decoder and the projection and hands them to ``Transformer``, whose
constructor says nothing of what they are.
"""

from __future__ import annotations

from shapedoc.core.value import Value
from shapedoc.infer.entries.given import parameters
from shapedoc.infer.machine import Arg, Machine
from shapedoc.infer.nodes import calls
from shapedoc.infer.values import Container, Function, Instance, Symbolic

__all__ = ["walk_assembled"]

_MARK = "()."


def walk_assembled(m: Machine, model: Value, symbols: dict[str, Symbolic]) -> None:
    """Walk ``forward`` of a model that was given modules, or all that its class defines where it has none."""
    if not isinstance(model, Instance) or not any(_is_part(v, model) for v in model.given.values()):
        return
    own = {name.removeprefix(_MARK): s for name, s in symbols.items() if name.startswith(_MARK)}
    for function in _called(m, model):
        args = parameters(m, function, own, size=False, skip=1)
        calls.invoke(m, function, [Arg(model)], args, function.node_expression)
    symbols.update({_MARK + name: s for name, s in own.items()})


def _is_part(value: Value, model: Instance) -> bool:
    """Whether a constructor was given a module; itself is none."""
    return isinstance(value, Instance | Container) and value is not model


def _called(m: Machine, model: Instance) -> list[Function]:
    found = model.cls.find("forward") or model.cls.find("__call__")
    if found is not None:
        return [found[0]] if isinstance(found[0], Function) else []
    members = [v for name, v in model.cls.members.items() if not name.startswith("_")]
    return [v for v in members if isinstance(v, Function) and not v.role]
