"""The four things that a person needs of a finding: tensor, shape, fix and test, with what each rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from shapedoc.core.finding import Finding
from shapedoc.core.text import split_lines
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.chains import chain_of
from shapedoc.prescribe.choose import Prescribed, prescribe
from shapedoc.prescribe.execution import Verdict
from shapedoc.prescribe.proving import proved_test
from shapedoc.prescribe.regression import regression_test

__all__ = ["Diagnosis", "NoSuchName", "diagnose", "lines_of", "names_in", "within"]


class NoSuchName(LookupError):
    """A name that is not in the file; the text lists those that are."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A finding with what can be done about it, and what running the test showed.

    reason: why there is no test, or "".
    """

    answer: Prescribed
    test: str | None
    executed: Verdict | None = None
    reason: str = ""


def names_in(bench: Bench) -> list[str]:
    """The classes, methods and functions of a file, in its order."""
    found: list[str] = []
    for node in bench.syntax.lowered.tree.body:
        found += _names(node, "")
    return found


def _names(node: cst.CSTNode, prefix: str) -> Iterator[str]:
    if isinstance(node, cst.FunctionDef):
        yield prefix + node.name.value
    elif isinstance(node, cst.ClassDef):
        yield prefix + node.name.value
        for inner in node.body.body:
            yield from _names(inner, f"{prefix}{node.name.value}.")


def diagnose(
    bench: Bench, name: str = "", *, execute: bool = False, given: Mapping[str, str] | None = None
) -> list[Diagnosis]:
    """Diagnose every finding of a file, or those in one class or function.

    given: expressions for parameters of constructors and calls, by name. Raises NoSuchName for a name, or a parameter,
    that the file has not.
    """
    names = names_in(bench)
    if name and name not in names:
        raise NoSuchName(f"there is no `{name}` in {bench.path}; there are: {', '.join(names) or 'none'}")
    known = {p.name.value for f in bench.syntax.functions() for p in (*f.params.params, *f.params.kwonly_params)}
    for one in given or {}:
        if one not in known:
            there = ", ".join(sorted(known - {"self"})) or "none"
            raise NoSuchName(f"no function in {bench.path} takes `{one}`; parameters there: {there}")
    wanted = [f for f in bench.findings if not name or within(f, name)]
    done: list[Diagnosis] = []
    for answer in prescribe(bench, wanted):
        if execute:
            proved = proved_test(bench, answer, given or {})
            done.append(Diagnosis(answer, proved.test, proved.verdict, proved.reason))
        else:
            done.append(Diagnosis(answer, regression_test(bench, answer)))
    return done


def within(finding: Finding, name: str) -> bool:
    """Whether a finding lies in a class or function."""
    return finding.function == name or finding.function.startswith(f"{name}.")


def lines_of(bench: Bench, diagnosis: Diagnosis, *, execute: bool, test_at: str = "") -> Iterator[str]:
    """The four parts of a diagnosis as text, a blank line after them."""
    answer, finding = diagnosis.answer, diagnosis.answer.finding
    yield f"{finding.severity}[{finding.code}] {finding.name}: {finding.message}"
    tensor = finding.tensor or bench.trace.source(finding.span) if not finding.span.path else finding.tensor
    yield f"1. tensor     {tensor}, line {finding.span.line} of {finding.path}{_built(bench, finding)}"
    yield f"2. shape      {_shape(finding)}"
    for label in finding.labels:
        place = f"{label.span.path}:" if label.span.path else "line "
        yield f"              from {place}{label.span.line}: {label.text}"
    if finding.why:
        yield f"              because {finding.why}"
    yield from _fix(bench, diagnosis, execute=execute)
    if diagnosis.test is None:
        sure = "none that is sure without running the code; --verify tries others"
        yield f"4. test       {f'none: {diagnosis.reason}' if execute else sure}"
    else:
        yield f"4. test       {test_at or 'write it with --write-test PATH'}"
        if diagnosis.executed is not None and answer.fix is None:
            yield f"              {diagnosis.executed.words}"
    yield ""


def _shape(finding: Finding) -> str:
    if finding.code == "SD701":
        return f"is {finding.actual}, stated as {finding.expected}"
    if finding.actual and finding.expected:
        return f"{finding.expected}, not {finding.actual}"
    if finding.actual:
        return f"is {finding.actual}"
    loud = finding.code.startswith("SD1")
    return finding.expected or (finding.help if loud else "the shapes are right; the values are not")


def _built(bench: Bench, finding: Finding) -> str:
    """Where the tensor was built, and as what, where that is another line."""
    links = [link for link in chain_of(bench, finding) if " = " in link.code and link.shape]
    if not links or links[-1].line == finding.span.line or finding.span.path:
        return ""
    name = links[-1].code.partition(" = ")[0]
    known = re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", finding.tensor)
    return f"; {name} built on line {links[-1].line} as {links[-1].shape}" if known else ""


def _fix(bench: Bench, diagnosis: Diagnosis, *, execute: bool) -> Iterator[str]:
    answer, finding = diagnosis.answer, diagnosis.answer.finding
    if answer.fix is not None:
        for index, (number, line) in enumerate(_after(bench.text, answer.fix.text)):
            yield f"{'3. fix  ' if index == 0 else '        '}      line {number:<4} {line}"
        yield f"              {answer.fix.candidate.description}"
        shown = diagnosis.executed.words if diagnosis.executed is not None else "verified: reanalysed"
        if execute and (diagnosis.executed is None or not diagnosis.executed.holds):
            shown = f"verified: reanalysed; not executed: {diagnosis.reason or 'there is no test for it'}"
        yield f"              {shown}"
    elif answer.choices:
        yield "3. fix        one of these, and which of them only you can say"
        for choice in answer.choices:
            yield f"              - {choice.candidate.description}"
    else:
        yield f"3. fix        none that can be proved; {finding.help or 'see the page of the rule'}"
    for refused in answer.refused:
        yield f"              {refused}"


def _after(before: str, after: str) -> Sequence[tuple[int, str]]:
    """The lines that are new or changed, with their numbers after the fix."""
    from difflib import SequenceMatcher

    old, new = split_lines(before), split_lines(after)
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(j + 1, new[j].strip()) for tag, _, _, j1, j2 in blocks if tag != "equal" for j in range(j1, j2)]
