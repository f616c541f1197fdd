"""Which mistake it is: outputs compared with those of known wrong computations, then the linter, then the fault."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shapedoc.grade.comparing import close, tolerance_of
from shapedoc.grade.draws import Array
from shapedoc.grade.feedback.findings import Look
from shapedoc.grade.oracles import ORACLES, Mistake
from shapedoc.grade.properties.property import Case, Fault, Heard
from shapedoc.grade.result import LintFinding
from shapedoc.grade.trial import Tried

__all__ = ["Diagnosis", "diagnose"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The name of a mistake in the catalogue, and the line where it stands, as far as that is known."""

    mistake: str
    line: int | None = None


# What a kind of fault is called where no wrong computation gives the same numbers.
_BY_FAULT: Mapping[str, str] = {
    "missing": "missing-function",
    "missing_near": "misspelt-name",
    "not_run": "not-reached",
    "too_large": "result-too-large",
    "bad_type": "not-an-array",
    "no_numbers": "not-an-array",
    "nothing": "not-an-array",
    "not_tensor": "not-a-tensor",
    "result_missing": "result-missing",
    "dtype": "precision-lost",
    "shape": "wrong-shape",
    "padding": "padding-has-weight",
    "sum": "weights-do-not-sum",
    "negative": "weights-do-not-sum",
    "not_finite": "not-finite",
    "number": "wrong-number",
    "gradient_none": "graph-cut",
    "gradient_nan": "gradient-nan",
    "gradient": "gradient-wrong",
    "not_refused": "heads-do-not-divide",
    "unclear_refusal": "unclear-error",
    "refuses_all": "refuses-all",
}

# What the linter's rules are called in the catalogue; the first that a submission breaks is taken.
_BY_RULE: Mapping[str, str] = {
    "SD404": "mask-after-softmax",
    "SD503": "mask-never-used",
    "SD501": "mask-inverted",
    "SD505": "mask-added",
    "SD504": "empty-row-nan",
    "SD205": "mask-along-queries",
    "SD401": "softmax-wrong-axis",
    "SD402": "softmax-wrong-axis",
    "SD403": "softmax-wrong-axis",
    "SD405": "scores-scaled",
    "SD406": "softmax-twice",
    "SD407": "context-averaged",
    "SD408": "values-of-the-query",
    "SD601": "heads-split-by-view",
    "SD603": "axes-reversed",
    "SD304": "tanh-missing",
    "SD301": "queries-new-state",
    "SD303": "state-not-carried",
    "SD305": "encoder-state-partial",
    "SD307": "target-not-shifted",
    "SD101": "mismatched-product",
    "SD102": "mismatched-elementwise",
    "SD103": "impossible-view",
    "SD104": "mismatched-join",
    "SD105": "wrong-rank",
    "SD106": "mismatched-module",
    "SD107": "mismatched-state",
    "SD108": "mismatched-loss",
    "SD109": "mismatched-product",
    "SD110": "view-after-transpose",
    "SD111": "axis-out-of-range",
    "SD112": "mask-along-queries",
    "SD201": "one-state-for-all",
    "SD202": "mismatched-elementwise",
    "SD204": "axis-lost",
    "SD206": "axis-lost",
    "SD602": "batch-and-time-exchanged",
    "SD604": "changes-input",
    "SD605": "heads-interleaved",
    "SD606": "normalised-over-wrong-axis",
}

_BY_MESSAGE: Sequence[tuple[str, str]] = (
    (r"in-place operation|modified by an inplace", "changes-input"),
    (r"view size is not compatible|\.contiguous\(\)", "view-after-transpose"),
    (r"size of tensor a|could not be broadcast|doesn't match the broadcast|non-singleton", "mismatched-elementwise"),
    (r"mat1 and mat2|matmul:|must match the size|batch[12]|expected .* to have .* at dimension", "mismatched-product"),
    (r"einsum", "mismatched-product"),
    (r"must match the (existing )?size", "mismatched-elementwise"),
    (r"is invalid for input of size|cannot reshape|divisible|split_with_sizes", "impossible-view"),
    (r"Dimension out of range|axis \d+ is out of bounds|too many indices", "axis-out-of-range"),
    (r"Sizes of tensors must match|concatenat|same number of dimensions", "mismatched-join"),
    (r"requires grad|\.detach\(\)\.numpy|Can't call numpy", "graph-cut"),
    (r"expected (scalar type|m1 and m2)|same dtype|expected .*Float|expected .*Double", "precision-mixed"),
    (r"takes \d+ positional|missing \d+ required|unexpected keyword", "wrong-parameters"),
    (r"has no attribute", "wrong-attribute"),
    (r"not enough values to unpack|too many values to unpack", "wrong-rank"),
    (r"(hidden|input)\[?.*(size|batch)|input\.size\(-1\)", "mismatched-state"),
)
_BY_EXCEPTION: Mapping[str, str] = {
    "NameError": "name-unknown",
    "UnboundLocalError": "name-unknown",
    "AttributeError": "wrong-attribute",
    "ModuleNotFoundError": "module-unknown",
    "ImportError": "module-unknown",
    "NotImplementedError": "not-written",
    "RecursionError": "calls-itself",
    "ZeroDivisionError": "division-by-zero",
}


def diagnose(tried: Sequence[Tried], heard: Heard, seen: Look) -> dict[str, Diagnosis]:
    """The mistake of every failing item, by the item's id.

    Mistakes that the assignment explains itself come first, in its order, and then those of the library:
    A wrong computation of the oracle is taken where it gives the submission's numbers in every failing case of the
    item; of several, the one that also gives them in the most cases of the other items.
    """
    shared = _Known(tried, heard)
    found: dict[str, Diagnosis] = {}
    for one in tried:
        failing = one.failing()
        if not failing:
            continue
        found[one.item.id] = _one(failing, shared, seen)
    return _carried(tried, found)


def _one(failing: list[tuple[Case, Fault]], shared: _Known, seen: Look) -> Diagnosis:
    fault = failing[0][1]
    if not fault.kind.startswith("gradient") and (found := shared.best([case for case, _ in failing])):
        return Diagnosis(found[0], _line(*found, seen))
    if mistake := next((f.values["mistake"] for _, f in failing if "mistake" in f.values), None):
        return Diagnosis(str(mistake), fault.line or _line(str(mistake), "", seen))
    if fault.kind in ("raised", "raised_at"):
        return _of_exception(fault, seen)
    if fault.kind in ("number", "padding", "sum", "negative", "not_finite", "shape", "not_refused"):
        finding = next((f for f in _grave(seen) if f.code in _BY_RULE), None)
        if finding is not None:
            return Diagnosis(_BY_RULE[finding.code], finding.line)
    name = _BY_FAULT.get(fault.kind, "wrong-number")
    return Diagnosis(name, fault.line or _line(name, "", seen))


def _grave(seen: Look) -> list[LintFinding]:
    """The findings that may be the mistake: errors before warnings, in the order of rules above."""
    order = list(_BY_RULE)
    rank = {"error": 0, "warning": 1}
    known = [f for f in seen.findings if f.code in _BY_RULE and f.severity in rank]
    return sorted(known, key=lambda f: (rank[f.severity], order.index(f.code), f.line))


def _of_exception(fault: Fault, seen: Look) -> Diagnosis:
    kind, message = str(fault.values.get("type", "")), str(fault.values.get("message", ""))
    near = [f for f in _grave(seen) if fault.line is None or f.line == fault.line]
    for finding in near or [f for f in _grave(seen) if f.severity == "error"]:
        return Diagnosis(_BY_RULE[finding.code], finding.line)
    for pattern, name in _BY_MESSAGE:
        if re.search(pattern, message):
            return Diagnosis(name, fault.line)
    return Diagnosis(_BY_EXCEPTION.get(kind, "raises"), fault.line)


class _Known:
    """The wrong computations of the oracles, and in how many cases they give what the submission gave."""

    def __init__(self, tried: Sequence[Tried], heard: Heard) -> None:
        self.heard = heard
        self.cases = [
            (case, fault)
            for one in tried
            for case, fault in zip(one.asked.cases, one.faults, strict=True)
            if case.oracle and case.drawn is not None
        ]
        self.told: dict[tuple[str, int], bool] = {}
        self.totals: dict[tuple[str, int], int] = {}
        self.taken: dict[str, list[int]] = {}

    def best(self, failing: list[Case]) -> tuple[str, str] | None:
        """The mistake that explains all of these cases, and most of the others: its name, and the linter's rule."""
        compared = [case for case in failing if case.drawn is not None and self._arrays(case)]
        if not compared or len(compared) < len(failing):
            return None
        return self._own(compared) or self._of_oracle(compared)

    def _own(self, compared: list[Case]) -> tuple[str, str] | None:
        """A mistake that the reference module computes."""
        if self.heard.reference is None:
            return None
        names = [step.split("/mistake/")[1] for step in self.heard.reference.replies if "/mistake/" in step]
        for name in dict.fromkeys(names):
            if all(self._own_explains(case, name) for case in compared):
                return name, ""
        return None

    def _own_explains(self, case: Case, name: str) -> bool:
        assert self.heard.reference is not None
        reply, right = self.heard.reference.replies.get(f"{case.main}/mistake/{name}"), self.heard.right(case)
        if reply is None or reply.status != "ok" or right is None:
            return False
        return self._same(case, reply.arrays, right)

    def _of_oracle(self, compared: list[Case]) -> tuple[str, str] | None:
        """A mistake of the library."""
        if not compared[0].oracle:
            return None
        oracle = compared[0].oracle
        if any(case.oracle != oracle for case in compared):
            return None
        mistakes = list(enumerate(ORACLES[oracle].mistakes))
        # One mistake that explains two items is likelier than two.
        for index in self.taken.get(oracle, []):
            if all(self._explains(case, *mistakes[index]) for case in compared):
                return mistakes[index][1].name, mistakes[index][1].code
        fits = [pair for pair in mistakes if all(self._explains(case, *pair) for case in compared)]
        if not fits:
            return None
        best = max(fits, key=lambda pair: (self._total(oracle, *pair), -pair[0]))
        self.taken.setdefault(oracle, []).append(best[0])
        return best[1].name, best[1].code

    def _total(self, oracle: str, index: int, mistake: Mistake) -> int:
        key = (oracle, index)
        if key not in self.totals:
            same = [case for case, _ in self.cases if case.oracle == oracle and self._arrays(case)]
            self.totals[key] = sum(self._explains(case, index, mistake) for case in same)
        return self.totals[key]

    def _arrays(self, case: Case) -> bool:
        reply = self.heard.reply(case.main)
        return reply.status == "ok" and bool(reply.arrays)

    def _explains(self, case: Case, index: int, mistake: Mistake) -> bool:
        """Whether a mistake gives what the submission gave, and that is wrong."""
        key = (case.id, index)
        if key not in self.told:
            self.told[key] = self._compare(case, mistake)
        return self.told[key]

    def _compare(self, case: Case, mistake: Mistake) -> bool:
        assert case.drawn is not None
        try:
            with np.errstate(all="ignore"):
                wrong = mistake.compute(case.drawn.inputs)
        except ValueError:
            return False
        right = self.heard.right(case)
        return right is not None and self._same(case, tuple(np.asarray(one) for one in wrong), right)

    def _same(self, case: Case, wrong: tuple[Array, ...], right: tuple[Array, ...]) -> bool:
        """Whether the submission gave these numbers, and they are not the right ones."""
        assert case.drawn is not None
        got = self.heard.reply(case.main).arrays
        if len(got) < len(wrong):
            return False
        dtype = next((v.dtype.name for v in map(np.asarray, case.drawn.inputs.values()) if v.dtype.kind == "f"), "")
        tolerance = tolerance_of(dtype)
        if all(close(one, truth, tolerance) for one, truth in zip(wrong, right, strict=False)):
            return False
        return all(close(one, other, tolerance) for one, other in zip(got, wrong, strict=False))


def _carried(tried: Sequence[Tried], found: dict[str, Diagnosis]) -> dict[str, Diagnosis]:
    """Give an item whose own cases say little the mistake that the items of the same function agree on."""
    function = {one.item.id: one.asked.cases[0].function for one in tried if one.asked.cases}
    best: dict[str, Diagnosis] = {}
    for item, diagnosis in found.items():
        known = best.get(function.get(item, ""))
        if known is None or _vague(diagnosis) < _vague(known):
            best[function.get(item, "")] = diagnosis
    for item, diagnosis in found.items():
        known = best[function.get(item, "")]
        if _vague(known) < _vague(diagnosis):
            found[item] = known
    return found


# The names that say little, the vaguest last.
_VAGUE = ("padding-has-weight", "weights-do-not-sum", "not-finite", "gradient-wrong", "refuses-all", "wrong-number")


def _vague(diagnosis: Diagnosis) -> int:
    """How little the name of a mistake says."""
    return _VAGUE.index(diagnosis.mistake) + 1 if diagnosis.mistake in _VAGUE else 0


# Where the linter has no rule for a mistake: the words of a line that is likely to hold it.
_CUES: Sequence[tuple[str, str]] = (
    (r"^(length|one-length|lengths|padding|mask)", r"arange|lengths?\b.*[<>]|mask"),
    (r"^(softmax|log-softmax|empty|not-normalised|no-exp|sigmoid|hard)", r"softmax|\bexp\(|sigmoid|argmax"),
    (r"^(heads|weights-averaged|values)", r"view|reshape|split|chunk|unflatten|n_heads"),
    (r"^(tanh|another|extra)", r"tanh|relu|sigmoid"),
    (r"^(concat)", r"cat\(|concatenate"),
    (r"^(scores-scaled|mean)", r"sqrt|\*\* *-?0\.5|mean\("),
    (r"^(scores|cosine|distance|sum|product|difference|weight|projection)", r"@|einsum|matmul|bmm|dot|\* "),
)


_HEAD = re.compile(r"\s*(def|class|import|from)\b")


def _line(name: str, code: str, seen: Look) -> int | None:
    """The line of a mistake: the linter's, else the only line of the text with the words that go with it."""
    for finding in seen.findings:
        if code and finding.code == code:
            return finding.line
    for mistakes, words in _CUES:
        if re.search(mistakes, name):
            numbered = [(number, text.split("#")[0]) for number, text in enumerate(seen.lines, 1)]
            lines = [n for n, text in numbered if re.search(words, text) and not _HEAD.match(text)]
            return lines[-1] if len(lines) == 1 else None
    return None
