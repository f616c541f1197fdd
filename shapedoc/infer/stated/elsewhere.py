"""What other files state of their functions: it is not believed, and heard where it is seen to be wrong."""

from __future__ import annotations

from shapedoc.core.value import Tensor
from shapedoc.infer.machine import Frame, Machine
from shapedoc.infer.stated.manners import READ_BY_PROGRAMS, fitting
from shapedoc.infer.values import Function, LocalModule, Symbolic
from shapedoc.source import ir
from shapedoc.source.contracts import ModuleContracts

__all__ = ["Elsewhere"]


class Elsewhere:
    """The statements of imported files; each is read when a function of it is handed something that rests on one."""

    def __init__(self) -> None:
        self._read: dict[str, ModuleContracts] = {}

    def contradicted(self, m: Machine, function: Function, frame: Frame) -> bool:
        """Whether what a function of another file states of its parameters has another rank than what it is given.

        Asked only where one of them rests on a statement of the caller's: then which of the two is right is not known.
        """
        module, node = function.module, function.node
        if module is None or not isinstance(node, ir.FunctionDef):
            return False
        held = {name: v._tensor if isinstance(v, Symbolic) else v for name, v in frame.variables.items()}
        given = {name: v for name, v in held.items() if isinstance(v, Tensor)}
        if not any(v.uid in m.described or v.event in m.tentative for v in given.values()):
            return False
        contracts = self._contracts(module)
        for name, shapes in contracts.params(node).items() if contracts is not None else ():
            stated, value = next((s for s in shapes if s.sure), None), given.get(name)
            if stated is None or value is None or stated.form in READ_BY_PROGRAMS or stated.index is not None:
                continue
            shape = m.sizes.shape(value.shape)
            if shape.rank is not None and fitting(stated, shape) is None:
                return True
        return False

    def _contracts(self, module: LocalModule) -> ModuleContracts | None:
        if module.path not in self._read and module.tree is not None:
            self._read[module.path] = ModuleContracts(module.tree)
        return self._read.get(module.path)
