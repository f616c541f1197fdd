"""Every parameter gets a gradient."""

from __future__ import annotations

from shapedoc.runtime.behave.case import Case, Violation
from shapedoc.runtime.behave.subject import Raised, Subject


class EveryParameterLearns:
    """A random sum of the results has a gradient in every parameter of the module.

    A bias is left out: one that adds the same to every score cancels in the softmax, and rightly so.
    """

    name = "every-parameter-learns"
    says = "every parameter gets a gradient"

    def applies(self, subject: Subject) -> str:
        """To torch modules."""
        return "" if subject.module is not None else "it is no torch module"

    def check(self, case: Case) -> Violation | None:
        """Draw the sum three times; a parameter that never gets a gradient is dead."""
        dead: set[str] | None = None
        rng = case.rng
        for _ in range(3):
            try:
                found = case.subject.gradients(case.inputs, rng)
            except Raised as raised:
                return Violation(f"the backward pass raises {raised}", float("inf"))
            if found is None:
                return None
            still = {name for name, most in found.items() if most == 0.0 and not name.split(".")[-1].startswith("bias")}
            dead = still if dead is None else dead & still
        if not dead:
            return None
        names = ", ".join(f"`{name}`" for name in sorted(dead))
        return Violation(f"no result depends on {names}: the gradient is zero", 0.0)
