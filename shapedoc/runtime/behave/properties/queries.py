"""Queries are independent of each other."""

from __future__ import annotations

from shapedoc.runtime.behave.case import Case, Violation, change, moved
from shapedoc.runtime.behave.properties.asserting import others_stay
from shapedoc.runtime.behave.subject import Subject


class QueriesAreIndependent:
    """Changing one query changes the output at its own position, and at no other."""

    name = "queries-are-independent"
    says = "changing one query changes its own output and no other"

    def applies(self, subject: Subject) -> str:
        """To float queries that are not keys at the same time; a decoder that steps through time mixes them rightly."""
        queries = subject.contract.queries
        if not queries:
            return "no axis of queries"
        if queries == subject.contract.keys:
            return f"{queries} is also the axis of the keys"
        if queries in subject.contract.option("mixes") or subject.contract.timing:
            return f"the contract says that positions of {queries} depend on each other"
        carriers = [a for a in subject.contract.arguments if queries in a.dims and not a.mask]
        if not carriers or any(a.kind == "int" for a in carriers):
            return f"tokens along {queries} are read in order"
        return ""

    def check(self, case: Case) -> Violation | None:
        """Change the first query, then the last."""
        queries = case.contract.queries
        names = [a.name for a in case.contract.arguments]
        for index in dict.fromkeys((0, case.size(queries) - 1)):
            changed = change(case, names, queries, index)
            after = case.run(changed)
            for result, axis in case.results(queries):
                where = moved(case.outputs[result.name], after[result.name], axis, case.tolerance)
                others = {i: d for i, d in where.items() if i != index}
                if others:
                    first = min(others)
                    says = (
                        f"changing query {index} moves `{result.name}` at position {first} of {queries}"
                        f" by {others[first]:.3g}; it must stay"
                    )
                    return Violation(says, max(others.values()), changed, others_stay(result.name, axis, index))
                if index not in where:
                    says = f"`{result.name}` at position {index} of {queries} does not depend on that query"
                    line = f"assert np.abs({result.name}_after - {result.name}).max() > 1e-7"
                    return Violation(says, 0.0, changed, (line,))
        return None
