"""Results of marking for tests of exports and pages: one of each kind, and hostile ones drawn by Hypothesis."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from shapedoc.grade.assignment import Language
from shapedoc.grade.result import (
    Accuracy,
    Evidence,
    GradedSubmission,
    ItemResult,
    LintFinding,
    Pictures,
    Value,
    Weights,
)

__all__ = ["CLASS", "FAILED", "HOSTILE", "NOT_GRADABLE", "PASSED", "hostile_results", "hostile_text"]

_HINT = (
    "Look at the order of two steps. A softmax turns a row of scores into weights that sum to one, and it does so over "
    "every key that it gets, padding too. If the mask is applied to the weights afterwards, padding has already taken "
    "its part of the sum, so the row no longer sums to one, or padding keeps a weight. Apply the mask to the scores "
    "instead: put negative infinity where a key is padding, with `masked_fill`, and only then take the softmax over "
    "the last axis. The exponential of negative infinity is zero, so these keys get no weight, and what is left sums "
    "to one by itself."
)
_FLOW = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 60" width="300" height="60"><title>shape flow of '
    'masked_softmax</title><rect width="100%" height="100%" fill="#ffffff"/><text x="10" y="20">scores</text></svg>'
)

FAILED = GradedSubmission(
    name="li_wei.py",
    assignment="masked-softmax",
    title="Masked softmax",
    seed=7,
    language="en",
    status="failed",
    items=(
        ItemResult(
            "shape", "The weights have the shape of the scores", "Weights are shaped as scores.", "passed", 1, 1
        ),
        ItemResult(
            "padding",
            "Padding gets no weight",
            "A key at or past the length of its row has weight 0, exactly.",
            "partial",
            1.5,
            3.0,
            evidence=Evidence(
                "Row 2 has length 3, yet key 4 got weight 0.21; it must be 0. The mask is applied after the softmax, "
                "line 14.",
                "masked_softmax(scores, lengths)",
                (
                    Value("scores", "[[0.5, 1.5, 0.25, -1, 0.75]]", (1, 5), "float32"),
                    Value("lengths", "[3]", (1,), "int64"),
                ),
                Value("weights", "[[0.15, 0.42, 0.12, 0.1, 0.21]]", (1, 5), "float32"),
                Value("weights", "[[0.22, 0.61, 0.17, 0, 0]]", (1, 5), "float32"),
                0.21,
                14,
                "    return torch.softmax(scores, dim=-1) * mask",
            ),
            hint=_HINT,
            fix="scores.masked_fill(~mask, float('-inf')).softmax(dim=-1)",
            mistake="mask-after-softmax",
            cases=6,
            right=3,
        ),
        ItemResult(
            "empty",
            "A row without keys",
            "A row of length 0 has weights of 0, not NaN.",
            "failed",
            0,
            2,
            visibility="hidden",
            evidence=Evidence("SECRET row of length 0 gives nan"),
            hint="SECRET hint",
            mistake="secret-mistake",
        ),
        ItemResult(
            "gradient",
            "Gradients flow",
            "Gradients agree with finite differences.",
            "failed",
            0,
            2,
            visibility="after_due_date",
            evidence=Evidence("LATER the gradient of key 4 is 0.3"),
        ),
        ItemResult("dtype", "float64", "Works in float64.", "not_run", 0, 1, reason="An earlier step took too long."),
    ),
    score=2.5,
    max_score=9,
    findings=(
        LintFinding(
            "SD404",
            "mask-after-softmax",
            "error",
            14,
            12,
            "the weights are masked after the softmax and not renormalised",
            "    return torch.softmax(scores, dim=-1) * mask",
            "torch.softmax(scores.masked_fill(~mask, float('-inf')), dim=-1)",
        ),
    ),
    pictures=Pictures(
        (
            Weights(
                "padding",
                "Row 2",
                ((0.15, 0.42, 0.12, 0.10, 0.21),),
                ((0.22, 0.61, 0.17, 0.0, 0.0),),
                ((False, False, False, True, True),),
                ("row 2",),
            ),
            Weights("empty", "SECRET", ((float("nan"),),), ((0.0,),)),
        ),
        (Accuracy("shape", "Accuracy", (10, 20), (0.99, 0.3), (0.46, 0.2), (0.95, 0.45)),),
        _FLOW,
    ),
    digest="ab12",
    execution_time_s=1.25,
)
PASSED = GradedSubmission(
    name="o'hara, anne.ipynb",
    assignment="masked-softmax",
    title="Masked softmax",
    seed=7,
    language="en",
    status="passed",
    items=tuple(
        replace(i, status="passed", points=i.max_points, evidence=None, hint="", fix="", mistake="", reason="")
        for i in FAILED.items
    ),
    score=9,
    max_score=9,
)
NOT_GRADABLE = replace(
    FAILED,
    name="=cmd|' /C calc'!A0.py",
    status="not_gradable",
    items=tuple(
        replace(i, status="not_run", points=0.0, evidence=None, hint="", fix="", mistake="") for i in FAILED.items
    ),
    score=0,
    findings=(),
    pictures=Pictures(),
    message="line 3: '(' was never closed",
)
_NASTY = (
    '=HYPERLINK("http://evil.example","x")',
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\x1b[2J\x1b]0;owned\x07\x9b31m",
    "a\x00b\ud800c\udfff\ufffe\uffff",
    "x\u202egnp.exe",
    "]]><!--",
    "`` ` ``` \n# h\n[a](javascript:alert(1)) ![i](http://evil.example/x.png) <b> $x$",
    "../../../etc/passwd",
    '@SUM(1+1)*cmd|" /C calc"!A0',
    'a,b\r\n"c";d\te',
    "{0} {name} %s {{",
    "注意力",
    "",
)


def hostile_text() -> st.SearchStrategy[str]:
    """Texts with what means something to one of the formats, and any characters at all."""
    anything = st.text(st.characters(exclude_categories=()), max_size=30)
    return st.one_of(
        st.sampled_from(_NASTY),
        anything,
        st.tuples(st.sampled_from(_NASTY), anything, st.sampled_from(_NASTY)).map("".join),
    )


def hostile_results() -> st.SearchStrategy[GradedSubmission]:
    """A submission every text of which is hostile."""

    def made(texts: list[str], language: Language, weight: float) -> GradedSubmission:
        t = iter(texts * 3)
        value = Value(next(t), next(t), (1, 2), next(t))
        item = replace(
            FAILED.items[1],
            title=next(t),
            says=next(t),
            reason=next(t),
            hint=next(t),
            fix=next(t),
            mistake=next(t),
            evidence=Evidence(next(t), next(t), (value, value), value, value, weight, 3, next(t)),
        )
        hidden = replace(FAILED.items[2], title=next(t), says=next(t))
        picture = Weights(
            item.id, next(t), ((weight, 0.5),), ((0.5, 0.5),), ((False, True),), (next(t),), ("", next(t))
        )
        curve = Accuracy(item.id, next(t), (1, 2), (weight, 0.5), (0.1, weight), (0.5, 0.5))
        return replace(
            FAILED,
            name=next(t),
            title=next(t),
            message=next(t),
            language=language,
            items=(item, hidden),
            findings=(LintFinding("SD404", next(t), "error", 2, 3, next(t), next(t), next(t)),),
            pictures=Pictures((picture,), (curve,), next(t)),
        )

    numbers = st.sampled_from([0.25, float("nan"), float("inf"), -1e300, 0.0])
    return st.builds(made, st.lists(hostile_text(), min_size=12, max_size=12), st.sampled_from(["en", "zh"]), numbers)


HOSTILE = tuple(
    replace(FAILED, name=text, title=text, message=text, items=(replace(FAILED.items[1], title=text, says=text),))
    for text in _NASTY
)


CLASS = (FAILED, PASSED, NOT_GRADABLE)
