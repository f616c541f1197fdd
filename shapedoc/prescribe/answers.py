"""An answer to the prompt, whoever wrote it, read back and judged part by part."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from shapedoc.core.finding import Finding
from shapedoc.core.fix import Edit
from shapedoc.core.span import Span
from shapedoc.core.text import split_lines
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.candidate import Candidate
from shapedoc.prescribe.choose import prescribe
from shapedoc.prescribe.execution import run_test
from shapedoc.prescribe.verify import Proof, prove
from shapedoc.rules.reading.flow import shape_at

__all__ = ["Answer", "Judged", "judge", "read_answer"]

_PARTS = ("Tensor", "Shape", "Fix", "Test")
_HEADING = re.compile(r"^\W*(Tensor|Shape|Fix|Test)\W*:\W?", re.MULTILINE | re.IGNORECASE)
_LINE = re.compile(r"\bline\s+(\d+)\b", re.IGNORECASE)
_SHAPE = re.compile(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_FENCE = re.compile(r"^```[\w-]*\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Answer:
    """The four parts of an answer as they are written; "" where one is missing."""

    tensor: str = ""
    shape: str = ""
    fix: str = ""
    test: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict on one part: whether it holds (None: it could not be tried), and why."""

    part: str
    holds: bool | None
    words: str


def read_answer(text: str) -> Answer:
    """The parts of an answer, by their headings; code fences and list marks are no part of them."""
    text = _FENCE.sub("", text)
    found = list(_HEADING.finditer(text))
    parts: dict[str, str] = {}
    for index, heading in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(text)
        parts.setdefault(heading[1].lower(), text[heading.end() : end].strip("\r\n"))
    return Answer(*(parts.get(part.lower(), "").rstrip() for part in _PARTS))


def judge(bench: Bench, answer: Answer, *, execute: bool = True) -> list[Judged]:
    """Judge an answer: the parts, the tensor, the shape, the fix, and the test before and after the fix."""
    missing = [part for part in _PARTS if not getattr(answer, part.lower()).strip()]
    judged = [Judged("parts", not missing, f"missing: {', '.join(missing)}" if missing else "all four are there")]
    finding, tensor = _tensor(bench, answer)
    judged += [tensor, _shape(bench, answer, finding)]
    fixed, fix = _fix(bench, answer, finding)
    judged.append(fix)
    judged.append(_test(bench, answer, fixed, execute=execute))
    return judged


# -- the tensor


def _tensor(bench: Bench, answer: Answer) -> tuple[Finding | None, Judged]:
    """The finding that the named tensor belongs to."""
    name = _name(answer.tensor)
    line = int(found[1]) if (found := _LINE.search(answer.tensor)) else 0
    if not name:
        return None, Judged("tensor", False, "no tensor is named")
    lines = split_lines(bench.text)
    if not re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", bench.text):
        return None, Judged("tensor", False, f"`{name}` is not in {bench.path}")
    if line and (line > len(lines) or name not in lines[line - 1]):
        return None, Judged("tensor", False, f"`{name}` does not stand on line {line}")
    near = [f for f in bench.findings if _concerns(f, name, line, lines)]
    if not bench.findings:
        return None, Judged("tensor", False, "the analysis finds no fault in this file")
    if not near:
        told = ", ".join(f"`{f.tensor}` on line {f.span.line}" for f in bench.findings)
        return None, Judged("tensor", False, f"no finding is about `{name}`; what is found: {told}")
    return near[0], Judged("tensor", True, f"`{name}` is what {near[0].code} on line {near[0].span.line} is about")


def _name(text: str) -> str:
    quoted = re.search(r"`([^`]+)`", text)
    if quoted:
        return quoted[1].strip()
    return re.split(r",\s*(?:built on |on )?line\b|\s+\(|,", text.strip(), maxsplit=1)[0].strip(" .*")


def _concerns(finding: Finding, name: str, line: int, lines: list[str]) -> bool:
    """Whether a finding is about a tensor: by its name, or as an operand or target on a line that it shows."""
    shown = {finding.span.line, *(label.span.line for label in finding.labels if not label.span.path)}
    if line and line not in shown:
        return False
    word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    if name == finding.tensor or word.search(finding.tensor):
        return True
    return any(word.search(lines[number - 1]) for number in shown if number <= len(lines))


# -- the shape


def _shape(bench: Bench, answer: Answer, finding: Finding | None) -> Judged:
    if finding is None:
        return Judged("shape", None, "there is no finding to compare it with")
    stated, _, wanted = answer.shape.partition("should be")
    now, then = _axes(stated), _axes(wanted)
    if re.match(r"[a-z]_", finding.expected):
        said = _plain(finding.expected) in _plain(wanted)
        words = f"it should be {finding.expected}" if not said else "the state is the right one"
        return Judged("shape", said, words)
    if not now and not then:
        return Judged("shape", False, "no shape is stated: `is (...), should be (...)`")
    known = {tuple(_split(shape)) for shape in _inferred(bench, finding, _name(answer.tensor))}
    if now and known and tuple(now) not in known:
        told = " or ".join(f"({', '.join(shape)})" for shape in sorted(known))
        return Judged("shape", False, f"it is {told}, not ({', '.join(now)})")
    right = _axes(finding.expected) if finding.expected.startswith("(") else []
    if right and then and _name(answer.tensor) == finding.tensor and then != right:
        return Judged("shape", False, f"it should be {finding.expected}, not ({', '.join(then)})")
    if now and then and now == then and finding.actual and finding.expected and finding.actual != finding.expected:
        return Judged("shape", False, "both shapes are the same")
    return Judged("shape", True, "agrees with what is inferred" if known else "nothing is inferred to compare it with")


def _plain(text: str) -> str:
    """A state without the brackets that one may write: ``s_{t-1}`` as ``s_t-1``."""
    return re.sub(r"[{}() $]", "", text)


def _axes(text: str) -> list[str]:
    found = _SHAPE.search(text)
    return _split(f"({found[1]})") if found else []


def _split(shape: str) -> list[str]:
    inner = shape.strip().removeprefix("(").removesuffix(")")
    return [re.sub(r"\s+", "", axis) for axis in inner.split(",") if axis.strip()]


def _inferred(bench: Bench, finding: Finding, name: str) -> Iterator[str]:
    """The shapes that a tensor has where a finding is about it."""
    if name == finding.tensor and finding.actual.startswith("("):
        yield finding.actual
    for event in bench.trace.events:
        if event.sizes is None or event.function != finding.function:
            continue
        if event.target == name and event.shape is not None:
            shown = event.sizes.show_shape(event.sizes.shape(event.shape))
            if "?" not in shown and "..." not in shown:
                yield shown
        for operand in event.operands:
            shape = shape_at(event, operand)
            if operand.text == name and shape is not None and shape.rank is not None:
                yield event.sizes.show_shape(shape)


# -- the fix


def _fix(bench: Bench, answer: Answer, finding: Finding | None) -> tuple[str | None, Judged]:
    found = re.match(r"\W*line\s+(\d+)\s*:?\s?(.*)", answer.fix, re.IGNORECASE | re.DOTALL)
    if found is None:
        return None, Judged("fix", False, "it says no line: `line <n>: <the whole line after the edit>`")
    number, new = int(found[1]), found[2].strip().strip("`").rstrip()
    lines = split_lines(bench.text)
    if not 1 <= number <= len(lines):
        return None, Judged("fix", False, f"{bench.path} has no line {number}")
    if "\n" in new:
        return None, Judged("fix", False, "it is more than one line")
    old = lines[number - 1].rstrip("\r\n")
    indent = old[: len(old) - len(old.lstrip())]
    edit = Edit(Span(number, 0, number, len(old)), indent + new.lstrip())
    targets = [finding] if finding is not None else list(bench.findings)
    for one in targets:
        proof = prove(bench, Candidate((edit,), f"line {number}"), one)
        if proof is not None:
            return _allowed(bench, one, proof, number)
    return None, Judged("fix", False, f"line {number}, so edited, does not clear the finding, or brings another")


def _allowed(bench: Bench, finding: Finding, proof: Proof, number: int) -> tuple[str | None, Judged]:
    if proof.refused:
        return None, Judged("fix", False, proof.refused)
    for answer in prescribe(bench, [finding]):
        if answer.fix is not None and answer.finding.span == finding.span:
            ours = len(answer.fix.cleared)
            if len(proof.cleared) < ours:
                return None, Judged("fix", False, f"it clears {len(proof.cleared)} of {ours} findings of one fault")
    return proof.text, Judged("fix", True, f"line {number}, so edited, clears {finding.code} and brings nothing new")


# -- the test


def _test(bench: Bench, answer: Answer, fixed: str | None, *, execute: bool) -> Judged:
    source = answer.test.strip("\n")
    if not source:
        return Judged("test", False, "there is none")
    try:
        tree = ast.parse(source)
    except SyntaxError as problem:
        return Judged("test", False, f"it does not parse: {problem.msg}")
    tests = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name.startswith("test")]
    if not tests:
        return Judged("test", False, "it has no function whose name begins with `test`")
    if not any(isinstance(n, ast.Assert | ast.Raise) or _checks(n) for n in ast.walk(tree)):
        return Judged("test", False, "it asserts nothing")
    if not execute:
        return Judged("test", None, "not run")
    before = run_test(source, bench.path, bench.text)
    if before.outcome == "passed":
        return Judged("test", False, "it passes on the code as it is")
    if before.outcome == "broken":
        return Judged("test", False, f"it cannot be run: {before.words}")
    if fixed is None:
        return Judged("test", None, "it fails on the code as it is; there is no right fix to try it on")
    after = run_test(source, bench.path, fixed)
    if after.outcome != "passed":
        return Judged("test", False, f"it does not pass after the fix: {after.words}")
    return Judged("test", True, f"it fails before ({before.words}) and passes after")


def _checks(node: ast.AST) -> bool:
    """Whether a node is a call of ``assert_allclose`` or its kin, or runs something that may raise."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name.startswith("assert") or name in ("run_path", "example", "raises")
