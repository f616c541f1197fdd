"""Which of several candidates is the fix: the one with the fewest edited tokens; two that tie are choices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from shapedoc.core.finding import Finding
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate, proposals
from shapedoc.prescribe.verify import Proof, prove

__all__ = ["Prescribed", "edited_tokens", "prescribe"]

_TOKEN = re.compile(r"\w+|[^\w\s]")
# Beyond this many re-analyses for one finding the search is given up; a file is walked again for each.
_TRIALS = 40


@dataclass(slots=True)
class Prescribed:
    """What can be done about one finding.

    fix: the one that wins. choices: those that tie for it. refused: what would run, and why it is no fix.
    """

    finding: Finding
    fix: Proof | None = None
    choices: list[Proof] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def prescribe(bench: Bench, wanted: Iterable[Finding] | None = None) -> list[Prescribed]:
    """Work out what can be done about the findings of a file (those in `wanted`, else all).

    A fix of one finding that clears another one too is the other one's fix as well, unless that has one that clears
    more: the root is mended, not what follows from it.
    """
    chosen = list(bench.findings if wanted is None else wanted)
    proofs: dict[int, list[Proof]] = {}
    for index, finding in enumerate(bench.findings):
        if finding.path == bench.path and _concerns(finding, chosen):
            proofs[index] = _proofs(bench, finding)
    _joint(bench, proofs)
    picked = [
        _pick(bench, index, finding, proofs) for index, finding in enumerate(bench.findings) if _among(finding, chosen)
    ]
    _agree(bench, picked)
    return picked


def _agree(bench: Bench, picked: Sequence[Prescribed]) -> None:
    """Keep fixes that hold together: the one that clears most first, then of each other finding one that goes with it.

    What goes with none of its candidates is taken back, and said; another run may find it mended, or mend it.
    """
    fixes = list({one.fix.text: one.fix for one in picked if one.fix is not None}.values())
    if len(fixes) < 2 or _hold(bench, fixes):
        return
    kept = [max(fixes, key=lambda proof: len(proof.cleared))]
    for one in picked:
        if one.fix is None or one.fix.text in {proof.text for proof in kept}:
            continue
        other = _going_with(bench, one, kept)
        if other is None:
            one.refused.append(f"{one.fix.candidate.description}: does not go with the fix of another finding")
        else:
            kept.append(other)
        one.fix = other


def _going_with(bench: Bench, one: Prescribed, kept: Sequence[Proof]) -> Proof | None:
    """The cheapest fix of a finding that holds by itself and together with those that are kept."""
    priced = sorted((_cost(bench, c), -c.known, i, c) for i, c in enumerate(proposals(bench, one.finding)))
    for *_, candidate in priced[:_TRIALS]:
        proof = prove(bench, candidate, one.finding)
        if proof is not None and not proof.refused and _hold(bench, [*kept, proof]):
            return proof
    return None


def _hold(bench: Bench, fixes: Sequence[Proof]) -> bool:
    """Whether several fixes, all made, clear what each of them clears and bring nothing new."""
    edits = tuple(dict.fromkeys(edit for proof in fixes for edit in proof.candidate.edits))
    wanted = {index for proof in fixes for index in proof.cleared}
    joint = prove(bench, Candidate(edits, "", exact=True), bench.findings[min(wanted)])
    return joint is not None and wanted <= joint.cleared


def _concerns(finding: Finding, chosen: Sequence[Finding]) -> bool:
    return any(finding.function.partition(".")[0] == one.function.partition(".")[0] for one in chosen) or _among(
        finding, chosen
    )


def _among(finding: Finding, chosen: Sequence[Finding]) -> bool:
    return any(finding.code == one.code and finding.span == one.span for one in chosen)


def _proofs(bench: Bench, finding: Finding) -> list[Proof]:
    """The candidates that hold, the cheapest first; those that cost more than the first are not tried."""
    priced = sorted(((_cost(bench, c), -c.known, i, c) for i, c in enumerate(proposals(bench, finding))))
    found: list[Proof] = []
    least: tuple[int, int] | None = None
    for cost, unknown, _, candidate in priced[:_TRIALS]:
        if least is not None and (cost, unknown) > least:
            break
        proof = prove(bench, candidate, finding)
        if proof is not None:
            found.append(proof)
            if not proof.refused:
                least = (cost, unknown)
    return found


def _joint(bench: Bench, proofs: dict[int, list[Proof]]) -> None:
    """Several findings of one rule in one function that only a change at all their places clears."""
    groups: dict[tuple[str, str], list[int]] = {}
    for index in proofs:
        finding = bench.findings[index]
        groups.setdefault((finding.code, finding.function), []).append(index)
    for members in groups.values():
        if len(members) < 2 or all(proofs[index] for index in members):
            continue
        for row in zip(*(list(proposals(bench, bench.findings[index])) for index in members), strict=False):
            edits = tuple(dict.fromkeys(edit for candidate in row for edit in candidate.edits))
            proof = prove(bench, Candidate(edits, row[0].description), bench.findings[members[0]])
            if proof is not None and all(index in proof.cleared for index in members):
                proofs[members[0]].append(proof)


def _pick(bench: Bench, index: int, finding: Finding, proofs: Mapping[int, Sequence[Proof]]) -> Prescribed:
    every = [proof for found in proofs.values() for proof in found if index in proof.cleared]
    refused = list(dict.fromkeys(proof.refused for proof in every if proof.refused))
    good = [proof for proof in every if not proof.refused]
    if not good:
        return Prescribed(finding, refused=refused)
    most = max(len(proof.cleared) for proof in good)
    priced = [(_cost(bench, proof.candidate), proof) for proof in good if len(proof.cleared) == most]
    least = min(cost for cost, _ in priced)
    cheap = [proof for cost, proof in priced if cost == least]
    known = max(proof.candidate.known for proof in cheap)
    ahead = {proof.text: proof for proof in reversed(cheap) if proof.candidate.known == known}
    if len(ahead) > 1 and not _alike(list(ahead.values())):
        return Prescribed(finding, choices=list(ahead.values()), refused=refused)
    return Prescribed(finding, fix=next(iter(ahead.values())), refused=refused)


def _alike(proofs: Sequence[Proof]) -> bool:
    """Whether candidates of one kin lead to the same shapes everywhere."""
    kin = {proof.candidate.kin for proof in proofs}
    return len(kin) == 1 and "" not in kin and len({_shapes(proof) for proof in proofs}) == 1


def _shapes(proof: Proof) -> tuple[str, ...]:
    trace = proof.after.trace
    made = {}
    for event in trace.events:
        if event.shape is not None and event.sizes is not None and event.target:
            made[event.op, event.function, event.target] = event.sizes.show_shape(event.sizes.shape(event.shape))
    return tuple(sorted(f"{key} {shape}" for key, shape in made.items()))


def edited_tokens(before: str, after: str) -> int:
    """How many tokens are taken out and put in where one text becomes the other."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    same = sum(block.size for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks())
    return len(old) + len(new) - 2 * same


def _cost(bench: Bench, candidate: Candidate) -> int:
    tokens = sum(edited_tokens(bench.syntax.source(edit.span), edit.text) for edit in candidate.edits)
    return tokens + candidate.aside
