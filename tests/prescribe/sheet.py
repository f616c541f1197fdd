"""An answer sheet for ``prompt --check``: right answers, and wrong ones made of them by one change each.

The right answers take the line of the repair from the header of a broken model; the wrong ones are drawn by a seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from fixtures.exhibit import ROOT, Exhibit, read
from shapedoc.engine import Settings
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.choose import prescribe
from shapedoc.prescribe.regression import regression_test

__all__ = ["RIGHT", "SEED", "Written", "bench_of", "right_answer", "wrong_answers"]

SEED = 20
# Models of which one line is wrong, and which run by themselves.
RIGHT = (
    "sd101_swapped_w_a",
    "sd201_numpy_query_over_batch",
    "sd204_sum_without_keepdims",
    "sd407_summed_over_features",
    "sd110_view_needs_contiguous",
    "sd302_stale_query",
    "sd402_softmax_over_one",
    "sd403_softmax_without_axis",
    "sd601_heads_split_by_reshape",
    "sd108_classes_last",
)


@dataclass(frozen=True, slots=True)
class Written:
    """An answer by its parts; `wrong` is the part that does not hold, "" in a right one."""

    exhibit: str
    kind: str
    wrong: str
    tensor: str
    shape: str
    fix: str
    test: str

    @property
    def text(self) -> str:
        """The answer as it is handed in."""
        parts = (("Tensor", self.tensor), ("Shape", self.shape), ("Fix", self.fix), ("Test", f"\n{self.test}"))
        return "\n".join(f"{name}: {part}" for name, part in parts if part.strip())


def exhibit_of(name: str) -> Exhibit:
    return read(ROOT / "broken" / f"{name}.py")


def bench_of(name: str) -> Bench:
    """A broken model on the bench."""
    exhibit = exhibit_of(name)
    return Bench.of(str(exhibit.path), exhibit.text, Settings())


def right_answer(name: str) -> Written:
    """The right answer for a broken model."""
    exhibit, bench = exhibit_of(name), bench_of(name)
    answer = next(a for a in prescribe(bench) if a.finding.code == exhibit.code)
    finding = answer.finding
    test = regression_test(bench, answer)
    assert test is not None
    right = finding.expected or finding.actual
    line = exhibit.text.splitlines()[finding.span.line - 1]
    place = f", line {finding.span.line}" if finding.tensor in line else ""
    return Written(
        name,
        "right",
        "",
        f"{finding.tensor}{place}" if "," not in finding.tensor else f"`{finding.tensor}`{place}",
        f"is {finding.actual}, should be {right}",
        f"line {exhibit.edited[0]}: {exhibit.fixes[0]}",
        test,
    )


def _hallucinated(answer: Written, rng: random.Random) -> Written:
    return replace(answer, wrong="tensor", tensor=rng.choice(("W_query_proj", "attn_bias", "key_states_2")))


def _wrong_line(answer: Written, rng: random.Random) -> Written:
    name = answer.tensor.partition(", line")[0]
    return replace(answer, wrong="tensor", tensor=f"{name}, line {rng.randint(1, 3)}")


def _wrong_shape(answer: Written, rng: random.Random) -> Written:
    return replace(answer, wrong="shape", shape=f"is (d_model, {rng.choice('TBH')}), should be (T, d_model)")


def _no_shape(answer: Written, rng: random.Random) -> Written:
    return replace(answer, wrong="parts", shape="")


def _no_test(answer: Written, rng: random.Random) -> Written:
    return replace(answer, wrong="parts", test="")


def _no_edit(answer: Written, rng: random.Random) -> Written:
    line = int(answer.fix.split(":")[0].split()[1])
    old = exhibit_of(answer.exhibit).text.splitlines()[line - 1].strip()
    return replace(answer, wrong="fix", fix=f"line {line}: {old}")


def _elsewhere(answer: Written, rng: random.Random) -> Written:
    code = answer.fix.partition(":")[2]
    return replace(answer, wrong="fix", fix=f"line {9000 + rng.randint(0, 99)}:{code}")


def _broadcast(answer: Written, rng: random.Random) -> Written:
    line, _, code = answer.fix.partition(": ")
    name, _, _ = code.partition(" = ")
    stretched = f"{name} = 0 * {name}[None, ...] + 1" if " = " in code else code.replace("[:, None, :]", "[None, :, :]")
    return replace(answer, wrong="fix", fix=f"{line}: {stretched}")


def _cannot_fail(answer: Written, rng: random.Random) -> Written:
    return replace(answer, wrong="test", test=f"def test_it():\n    assert {rng.randint(1, 9)} > 0\n")


def _asserts_nothing(answer: Written, rng: random.Random) -> Written:
    return replace(answer, wrong="test", test="def test_it():\n    print('fine')\n")


def _never_passes(answer: Written, rng: random.Random) -> Written:
    return replace(answer, wrong="test", test="def test_it():\n    assert 1 + 1 == 3\n")


def _does_not_parse(answer: Written, rng: random.Random) -> Written:
    return replace(answer, wrong="test", test="def test_it(:\n    assert True\n")


MUTATIONS: tuple[Callable[[Written, random.Random], Written], ...] = (
    _hallucinated,
    _wrong_line,
    _wrong_shape,
    _no_shape,
    _no_test,
    _no_edit,
    _elsewhere,
    _broadcast,
    _cannot_fail,
    _asserts_nothing,
    _never_passes,
    _does_not_parse,
)


def wrong_answers() -> list[Written]:
    """Eighteen answers, each wrong in one way, and two that are written by hand."""
    rng = random.Random(SEED)
    sources = [right_answer(name) for name in RIGHT]
    made: list[Written] = []
    for index in range(18):
        mutate = MUTATIONS[index % len(MUTATIONS)]
        source = sources[1] if mutate is _broadcast else rng.choice(sources)
        made.append(replace(mutate(source, rng), kind=mutate.__name__.strip("_")))
    query, time = (next(s for s in sources if s.exhibit == name) for name in (RIGHT[1], RIGHT[5]))
    made.append(replace(query, kind="outer", wrong="fix", fix="line 18: return np.tanh(k[:, :, None] + q) @ self.v_a"))
    made.append(replace(time, kind="old_state", wrong="fix", fix=time.fix.replace("(h,", "(h_prev,")))
    return made
