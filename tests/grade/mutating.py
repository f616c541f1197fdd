"""The mutator: one small change to a right solution, with the names of the mistake that it makes.

An operator is a pattern in the text of a solution and what is put there; it is applied at every place, in every right
solution of its assignment. Whether a mutant is wrong at all is not taken on trust: the test runs it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shapedoc.grade.assignment import load

__all__ = ["Mutant", "mutants", "right_solutions"]

_FOLDER = Path(__file__).parent / "solutions"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong solution. names: the mistakes that a first hint may name; solution: the right one that was changed."""

    name: str
    solution: str
    assignment: str
    names: frozenset[str]
    source: str


@dataclass(frozen=True, slots=True)
class Operator:
    """One change, at every place where its pattern is found."""

    names: str
    pattern: str
    new: str

    def apply(self, source: str) -> Iterator[str]:
        """The changed texts that still parse."""
        for match in re.finditer(self.pattern, source, re.MULTILINE):
            changed = source[: match.start()] + match.expand(self.new) + source[match.end() :]
            try:
                ast.parse(changed)
            except SyntaxError:
                continue
            yield changed


def first(function: str, line: str, names: str) -> Operator:
    """A line at the beginning of a function, behind its docstring."""
    head = rf'(^def {function}\(.*\):\n(?:    """(?:.|\n)*?"""\n)?)'
    return Operator(names, head, rf"\g<1>    {line}\n")


_SOFTMAX_AXIS = (
    # In a loop over the batch the first axis is that of the queries, and one row of scores has no second to last.
    Operator("softmax-over-batch softmax-over-queries", r"((?:softmax|logsumexp)\(.*?dim=)(?:-1|2)", r"\g<1>0"),
    Operator(
        "softmax-over-queries softmax-over-batch axis-out-of-range",
        r"((?:softmax|logsumexp)\(.*?dim=)(?:-1|2)",
        r"\g<1>-2",
    ),
)

_MASKED_SOFTMAX = (
    *_SOFTMAX_AXIS,
    Operator("length-one-too-long", r"(arange.*|positions) < ", r"\g<1> <= "),
    Operator("length-one-too-long", r" >= ", " > "),
    Operator("length-one-too-short", r"lengths\[:, None\]", "(lengths - 1)[:, None]"),
    Operator("length-one-too-short", r"lengths\.unsqueeze", "(lengths - 1).unsqueeze"),
    Operator("length-one-too-short", r"in enumerate\(lengths\.tolist", "in enumerate((lengths - 1).tolist"),
    Operator("mask-inverted", r"~keep(?!\.any)", "keep"),
    Operator("mask-inverted", r"(arange.*) >= ", r"\g<1> < "),
    Operator("mask-fills-too-little", r"(?<=masked_fill\(~keep, )lowest", "0.0"),
    Operator("mask-fills-too-little", r"-1e9|-1e30", "-1.0"),
    Operator("mask-fills-too-little mask-after-softmax", r"-1e9|-1e30|-torch\.inf", "1e-9"),
    Operator("mask-fills-too-much mask-inverted", r"-1e9|-1e30", "1e9"),
    Operator("empty-row-uniform", r"weights \* keep  #.*|weights\.masked_fill\(pad, 0\.0\)", "weights"),
    Operator("mask-after-softmax", r"scores\.masked_fill\(~keep, lowest\)", "scores"),
    Operator("mask-after-softmax", r"scores \+ bias", "scores"),
    Operator("one-length-for-all", r"lengths\[:, None\]", "lengths.max()"),
    Operator("one-length-for-all", r"lengths\.unsqueeze\(-1\)", "lengths[:1].unsqueeze(-1)"),
    Operator("log-softmax-returned", r"torch\.softmax", "torch.log_softmax"),
    Operator("log-softmax-returned", r"F\.softmax", "F.log_softmax"),
    Operator("not-normalised", r"exponentials / total.*", "exponentials"),
    first("masked_softmax", "scores = -scores", "scores-negated"),
    first("masked_softmax", "scores = scores / scores.shape[-1] ** 0.5", "scores-scaled"),
    first("masked_softmax", "scores = scores.abs()", "scores-made-positive"),
    first("masked_softmax", "scores = scores.detach()", "graph-cut"),
    first("masked_softmax", "scores = scores.float()", "precision-lost"),
    first("masked_softmax", "lengths = lengths.sort(descending=True).values", "lengths-reordered"),
    first("masked_softmax", "lengths = torch.full_like(lengths, scores.shape[-1])", "mask-never-used"),
    first("masked_softmax", "scores = scores * 0", "scores-ignored"),
    first("masked_softmax", "scores = scores.flip(-1)", "keys-reversed"),
)

_MULTI_HEAD = (
    Operator("softmax-over-queries", r"(softmax\(.*?dim=)(?:-1|2)", r"\g<1>-2"),
    Operator("softmax-over-batch", r"(softmax\(.*?dim=)(?:-1|2)", r"\g<1>0"),
    Operator("softmax-over-heads softmax-over-queries", r"(softmax\(scores, dim=)-1", r"\g<1>1"),
    Operator("softmax-over-heads", r"(\.softmax\(dim=)-1", r"\g<1>1"),
    Operator(
        "heads-split-by-view",
        r"\.view\(B, (T_\w+), n_heads, d_head\)\.transpose\(1, 2\)",
        r".view(B, n_heads, \1, d_head)",
    ),
    Operator(
        "heads-split-by-view",
        r"x\.reshape\(B, x\.size\(1\), n_heads, d_head\)\.permute\(0, 2, 1, 3\)",
        "x.reshape(B, n_heads, x.size(1), d_head)",
    ),
    Operator(
        "heads-interleaved",
        r"\.view\(B, (T_\w+), n_heads, d_head\)\.transpose\(1, 2\)",
        r".view(B, \1, d_head, n_heads).permute(0, 3, 1, 2)",
    ),
    Operator("heads-interleaved", r"slice\(i \* size, \(i \+ 1\) \* size\)", "slice(i, None, n_heads)"),
    Operator("heads-merged-by-view", r"\(weights @ keys\)\.transpose\(1, 2\)", "(weights @ keys)"),
    Operator("heads-merged-by-view", r"context = context\.permute\(0, 2, 1, 3\)", "context = context"),
    Operator("scores-scaled", r"(scores = .*?@.*?\))(?=  #)", r"\g<1> / d_head**0.5"),
    Operator(
        "scores-scaled", r"torch\.bmm\(q, k\.permute\(0, 2, 1\)\)", r"torch.bmm(q, k.permute(0, 2, 1)) / d_h**0.5"
    ),
    Operator("scores-scaled", r"(\"bthd,bshd->bhts\", q), k\)", r"\g<1>, k).div(q.shape[-1] ** 0.5)"),
    Operator("weight-transposed mismatched-product", r"@ W\b", "@ W.T"),
    Operator("weight-transposed mismatched-product", r"matmul\(decoder_states, W\)", "matmul(decoder_states, W.T)"),
    Operator("mismatched-product", r"keys\.transpose\(-2, -1\)|keys\.mT", "keys"),
    Operator("heads-do-not-divide unclear-error", r"if d_h % n_heads != 0", "if d_h < n_heads"),
    Operator("heads-do-not-divide", r"assert d_h % n_heads == 0", "assert d_h > 0"),
    Operator("unclear-error", r"raise ValueError\(.*\)", "raise ValueError"),
    Operator("unclear-error", r"raise ValueError", "raise KeyError"),
    Operator("results-swapped", r"return context, weights", "return weights, context"),
    Operator("result-missing", r"return context, weights", "return context"),
    Operator("weights-averaged", r"return context, weights$", "return context, weights.mean(dim=1)"),
    Operator("values-of-the-query mismatched-product", r"\(weights @ keys\)", "(weights @ queries)"),
    Operator("context-averaged", r"\(weights @ keys\)", "(weights @ keys / T_enc)"),
    Operator("heads-all-alike", r"projected\[\.\.\., part\]", "projected[..., :size]"),
    Operator("heads-averaged", r"torch\.cat\(contexts, dim=-1\)", "torch.stack(contexts).mean(dim=0)"),
    first("multi_head_general", "decoder_states = decoder_states.detach()", "graph-cut"),
)

_SCORERS = (
    Operator("tanh-missing", r"np\.tanh\(|torch\.tanh\(|(?<![\w.])tanh\((?=inside)", "("),
    Operator("another-nonlinearity", r"torch\.tanh\(", "torch.relu("),
    Operator("another-nonlinearity", r"np\.tanh\(", "np.sin("),
    Operator("concat-order-swapped", r"\[repeated, memory\]", "[memory, repeated]"),
    Operator("concat-order-swapped", r"\[state, memory\[:, t\]\]", "[memory[:, t], state]"),
    Operator("difference-for-sum", r"query \+ keys", "query - keys"),
    Operator("difference-for-sum", r"(query\[:, None, :\]) \+ (keys)", r"\1 - \2"),
    Operator("product-for-sum", r"query \+ keys", "query * keys"),
    Operator("product-for-sum mismatched-product", r"state @ W_a\.T \+ memory", "state @ W_a.T * memory"),
    Operator("vector-ignored", r" @ v(?:_a)?$", ".sum(axis=-1)"),
    Operator("vector-ignored", r"\.matmul\(v(?:_a)?\)", ".sum(-1)"),
    Operator("weights-exchanged mismatched-product", r"state, W_a\)\.unsqueeze", "state, U_a).unsqueeze"),
    Operator("weight-transposed mismatched-product", r"state @ W\b", "state @ W.T"),
    Operator("scores-transposed wrong-shape", r"(?<=for t in range\(memory\.shape\[1\]\)\], )axis=1", "axis=0"),
    Operator("axis-kept wrong-shape", r"\.squeeze\(2\)", ""),
    Operator("mean-for-sum", r"np\.sum\(", "np.mean("),
    Operator("mean-for-sum", r"\(state \* memory\[:, t\]\)\.sum", "(state * memory[:, t]).mean"),
    Operator(
        "one-state-for-all",
        r"for s, H in zip\(state, memory\)\]\)$",
        "for s, H in zip(state[:1].repeat(len(memory), 0), memory)])",
    ),
    Operator("projection-missing mismatched-product", r"torch\.matmul\(state, W\)", "state"),
    Operator("state-ignored", r"einsum\(\"bs,as->ba\", state, W_a\)\[:, None\] \+ ", ""),
)

_COPY_TASK = (
    Operator("mask-never-used", r"\.masked_fill\(padding, float\(\"-inf\"\)\)", ""),
    Operator("softmax-over-batch softmax-wrong-axis", r"(softmax\(.*?dim=)-1", r"\g<1>0"),
    Operator("mask-inverted not-finite", r"(padding = .*) >= ", r"\g<1> < "),
    Operator("length-one-too-long padding-has-weight", r"(padding = .*) >= ", r"\g<1> > "),
    Operator("state-not-carried", r"state = self\.cell\((.*), state\)", r"fresh = self.cell(\g<1>, state)"),
    Operator(
        "queries-new-state",
        r"            scores = (.*)\n            alpha = (.*)\n            context = (.*)\n            state = (.*)\n",
        "            context = memory[:, 0]\n            state = \\4\n"
        "            scores = \\1\n            alpha = \\2\n            context = \\3\n",
    ),
    Operator(
        "tanh-missing weights-without-state", r"self\.v_a\(torch\.tanh\((.*)\)\)\.squeeze", r"self.v_a(\1).squeeze"
    ),
    Operator(
        "source-ignored learns-too-little",
        r"context = torch\.bmm.*",
        "context = memory.new_zeros(len(memory), 2 * state.shape[1])",
    ),
    Operator(
        "softmax-twice learns-too-little does-not-learn",
        r"logits\.append\((.*)\)$",
        r"logits.append(torch.softmax(\1, dim=-1))",
    ),
    Operator(
        "does-not-learn",
        r"return torch\.stack\(logits, dim=1\)",
        "return torch.stack(logits, dim=1).detach().requires_grad_()",
    ),
    Operator(
        "padding-reaches-result",
        r"(?s)packed = .*?\n        \)\n        states, last = self\.encoder\(packed\)\n.*?\n",
        "memory, last = self.encoder(self.embedding(source))\n",
    ),
)

_OPERATORS = {
    "masked-softmax": _MASKED_SOFTMAX,
    "multi-head-general": _MULTI_HEAD,
    "scorers": _SCORERS,
    "copy-task": _COPY_TASK,
}


def right_solutions(assignment: str) -> dict[str, str]:
    """The reference of an assignment, and the other right solutions, by name."""
    files = sorted((_FOLDER / assignment).glob("*.py"))
    return {"reference": load(assignment).reference} | {file.stem: file.read_text() for file in files}


def mutants(assignment: str) -> Iterator[Mutant]:
    """Every mutant of every right solution; for the copy task, which trains, of the reference only."""
    for solution, source in right_solutions(assignment).items():
        if assignment == "copy-task" and solution != "reference":
            continue
        for number, operator in enumerate(_OPERATORS[assignment]):
            for place, changed in enumerate(operator.apply(source)):
                names = frozenset(operator.names.split())
                yield Mutant(f"{solution}-{number}-{place}-{min(names)}", solution, assignment, names, changed)
