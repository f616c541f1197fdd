"""The flip test: which state a decoder queries with."""

from __future__ import annotations

from shapedoc.runtime.behave.case import Case, Violation, change, moved
from shapedoc.runtime.behave.properties.asserting import part_stays
from shapedoc.runtime.behave.subject import Subject


class QueriesTheRightState:
    """Changing decoder token t first moves the weights of row t where s_t is queried, of row t + 1 where s_{t-1} is.

    Source: Bahdanau, Cho and Bengio 2015, appendix A.1.2 (e_ij from s_{i-1}); Luong, Pham and Manning 2015, section
    3.1 (the score is of h_t).
    """

    name = "queries-the-right-state"
    says = "the weights of step t depend on the decoder state that the paper has"

    def applies(self, subject: Subject) -> str:
        """Where the contract says `bahdanau` or `luong`, with weights and an input along the decoder's time."""
        if not subject.contract.timing:
            return "the contract says neither `bahdanau` nor `luong`"
        if not any(r.weights for r in subject.contract.results):
            return "no result is called weights"
        queries = subject.contract.queries
        carriers = [a for a in subject.contract.arguments if queries and queries in a.dims and not a.mask]
        return "" if carriers else "no argument runs along the decoder's time"

    def check(self, case: Case) -> Violation | None:
        """Flip one decoder input in the middle, and see which row moves first."""
        contract = case.contract
        queries, n = contract.queries, case.size(contract.queries)
        result, axis = next((r, i) for r, i in case.results(queries) if r.weights)
        index = max(0, n // 2 - 1)
        changed = change(case, [a.name for a in contract.arguments], queries, index)
        after = case.run(changed)
        where = moved(case.outputs[result.name], after[result.name], axis, case.tolerance / 10)
        if not where:
            says = f"`{result.name}` does not depend on the decoder's input at step {index} at all"
            return Violation(says, 0.0, changed, (f"assert np.abs({result.name}_after - {result.name}).max() > 1e-7",))
        first = min(where)
        wanted = index + 1 if contract.timing == "bahdanau" else index
        if first == wanted:
            return None
        says = _words(contract.timing, index, first, wanted)
        if first < wanted:
            asserts = part_stays(result.name, axis, None, wanted)
        else:
            piece = f"[{':, ' * axis}{wanted}]"
            asserts = (f"assert np.abs({result.name}_after{piece} - {result.name}{piece}).max() > 1e-7",)
        return Violation(says, max(where.values()), changed, asserts)


def _words(timing: str, index: int, first: int, wanted: int) -> str:
    head = f"changing decoder input {index} first moves the weights of step {first}"
    if timing == "bahdanau":
        if first == index:
            return f"{head}: the query is s_t; Bahdanau 2015 has s_{{t-1}}, so step {wanted} must be the first"
        return f"{head}; under Bahdanau 2015 step {wanted} must be the first"
    if first == index + 1:
        return f"{head}: the query is s_{{t-1}}; Luong 2015 has s_t, so step {wanted} must be the first"
    return f"{head}; under Luong 2015 step {wanted} must be the first"
