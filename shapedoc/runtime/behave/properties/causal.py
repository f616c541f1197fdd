"""No future position leaks."""

from __future__ import annotations

from shapedoc.runtime.behave.case import Case, Violation, change, moved
from shapedoc.runtime.behave.properties.asserting import part_stays
from shapedoc.runtime.behave.subject import Subject


class NoFutureLeaks:
    """Changing one position along a causal axis leaves everything before it as it was."""

    name = "no-future-leaks"
    says = "changing a position leaves everything before it as it was"

    def applies(self, subject: Subject) -> str:
        """Where the contract says `causal AXIS`."""
        return "" if subject.contract.option("causal") else "the contract names no causal axis"

    def check(self, case: Case) -> Violation | None:
        """Change the last position, then one in the middle, then the second."""
        names = [a.name for a in case.contract.arguments]
        for axis_name in case.contract.option("causal"):
            n = case.size(axis_name)
            for index in dict.fromkeys((n - 1, n // 2, 1)):
                if not 0 < index < n:
                    continue
                changed = change(case, names, axis_name, index)
                after = case.run(changed)
                for result, axis in case.results(axis_name):
                    where = moved(case.outputs[result.name], after[result.name], axis, case.tolerance)
                    earlier = {i: d for i, d in where.items() if i < index}
                    if earlier:
                        first = min(earlier)
                        says = (
                            f"changing position {index} of {axis_name} moves `{result.name}` at position {first}"
                            f" by {earlier[first]:.3g}; the past must not see the future"
                        )
                        return Violation(
                            says, max(earlier.values()), changed, part_stays(result.name, axis, None, index)
                        )
        return None
