"""A call leaves what it is given as it was."""

from __future__ import annotations

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation
from shapedoc.runtime.behave.subject import Subject


class InputsAreKept:
    """No argument holds other numbers after a call: the caller, and the next step of a decoder, use them again."""

    name = "inputs-are-kept"
    says = "a call leaves its arguments as they were"

    def applies(self, subject: Subject) -> str:
        """It always does."""
        return ""

    def check(self, case: Case) -> Violation | None:
        """Call once more and look at the arguments afterwards."""
        for name in case.subject.changes(case.inputs):
            says = f"`{name}` holds other numbers after the call: whoever uses it again gets those"
            drawn = repr(np.round(case.inputs[name].astype(float), 4).tolist()).replace("inf", "np.inf")
            line = f"assert np.allclose(np.asarray({name}, dtype=float), {drawn}, atol=1e-3)"
            return Violation(says, float("inf"), None, (line,))
        return None
