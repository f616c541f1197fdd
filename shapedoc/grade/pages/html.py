"""A submission's report as one HTML file, as its student may see it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from shapedoc.grade.messages import say
from shapedoc.grade.pages.pictures import Drawn, of_item, shape_flow_of
from shapedoc.grade.pages.shell import bar, code, inline, page, prose, sign
from shapedoc.grade.pages.text import number, safe
from shapedoc.grade.pages.told import gap_text, hint_heading, kind_of, points_of, standing
from shapedoc.grade.result import Evidence, GradedSubmission, ItemResult, LintFinding, Value
from shapedoc.report.width import shown, shown_width

__all__ = ["render"]

# A picture up to this width, in pixels, is made to fit a narrow screen; a wider one is moved under it.
_FITS = 520.0


def render(result: GradedSubmission, *, published: bool = False) -> str:
    """The page of a submission; `published` shows what waits for the due date or for publication."""
    seen = result.for_student(published=published)
    body = [*_top(seen, published), "<main>"]
    for place, item in enumerate(seen.items, 1):
        body += _item(place, item, seen, item.is_shown(published=published))
    body += [*_findings(seen), *_flow(seen), "</main>", *_foot(seen)]
    return page(f"{result.title}: {result.name}", body, result.language)


def _say(result: GradedSubmission, key: str, **values: object) -> str:
    return inline(say(result.language, f"report.{key}", **values))


def _top(result: GradedSubmission, published: bool) -> Iterator[str]:
    points, most, rest = points_of(result.items, published=published)
    yield f'<header class="top"><p class="over">{inline(result.title)}</p><h1>{inline(result.name)}</h1>'
    if result.file and result.file != result.name:
        yield f'<p class="over mono small">{inline(result.file)}</p>'
    marks = say(result.language, "report.marks", points=number(points), most=number(most))
    status, says = standing(result, published=published)
    chip = f'<span class="chip {status}">{inline(says)}</span>'
    yield f'<p class="score"><b>{inline(marks)}</b>{chip}</p>'
    shown = [item for item in result.items if item.is_shown(published=published)]
    yield bar([(item.status, item.points) for item in shown], most, marks)
    if rest:
        yield f'<p class="muted small">{_say(result, "hidden_marks", points=number(rest))}</p>'
    if result.message:
        yield f'<div class="message">{code(result.message)}</div>'
    if len(result.items) > 1:
        yield f'<nav aria-label="{_say(result, "items")}"><ol class="contents">'
        for place, item in enumerate(result.items, 1):
            head = _head(item, result, item.is_shown(published=published), '<span class="name">', "</span>")
            yield f'<li><a href="#item-{place}">{head}</a></li>'
        yield "</ol></nav>"
    yield "</header>"


def _head(item: ItemResult, result: GradedSubmission, shown: bool, before: str, after: str) -> str:
    status = item.status if shown else "hidden"
    says = say(result.language, f"report.item.{status}")
    share = f"{number(item.points)} / {number(item.max_points)}" if shown else f"{number(item.max_points)}"
    return f'{sign(status, says)}{before}{inline(item.title)}{after}<span class="points">{inline(share)}</span>'


def _item(place: int, item: ItemResult, result: GradedSubmission, shown: bool) -> Iterator[str]:
    status = item.status if shown else "hidden"
    flat = " flat" if not item.evidence and not item.hint else ""
    yield f'<section class="card {status}{flat}" id="item-{place}">'
    yield f'<div class="head">{_head(item, result, shown, "<h2>", "</h2>")}</div>'
    yield f'<p class="says">{prose(item.says)}</p>'
    if not shown:
        yield f'<p class="muted small">{_say(result, "hidden_item")}</p></section>'
        return
    if item.reason:
        yield f'<p class="fault">{prose(item.reason)}</p>'
    if item.evidence is not None:
        yield from _evidence(item, item.evidence, result)
    drawn = of_item(result, item.id)
    if drawn:
        yield f'<div class="pictures">{"".join(_picture(one) for one in drawn)}</div>'
    if item.hint or item.fix:
        yield '<aside class="hint">'
        if item.hint:
            yield f"<h3>{inline(hint_heading(item, result.language))}</h3><p>{prose(item.hint)}</p>"
        if item.fix:
            yield f'<div class="step"><h3>{_say(result, "fix")}</h3><p class="mono small">{prose(item.fix)}</p></div>'
        yield "</aside>"
    yield "</section>"


def _evidence(item: ItemResult, evidence: Evidence, result: GradedSubmission) -> Iterator[str]:
    yield f'<p class="fault">{prose(evidence.says)}</p>'
    if evidence.line is not None:
        yield f'<div class="block"><h3>{_say(result, "your_code")}</h3>{_source(evidence.line, evidence.source)}</div>'
    if evidence.call or evidence.inputs:
        call = code(evidence.call) if evidence.call else ""
        values = "".join(_value(value, result) for value in evidence.inputs)
        inner = f"{call}{values}" if len(evidence.inputs) < 2 else f'{call}<div class="pair">{values}</div>'
        yield f'<div class="block"><h3>{_say(result, "input")}</h3>{inner}</div>'
    sides = [
        f'<div><h3><span class="kind">{inline(kind_of(value, result.language))}</span>{_say(result, key)}</h3>'
        f"{code(value.text)}</div>"
        for key, value in (("output", evidence.output), ("expected", evidence.expected))
        if value is not None
    ]
    if sides:
        yield f'<div class="pair">{"".join(sides)}</div>'
    facts = [say(result.language, "report.gap", gap=gap_text(evidence.gap))] if evidence.gap is not None else []
    if item.cases:
        facts.append(say(result.language, "report.cases", right=item.right, cases=item.cases))
    if facts:
        yield f'<ul class="facts muted small">{"".join(f"<li>{inline(fact)}</li>" for fact in facts)}</ul>'


def _value(value: Value, result: GradedSubmission) -> str:
    kind = inline(kind_of(value, result.language))
    name = f'<span class="mono">{inline(value.name)}</span>' if value.name else ""
    head = f'<p class="named"><span class="kind">{kind}</span>{name}&nbsp;</p>' if kind or name else ""
    return f'<div class="value">{head}{code(value.text) if value.text else ""}</div>'


def _source(line: int, source: str, column: int | None = None) -> str:
    """Lines of the student's file from `line` on, and a caret under a column of the first one, which counts from 1."""
    lines = source.split("\n") if source else [""]
    numbers = [str(line + i) for i in range(len(lines))]
    text = [escape(safe(one)) for one in lines]
    if column is not None and column >= 1:
        before = " " * shown_width(shown(lines[0])[: column - 1])
        text.insert(1, f'{before}<span class="caret">^</span>')
        numbers.insert(1, "")
    gutter = "\n".join(numbers)
    return f'<pre class="source"><span class="at">{gutter}</span><span>{chr(10).join(text)}</span></pre>'


def _picture(drawn: Drawn) -> str:
    return f'<figure class="picture{" wide" if drawn.svg.width > _FITS else ""}">{drawn.svg.strip()}</figure>'


def _findings(result: GradedSubmission) -> Iterator[str]:
    if not result.findings:
        return
    yield f'<h2 class="section">{_say(result, "findings")}</h2>'
    for finding in result.findings:
        yield from _finding(finding, result)


def _finding(finding: LintFinding, result: GradedSubmission) -> Iterator[str]:
    name = f'<span class="muted">{inline(finding.name)}</span>'
    yield f'<section class="card"><div class="head"><h2><code>{inline(finding.code)}</code> {name}</h2></div>'
    yield f"<p>{prose(finding.message)}</p>"
    if finding.source:
        yield f'<div class="block">{_source(finding.line, finding.source, finding.column)}</div>'
    else:
        yield f'<p class="muted">{_say(result, "line", line=finding.line)}</p>'
    if finding.help:
        yield f'<div class="block"><h3>{_say(result, "fix")}</h3>{code(finding.help)}</div>'
    yield f'<p class="muted small">{_say(result, "more", code=finding.code)}</p></section>'


def _flow(result: GradedSubmission) -> Iterator[str]:
    flow = shape_flow_of(result)
    if flow is not None:
        yield f'<h2 class="section">{_say(result, "flow")}</h2><div class="pictures">{_picture(flow)}</div>'


def _foot(result: GradedSubmission) -> Iterator[str]:
    """Which assignment it was. The seed stands nowhere: whoever knows it can draw the hidden inputs."""
    mark = f"{result.assignment} · {result.digest[:12]}" if result.digest else result.assignment
    yield f'<p class="foot">{inline(mark)}</p>'
