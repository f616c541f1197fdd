"""Fixes: proved by another analysis, refused where they only broadcast, written whole or not at all."""

from __future__ import annotations

import pytest

from fixtures.exhibit import ROOT
from shapedoc.core.fix import Edit, apply_edits, solid
from shapedoc.core.span import Span
from shapedoc.engine import Settings
from shapedoc.prescribe.attach import SAFE, fix_of
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import proposers
from shapedoc.prescribe.chains import chain_of
from shapedoc.prescribe.choose import Prescribed, edited_tokens, prescribe
from shapedoc.prescribe.diagnosis import NoSuchName, diagnose
from shapedoc.prescribe.prompting import NoRoom, render_prompt
from shapedoc.rules import all_rules
from tests.cli.project import Project

# A broken model, and the line that the fix writes.
FIXED = {
    "sd101_no_key_transpose": "scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)",
    "sd103_float_head_size": "self.d_k = d_model // num_heads",
    "sd106_one_direction_counted": "self.decoder = BahdanauDecoder(n_words, d_emb, d_s, 2 * d_enc, d_attn)",
    "sd108_classes_last_plain": "return nn.functional.cross_entropy(logits.transpose(1, 2), target[:, 1:])",
    "sd110_view_needs_contiguous": "y = y.transpose(1, 2).reshape(B, T, C)",
    "sd201_query_without_time_axis_plain": "combined = torch.tanh(projected_enc + projected_dec.unsqueeze(1))",
    "sd204_softmax_without_keepdims": "return e / e.sum(axis=axis, keepdims=True)",
    "sd206_squeeze_scores": "scores = torch.bmm(encoder_states, projected_dec.unsqueeze(2)).squeeze(2)",
    "sd304_no_tanh_plain": "combined = torch.tanh(projected_enc + projected_dec.unsqueeze(1))",
    "sd306_swapped_pair": "out, (h, c) = self.lstm(x, (h, c))",
    "sd401_softmax_over_queries_plain": "weights = F.softmax(scores, dim=2)",
    "sd405_multiplied_by_root": 'energy = torch.einsum("nqhd,nkhd->nhqk", q, k) / d**0.5',
    "sd406_softmax_into_cross_entropy_plain": "return self.output(states)",
    "sd407_mean_of_weighted": "return (alpha * out).sum(dim=1)",
    "sd408_scores_from_values": 'energy = torch.einsum("nqhd,nkhd->nhqk", q, k) / d**0.5',
    "sd501_keeps_padding": "src_pad = src == self.pad",
    "sd502_hides_present": "causal = torch.triu(torch.ones(T, T), diagonal=1).bool()",
    "sd505_mask_added": 'scores = scores.masked_fill(~mask, float("-inf"))',
    "sd601_merge_without_transpose": "return x.transpose(1, 2).reshape(batch_size, T, self.n_heads * self.d_head)",
    "sd602_time_first_by_default": "self.gru = nn.GRU(emb, hidden, batch_first=True)",
    "sd603_dot_t_on_three_axes": "scores = query @ key.transpose(0, 2, 1) / np.sqrt(d_head)",
    "sd605_mask_heads_outside": 'mask = repeat(mask, "b j -> (b h) 1 j", h=self.heads)',
}


def bench_of(name: str) -> Bench:
    path = ROOT / "broken" / f"{name}.py"
    return Bench.of(str(path), path.read_text(encoding="utf-8"), Settings())


def answer_of(name: str) -> tuple[Bench, Prescribed]:
    bench = bench_of(name)
    return bench, next(a for a in prescribe(bench) if a.finding.code.lower() == name[:5])


@pytest.mark.parametrize("name", FIXED)
def test_the_fix_writes_the_line_that_is_right(name: str) -> None:
    bench, answer = answer_of(name)
    assert answer.fix is not None
    new = set(answer.fix.text.splitlines()) - set(bench.text.splitlines())
    assert [line.partition("  # <- ")[0].strip() for line in new] == [FIXED[name]]
    fix = fix_of(bench.text, answer.finding, answer)
    assert fix is not None
    assert apply_edits(bench.text, fix.edits) == answer.fix.text


def test_what_only_broadcasts_is_refused_and_said() -> None:
    _, answer = answer_of("sd202_error_against_every_row")
    assert "`unsqueeze(0)` would run, by broadcasting 4 against B; not a fix" in answer.refused


def test_no_fix_for_right_code() -> None:
    for path in sorted((ROOT / "correct" / "plain").glob("*.py")):
        assert prescribe(Bench.of(str(path), path.read_text(encoding="utf-8"), Settings())) == []


def test_tokens_that_stay_cost_nothing() -> None:
    assert edited_tokens("k", "k.transpose(-2, -1)") == 9
    assert edited_tokens("dim=1", "dim=2") == 2


def test_an_insertion_made_twice_wants_the_same_text() -> None:
    (edit,) = solid("f(x)", [Edit(Span(1, 3, 1, 3), ", dim=1")])
    assert edit == Edit(Span(1, 2, 1, 3), "x, dim=1")


def test_a_name_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(NoSuchName, match=r"there is no `Decoder` in .*; there are: softmax, attention"):
        diagnose(bench_of("sd502_shows_next"), "Decoder")


def test_the_chain_leads_from_the_fault_to_where_the_sizes_were_made() -> None:
    bench = bench_of("sd101_no_key_transpose")
    chain = chain_of(bench, bench.findings[0])
    assert chain[0].line == 60
    assert chain[-1].shape == "(batch_size, T_enc, d_model)"


def test_a_prompt_keeps_to_its_length_and_to_the_lines_near_the_fault() -> None:
    bench = bench_of("sd101_no_key_transpose")
    whole = render_prompt(bench)
    short = render_prompt(bench, max_chars=len(whole) - 1000)
    assert len(short) <= len(whole) - 1000
    assert "  60  " in short
    assert "[...]" in short


def test_a_prompt_that_cannot_be_so_short_says_how_long_it_must_be() -> None:
    bench = bench_of("sd101_no_key_transpose")
    with pytest.raises(NoRoom, match=r"without any code; --max-chars takes (\d+) or more") as problem:
        render_prompt(bench, max_chars=100)
    least = int(str(problem.value).rsplit(" ", 3)[1])
    assert len(render_prompt(bench, max_chars=least)) <= least


WRONG = "import torch\n\nx = torch.randn(2, 3, 5).transpose(1, 2)  # kept\ny = x.view(2, 15)\n"


def test_safe_fixes_are_written_and_the_rest_is_left(project: Project) -> None:
    place = project.write("a.py", WRONG.replace("\n", "\r\n"))
    ran = project.run("lint", "--fix", "--no-cache", "a.py")
    assert place.read_bytes().decode() == WRONG.replace("x.view", "x.reshape").replace("\n", "\r\n")
    assert "mended 1 finding" in ran.stderr
    assert ran.returncode == 0


def test_a_diff_changes_nothing(project: Project) -> None:
    place = project.write("a.py", WRONG)
    ran = project.run("lint", "--diff", "--no-cache", "a.py")
    assert "+y = x.reshape(2, 15)" in ran.stdout
    assert place.read_text(encoding="utf-8") == WRONG
    assert ran.returncode == 1


def test_what_changes_results_waits_for_unsafe_fixes(project: Project) -> None:
    text = (ROOT / "broken" / "sd401_softmax_over_queries_plain.py").read_text(encoding="utf-8")
    place = project.write("a.py", text)
    assert "1 more with --unsafe-fixes" in project.run("lint", "--fix", "--no-cache", "a.py").stderr
    assert place.read_text(encoding="utf-8") == text
    project.run("lint", "--fix", "--unsafe-fixes", "--no-cache", "a.py")
    assert "F.softmax(scores, dim=2)" in place.read_text(encoding="utf-8")


def test_what_a_rule_says_of_its_fix_is_so() -> None:
    """A page says that a fix is safe, or unsafe, or that none is offered; and fixes are proposed where it says so."""
    for rule in all_rules():
        said = rule.fix.partition(" ")[0].strip(":,")
        offered = proposers(rule.code) > 0
        assert said == (("Safe" if rule.code in SAFE else "Unsafe") if offered else "No"), rule.code


def test_fixes_are_the_same_from_several_processes(project: Project) -> None:
    for name in ("sd101_no_key_transpose", "sd401_softmax_over_queries_plain"):
        project.write(f"{name}.py", (ROOT / "broken" / f"{name}.py").read_text(encoding="utf-8"))
    alone = project.report("--no-cache", "--jobs", "1")
    assert [bool(finding["fix"]) for finding in alone["findings"]] == [True, True]
    assert project.report("--no-cache", "--jobs", "2") == alone
