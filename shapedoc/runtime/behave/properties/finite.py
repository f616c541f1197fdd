"""The results are finite."""

from __future__ import annotations

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation
from shapedoc.runtime.behave.subject import Subject


class ResultsAreFinite:
    """No result holds a NaN or an infinity."""

    name = "results-are-finite"
    says = "no result holds a NaN or an infinity"

    def applies(self, subject: Subject) -> str:
        """It always does."""
        return ""

    def check(self, case: Case) -> Violation | None:
        """Look at every number."""
        for result in case.contract.results:
            array = np.asarray(case.outputs[result.name], dtype=float)
            bad = ~np.isfinite(array)
            if bad.any():
                at = [int(i) for i in np.argwhere(bad)[0]]
                word = "NaN" if np.isnan(array[tuple(at)]) else "an infinity"
                says = f"`{result.name}` has {word} at {at} ({int(bad.sum())} of {array.size} numbers)"
                return Violation(says, float("inf"), None, (f"assert np.isfinite({result.name}).all()",))
        return None
