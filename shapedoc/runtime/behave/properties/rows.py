"""Examples of a batch do not mix."""

from __future__ import annotations

from shapedoc.runtime.behave.case import Case, Violation, change, moved
from shapedoc.runtime.behave.properties.asserting import others_stay
from shapedoc.runtime.behave.subject import Subject


class RowsDoNotMix:
    """Changing one example of a batch changes the outputs of that example, and of no other."""

    name = "rows-do-not-mix"
    says = "changing one example of a batch changes its own outputs and no others"

    def applies(self, subject: Subject) -> str:
        """It needs a batch axis on an argument and on a result."""
        if not subject.contract.batch:
            return "no batch axis"
        return (
            ""
            if any(subject.contract.batch in r.dims for r in subject.contract.results)
            else "no result has the batch axis"
        )

    def check(self, case: Case) -> Violation | None:
        """Change each of the first two examples in turn."""
        batch = case.contract.batch
        names = [a.name for a in case.contract.arguments]
        for row in range(min(2, case.size(batch))):
            changed = change(case, names, batch, row)
            after = case.run(changed)
            for result, axis in case.results(batch):
                where = moved(case.outputs[result.name], after[result.name], axis, case.tolerance)
                others = {i: d for i, d in where.items() if i != row}
                if others:
                    first, most = min(others), max(others.values())
                    says = (
                        f"changing example {row} of the batch moves `{result.name}` of example {first}"
                        f" by {others[first]:.3g}; it must stay"
                    )
                    return Violation(says, most, changed, others_stay(result.name, axis, row))
        return None
