"""Marking, in two pure steps around the jail: what is to be run, and what came of it.

`prepare` draws the inputs and gives the plan; the jail runs it; `mark` compares raw arrays. The same assignment,
submission, seed and arrays give the same result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from shapedoc.grade.assignment import Assignment, Language
from shapedoc.grade.draws import generator
from shapedoc.grade.feedback.diagnosis import Diagnosis, diagnose
from shapedoc.grade.feedback.evidence import evidence_of
from shapedoc.grade.feedback.findings import Look, look
from shapedoc.grade.feedback.hints import fix_of, hint_of
from shapedoc.grade.feedback.pictures import pictures_of
from shapedoc.grade.framework import framework_of
from shapedoc.grade.messages import say, tell
from shapedoc.grade.plan import Framework, Outcome, Plan, Step
from shapedoc.grade.properties import merged, properties
from shapedoc.grade.properties.property import Case, Heard, Property, Setting
from shapedoc.grade.result import GradedSubmission, ItemResult, ItemStatus, Pictures, Status
from shapedoc.grade.trial import Asked, Tried

__all__ = ["Prepared", "ReferenceFailed", "mark", "not_run", "prepare"]


class ReferenceFailed(RuntimeError):
    """The reference module did not give what is right: a fault of the assignment or the machine, not the student's."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A submission's inputs. plan: for the submission; reference: for the reference module, where one is needed.

    reference_key: plans of the reference with one key are the same, and one outcome serves them all.
    """

    assignment: Assignment
    name: str
    seed: int
    framework: Framework
    asked: tuple[Asked, ...]
    plan: Plan
    reference: Plan | None
    reference_key: str


def prepare(assignment: Assignment, *, name: str, seed: int, source: str = "") -> Prepared:
    """Draw the inputs of one submission from the seed and its name.

    source: its text; where the assignment takes torch and NumPy alike, its imports decide.
    """
    framework = framework_of(assignment.framework, source)
    library = properties()
    asked: list[Asked] = []
    for item in assignment.items:
        rng = generator(seed, name, f"{assignment.digest}/{item.id}")
        setting = Setting(assignment, item, merged(assignment, item), framework, rng, name, seed)
        asked.append(Asked(setting, tuple(library[item.property].cases(setting))))
    cases = [case for one in asked for case in one.cases]
    number = int(generator(seed, name, "plan").integers(1 << 31))
    right = _steps(step for case in cases for step in _reference_steps(case))
    owner = "" if all(case.facts.get("shared") for case in cases if _reference_steps(case)) else name
    return Prepared(
        assignment,
        name,
        seed,
        framework,
        tuple(asked),
        Plan(_steps(step for case in cases for step in case.steps), number),
        Plan(right, seed) if right else None,
        f"{assignment.digest}/{seed}/{framework}/{owner}",
    )


def _reference_steps(case: Case) -> tuple[Step, ...]:
    """What the reference module is run on for a case: the same, where no oracle knows it, and what the case adds."""
    extra = case.facts.get("reference", ())
    same = case.steps if case.expected is None and not case.facts.get("alone") else ()
    return (*same, *extra) if isinstance(extra, tuple) else same


def _steps(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Each step once: cases may share one. Training and what follows it come last: a time limit costs only them."""
    once: dict[str, Step] = {}
    for step in steps:
        once.setdefault(step.id, step)
    return tuple(sorted(once.values(), key=lambda step: step.id.startswith("train")))


def mark(
    prepared: Prepared,
    outcome: Outcome,
    reference: Outcome | None = None,
    *,
    source: str | None = None,
    language: Language = "en",
    lint: bool = True,
    feedback: bool = True,
) -> GradedSubmission:
    """Marks for what came back, with evidence, hints and pictures.

    source: the submission's text, as it was run. lint: look at it with the linter too. feedback: False gives the marks
    alone.

    Raises ReferenceFailed where the reference module, or its child, did not do its part.
    """
    heard = Heard(outcome, reference)
    _reference_done(prepared, heard)
    library = properties()
    tried = [_tried(library[asked.setting.item.property], asked, heard) for asked in prepared.asked]
    seen = look(source, language) if lint and source is not None else Look(lines=tuple((source or "").splitlines()))
    explained = diagnose(tried, heard, seen) if feedback else {}
    items = _once(tuple(_item(one, explained.get(one.item.id), seen, language, outcome) for one in tried), language)
    assignment = prepared.assignment
    return GradedSubmission(
        name=prepared.name,
        assignment=assignment.name,
        title=assignment.text(assignment.title, language),
        seed=prepared.seed,
        language=language,
        status=_status(outcome, items),
        items=items,
        score=round(sum(item.points for item in items), 4),
        max_score=assignment.max_score,
        findings=seen.findings,
        pictures=pictures_of(tried, heard, seen, language) if feedback else Pictures(),
        message=_message(outcome, language),
        digest=assignment.digest,
        execution_time_s=round(outcome.seconds, 3),
    )


def not_run(
    assignment: Assignment, *, name: str, seed: int, status: Status, message: str, language: Language = "en"
) -> GradedSubmission:
    """The result of a submission that nothing was run of: no points, and why."""
    items = tuple(
        ItemResult(
            id=item.id,
            title=assignment.text(item.title, language),
            says=assignment.text(item.says, language),
            status="not_run",
            points=0.0,
            max_points=item.points,
            visibility=item.visibility,
            hint_level=item.hint,
            reason=message,
        )
        for item in assignment.items
    )
    return GradedSubmission(
        name=name,
        assignment=assignment.name,
        title=assignment.text(assignment.title, language),
        seed=seed,
        language=language,
        status=status,
        items=items,
        score=0.0,
        max_score=assignment.max_score,
        message=message,
        digest=assignment.digest,
    )


def _reference_done(prepared: Prepared, heard: Heard) -> None:
    if prepared.reference is None:
        return
    if heard.reference is None or heard.reference.status != "done":
        ended = heard.reference.message or heard.reference.status if heard.reference is not None else "was not run"
        raise ReferenceFailed(f"{prepared.assignment.name}: the reference module: {ended}")
    for step in prepared.reference.steps:
        if "/mistake/" in step.id:
            continue
        reply = heard.reference.replies.get(step.id)
        if reply is None or reply.status != "ok":
            why = f"raises {reply.raised.type}: {reply.raised.message}" if reply and reply.raised else "gives nothing"
            raise ReferenceFailed(f"{prepared.assignment.name}: the reference module {why} (step {step.id})")


def _tried(library: Property, asked: Asked, heard: Heard) -> Tried:
    loaded = heard.outcome.loaded
    if loaded.status == "raised":
        from shapedoc.grade.properties.asking import raised

        return Tried(asked, tuple(raised(loaded) for _ in asked.cases))
    return Tried(asked, tuple(library.judge(asked.setting, case, heard) for case in asked.cases))


def _item(one: Tried, diagnosis: Diagnosis | None, seen: Look, language: Language, outcome: Outcome) -> ItemResult:
    item, cases = one.item, len(one.faults)
    share = one.right / cases if cases else 0.0
    if item.partial == "none":
        share = float(share == 1.0)
    smallest = one.smallest()
    status: ItemStatus = "passed" if smallest is None else "partial" if share else "failed"
    if smallest is not None and smallest[1].kind == "not_run":
        status = "partial" if share else "not_run"
    evidence, reason = None, ""
    if smallest is not None:
        reason = say(language, "fault.not_reached", why=_message(outcome, language)) if status == "not_run" else ""
        if diagnosis is not None and smallest[1].kind != "not_run":
            own = one.asked.setting.assignment.mistakes.get(diagnosis.mistake)
            what = one.asked.setting.assignment.text(own.title, language) if own else ""
            evidence = evidence_of(*smallest, diagnosis, seen, language, what)
    mistake = diagnosis.mistake if diagnosis is not None else ""
    own = one.asked.setting.assignment.mistakes.get(mistake)
    explained = (hint_of(mistake, language), fix_of(mistake, language))
    if own is not None:
        explained = (one.asked.setting.assignment.text(own.hint, language), own.fix)
    return ItemResult(
        id=item.id,
        title=one.asked.setting.assignment.text(item.title, language),
        says=one.asked.setting.assignment.text(item.says, language),
        status=status,
        points=round(item.points * share, 4),
        max_points=item.points,
        visibility=item.visibility,
        hint_level=item.hint,
        reason=reason,
        evidence=evidence,
        hint=explained[0],
        fix=explained[1],
        mistake=mistake,
        cases=cases,
        right=one.right,
    )


def _once(items: tuple[ItemResult, ...], language: Language) -> tuple[ItemResult, ...]:
    """The hint for a mistake once, at the first item that a student sees it at; the others point there."""
    first: dict[str, str] = {}
    told: list[ItemResult] = []
    for item in items:
        shown = item.visibility == "visible" and item.hint_level in ("line", "fix")
        if item.mistake in first and item.hint:
            told.append(replace(item, hint=say(language, "fault.same", title=first[item.mistake]), fix=""))
            continue
        if shown and item.hint:
            first[item.mistake] = item.title
        told.append(item)
    return tuple(told)


def _status(outcome: Outcome, items: Sequence[ItemResult]) -> Status:
    if outcome.status != "done":
        return outcome.status
    return "passed" if all(item.status == "passed" for item in items) else "failed"


def _message(outcome: Outcome, language: Language) -> str:
    """What ended the child, or what its import raised; nothing where it ran to the end."""
    loaded = outcome.loaded
    if outcome.status == "done" and loaded.status == "raised" and loaded.raised is not None:
        told = loaded.raised
        key = "fault.load_at" if told.line is not None else "fault.load"
        return say(language, key, type=told.type, message=" ".join(told.message.split()), line=told.line)
    if outcome.status == "done":
        return ""
    return tell(language, outcome.cause) if outcome.cause else say(language, f"fault.ended.{outcome.status}")
