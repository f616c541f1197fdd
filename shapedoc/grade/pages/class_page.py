"""The page of a class, for the instructor: how every item went, who makes the same mistake, and every submission."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean, median
from urllib.parse import quote

from shapedoc.grade.assignment import Language
from shapedoc.grade.messages import catalogue, say
from shapedoc.grade.pages.shell import bar, inline, page, prose, sign
from shapedoc.grade.pages.text import number
from shapedoc.grade.result import GradedSubmission, ItemResult, ItemStatus

__all__ = ["render"]

_STATUSES: tuple[ItemStatus, ...] = ("passed", "partial", "failed", "not_run")
_RANGES = 10


def render(results: Sequence[GradedSubmission], links: Sequence[str], language: Language) -> str:
    """The page; `links` are the addresses of the submissions' own pages, in their order, empty where there is none."""
    heading = say(language, "report.class.title", title=results[0].title if results else "")
    body = [*_top(results, heading, language), "<main>"]
    if results:
        body += [*_items(results, language), *_mistakes(results, links, language), *_codes(results, language)]
        body += _table(results, links, language)
    body += ["</main>", *_foot(results, language)]
    return page(heading, body, language)


def _say(language: Language, key: str, **values: object) -> str:
    return inline(say(language, f"report.class.{key}", **values))


def _top(results: Sequence[GradedSubmission], heading: str, language: Language) -> Iterator[str]:
    yield f'<header class="top"><p class="over">{inline(results[0].assignment if results else "")}</p>'
    yield f"<h1>{inline(heading)}</h1>"
    facts = [say(language, "report.class.submissions", count=len(results))]
    if results:
        scores, most = [result.score for result in results], results[0].max_score
        mean, middle = number(fmean(scores)), number(median(scores))
        facts.append(say(language, "report.class.mean", mean=mean, most=number(most), median=middle))
        whole = sum(result.score >= result.max_score for result in results)
        facts.append(say(language, "report.class.all_right", count=whole))
    yield f'<ul class="facts">{"".join(f"<li>{inline(fact)}</li>" for fact in facts)}</ul>'
    if len(results) > 1:
        yield f'<section class="card"><h3>{_say(language, "distribution")}</h3>{_spread(results, language)}</section>'
    yield "</header>"


def _spread(results: Sequence[GradedSubmission], language: Language) -> str:
    """How many submissions lie in each tenth of the points; full points are in the last one."""
    most = max(result.max_score for result in results) or 1.0
    counts = Counter(min(int(max(r.score, 0.0) / most * _RANGES), _RANGES - 1) for r in results)
    highest, wide, tall = max(counts.values()), 48.0, 90.0
    edges = [most * i / _RANGES for i in range(_RANGES + 1)]
    parts: list[str] = []
    for i, (low, high) in enumerate(pairwise(edges)):
        count, x = counts[i], 8 + i * wide
        height = tall * count / highest
        says = say(language, "report.class.of_range", low=number(low), high=number(high))
        parts.append(
            f'<rect x="{x + 3:.1f}" y="{18 + tall - height:.1f}" width="{wide - 6:.1f}" height="{height:.1f}" rx="2">'
            f"<title>{inline(says)}: {count}</title></rect>"
        )
        if count:
            middle, top = x + wide / 2, 13 + tall - height
            parts.append(f'<text x="{middle:.1f}" y="{top:.1f}" text-anchor="middle">{count}</text>')
    parts.append(f'<path class="axis" d="M 8 {18.5 + tall:.1f} h {_RANGES * wide:.1f}"/>')
    for i in range(0, _RANGES + 1, 2):
        x, text = 8 + i * wide, number(edges[i])
        anchor = "start" if i == 0 else "end" if i == _RANGES else "middle"
        parts.append(f'<text x="{x:.1f}" y="{34 + tall:.1f}" text-anchor="{anchor}">{text}</text>')
    return (
        f'<svg class="spread" viewBox="0 0 {_RANGES * wide + 16:.0f} {40 + tall:.0f}" role="img"'
        f' aria-label="{_say(language, "distribution")}">{"".join(parts)}</svg>'
    )


def _items(results: Sequence[GradedSubmission], language: Language) -> Iterator[str]:
    yield f'<section class="card"><h2>{_say(language, "items")}</h2><div class="wide"><table class="stack"><thead><tr>'
    yield f"<th>{_say(language, 'item')}</th><th></th>"
    for key in ("rate", "points"):
        yield f'<th class="number">{_say(language, key)}</th>'
    yield f"<th>{_say(language, 'visibility')}</th></tr></thead><tbody>"
    for item in _rubric(results):
        same = [one for result in results for one in result.items if one.id == item.id]
        counts = Counter(one.status for one in same)
        says = ", ".join(f"{say(language, f'report.item.{s}')} {counts[s]}" for s in _STATUSES if counts[s])
        rate = counts["passed"] / len(same)
        points = f"{number(fmean(one.points for one in same))} / {number(item.max_points)}"
        yield f"<tr><td>{inline(item.title)}</td>"
        yield f'<td class="bars">{bar([(status, counts[status]) for status in _STATUSES], len(same), says)}</td>'
        yield f'<td class="number">{rate:.0%}</td><td class="number">{points}</td>'
        yield f"<td>{inline(say(language, f'report.visibility.{item.visibility}'))}</td></tr>"
    yield f"</tbody></table></div>{_legend(language)}</section>"


def _rubric(results: Sequence[GradedSubmission]) -> list[ItemResult]:
    """Every item once, in the order of the rubric."""
    return list({item.id: item for result in reversed(results) for item in result.items}.values())


def _legend(language: Language) -> str:
    keys = "".join(
        f'<span><svg class="bar" viewBox="0 0 10 10" aria-hidden="true"><rect class="{status}" width="10" height="10"/>'
        f"</svg>{inline(say(language, f'report.item.{status}'))}</span>"
        for status in _STATUSES
    )
    return f'<p class="legend">{keys}</p>'


def _mistakes(results: Sequence[GradedSubmission], links: Sequence[str], language: Language) -> Iterator[str]:
    """Those who make the same mistake, the most frequent one first, with what it looks like in the first of them."""
    made: dict[str, dict[int, ItemResult]] = {}
    for place, result in enumerate(results):
        for item in result.items:
            if item.mistake and item.status != "passed":
                made.setdefault(item.mistake, {}).setdefault(place, item)
    yield f'<section class="card"><h2>{_say(language, "mistakes")}</h2>'
    if not made:
        yield f'<p class="muted">{_say(language, "no_mistakes")}</p>'
    for name, who in sorted(made.items(), key=lambda one: (-len(one[1]), one[0])):
        first = next(iter(who.values()))
        title = catalogue(language).get(f"mistake.{name}.title", name)
        says = first.evidence.says if first.evidence else first.reason
        yield f'<div class="cluster"><div class="head"><h3>{prose(title)}</h3>'
        yield f'<span class="points">{len(who)}</span></div>'
        if says:
            yield f'<p class="muted">{prose(says)}</p>'
        yield f'<p class="who">{"".join(_link(results[place], links[place]) for place in who)}</p></div>'
    yield "</section>"


def _codes(results: Sequence[GradedSubmission], language: Language) -> Iterator[str]:
    names = {finding.code: finding.name for result in results for finding in result.findings}
    if not names:
        return
    counts = Counter(code for result in results for code in {finding.code for finding in result.findings})
    yield f'<section class="card"><h2>{_say(language, "codes")}</h2><table class="stack"><tbody>'
    for code, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        share = bar([("failed", count)], len(results), f"{count} / {len(results)}")
        yield f"<tr><td><code>{inline(code)}</code> {inline(names[code])}</td>"
        yield f'<td class="bars">{share}</td><td class="number">{count}</td></tr>'
    yield "</tbody></table></section>"


def _table(results: Sequence[GradedSubmission], links: Sequence[str], language: Language) -> Iterator[str]:
    yield f'<section class="card"><h2>{_say(language, "table")}</h2><div class="wide"><table class="stack"><thead><tr>'
    yield f"<th>{_say(language, 'submission')}</th><th>{_say(language, 'status')}</th>"
    yield f'<th class="number">{_say(language, "score")}</th><th>{inline(say(language, "report.items"))}</th>'
    yield f"<th>{_say(language, 'first')}</th></tr></thead><tbody>"
    for result, link in zip(results, links, strict=True):
        status = inline(say(language, f"report.status.{result.status}"))
        signs = "".join(
            sign(item.status, f"{item.title}: {say(language, f'report.item.{item.status}')}") for item in result.items
        )
        yield f"<tr><td>{_link(result, link)}</td>"
        yield f'<td><span class="chip {result.status}">{status}</span></td>'
        yield f'<td class="number">{number(result.score)}</td><td class="signs">{signs}</td>'
        yield f'<td class="fault-cell">{prose(_first_fault(result))}</td></tr>'
    yield "</tbody></table></div></section>"


def _first_fault(result: GradedSubmission) -> str:
    if result.message:
        return result.message
    wrong = next((item for item in result.items if item.status != "passed"), None)
    if wrong is None:
        return ""
    return wrong.evidence.says if wrong.evidence else wrong.reason or wrong.says


def _link(result: GradedSubmission, link: str) -> str:
    name = inline(result.name)
    return f'<a href="{quote(link)}">{name}</a>' if link else name


def _foot(results: Sequence[GradedSubmission], language: Language) -> Iterator[str]:
    if results:
        yield f'<p class="foot">{inline(say(language, "report.seed", seed=results[0].seed))}</p>'
