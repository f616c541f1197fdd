"""What the author states, brought together with what is inferred."""

from __future__ import annotations

from shapedoc.infer.machine import Machine
from shapedoc.source import ir

__all__ = ["Statements"]


class Statements:
    """The shapes stated in one file."""

    def __init__(self, module: ir.Module, machine: Machine) -> None:
        self.module = module
        self.machine = machine
