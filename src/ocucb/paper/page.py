"""One HTML page with every claim, what was done, what came out, and the conclusion. It needs no network or script."""

from __future__ import annotations

import importlib.resources
import inspect
import platform
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ocucb.lab.chart import Chart
from ocucb.lab.figure_style import DARK_PALETTE, PAGE_COLOURS, PALETTE
from ocucb.paper import table
from ocucb.paper.claim import Check, Claim, Conclusion, Effort, Nature, Table
from ocucb.paper.execute import CheckResult, anchor_of, in_order, name_of
from ocucb.paper.mathml import to_mathml

PACKAGES = ("ocucb", "numpy", "numba", "scipy")
LONGEST = 24  # characters of a cell that is kept on one line
FEW = 4  # columns of a table that may stand beside another or a chart, those of words counted twice


class Mark(NamedTuple):
    """How a conclusion looks: a class, a sign that also reads in grey, words for one and for many, what they mean."""

    kind: str
    sign: str
    words: str
    many: str
    meaning: str


MARKS = {
    Conclusion.PROVED: Mark(
        "proved", "∎", Conclusion.PROVED.value, "proved here", "by interval arithmetic over boxes that cover the range"
    ),
    Conclusion.HOLDS: Mark("holds", "✓", Conclusion.HOLDS.value, "hold", "decided, at the false-alarm rate stated"),
    Conclusion.FAILS: Mark(
        "fails", "✗", Conclusion.FAILS.value, "fail as printed", "with a counterexample, in numbers"
    ),
    Conclusion.OPEN: Mark(
        "open", "?", Conclusion.OPEN.value, Conclusion.OPEN.value, "with what was seen, and why it decides nothing"
    ),
}
ERROR = Mark("error", "!", "did not finish", "did not finish", "an error of the check, not of the paper")


def write_page(results: Sequence[CheckResult], effort: Effort, path: Path) -> None:
    """Write the page. It holds all it needs."""
    path.write_text(render(results, effort), encoding="utf-8")


def render(results: Sequence[CheckResult], effort: Effort) -> str:
    """Return the page as text, the same for the same findings."""
    ordered = in_order(results)
    claims = [list(together) for _, together in groupby(ordered, key=lambda result: result.claim.number)]
    parts = {
        "colours": f"{_colours('light')}\n@media (prefers-color-scheme: dark) {{ {_colours('dark')} }}",
        "print": _variables("light"),
        "facts": escape(_facts(ordered, effort)),
        "counts": "\n".join(_count(look, count) for look, count in counts(ordered)),
        "contents": "\n".join(_entry(claim) for claim in claims),
        "claims": "\n".join(_claim(claim) for claim in claims),
        "provenance": "\n".join(_term(name, value) for name, value in provenance(effort).items()),
    }
    template = importlib.resources.files("ocucb.paper").joinpath("page_template.html").read_text(encoding="utf-8")
    # All at once, so that no part is searched for the names of others.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def mark(result: CheckResult) -> Mark:
    """Return how the conclusion of a result looks."""
    return ERROR if result.finding is None else MARKS[result.finding.conclusion]


def counts(results: Sequence[CheckResult]) -> list[tuple[Mark, int]]:
    """Return how often each conclusion came out; errors only if there are any."""
    found = Counter(mark(result) for result in results)
    return [(one, found[one]) for one in (*MARKS.values(), ERROR) if one is not ERROR or found[one]]


def provenance(effort: Effort) -> dict[str, str]:
    """Return what the page depends on."""
    versions = {"Python": platform.python_version()} | {package: version(package) for package in PACKAGES}
    return {"size": effort.size, "seed": str(effort.seed)} | versions


def _facts(results: Sequence[CheckResult], effort: Effort) -> str:
    numbers = list(dict.fromkeys(result.claim.number for result in results))
    checks, claims = _many(len(results), "check"), _many(len(numbers), "claim")
    which = f"{'claim' if len(numbers) == 1 else 'claims'} {', '.join(map(str, numbers))}"
    some = "" if len(numbers) == len(table.CLAIMS) else f" ({which} alone)"
    return f"{checks} of {claims}{some}, at {effort.size} size, with seed {effort.seed}."


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _count(look: Mark, count: int) -> str:
    return (
        f'<li class="{look.kind}"><strong>{count}</strong><b>{look.sign} {look.words if count == 1 else look.many}</b>'
        f'<span class="soft">{look.meaning}</span></li>'
    )


def _entry(results: Sequence[CheckResult]) -> str:
    """Return a line of the contents: a claim, and its checks with their conclusions."""
    claim = results[0].claim
    chips = "".join(
        f'<a class="badge {look.kind}" href="#{anchor_of(result.name)}" title="{look.words}">'
        f'<span role="img" aria-label="{look.words}:">{look.sign}</span>{escape(result.check.name)}</a>'
        for result, look in ((result, mark(result)) for result in results)
    )
    return f'<li><a href="#claim-{claim.number}">{_title(claim)}</a><span class="chips">{chips}</span></li>'


def _claim(results: Sequence[CheckResult]) -> str:
    claim = results[0].claim
    checks = "\n".join(_check(result) for result in results)
    heading = f'<h2 id="heading-{claim.number}">{_title(claim)}</h2>'
    back = '<p class="back"><a href="#contents">↑ Contents</a></p>'
    return (
        f'<section id="claim-{claim.number}" aria-labelledby="heading-{claim.number}">\n'
        f"{heading}\n{checks}\n{back}\n</section>"
    )


def _title(claim: Claim) -> str:
    return f'<span class="number">{claim.number}</span>{escape(claim.title)}'


def _check(result: CheckResult) -> str:
    """Return all there is about one check."""
    anchor, look = anchor_of(result.name), mark(result)
    badge = f'<span class="badge {look.kind}"><span aria-hidden="true">{look.sign}</span>{look.words}</span>'
    facts = "\n".join(f"<dt>{term}</dt><dd{kind}>{text}</dd>" for term, kind, text in _terms(result))
    return (
        f'<article class="check {look.kind}" id="{anchor}">\n'
        f'<header><h3><a href="#{anchor}">{escape(result.name)}</a></h3>{badge}</header>\n'
        f'{_statements(result)}<dl class="facts">\n{facts}\n</dl>\n{_evidence(result)}{_code(result)}</article>'
    )


def _statements(result: CheckResult) -> str:
    """Return what is checked, in mathematics and in words; and beside it the statement that puts it right, if any."""
    claim, check = result.claim, result.check
    whose = "Stated here" if claim.ours else "The paper should say" if check.corrects else "The paper says"
    places = "".join(f"<span>{_place(place)}</span>" for place in check.places)
    told = [_statement(name_of(claim, check), check, whose, f'<p class="places">{places}</p>')]
    for better in (one for one in claim.checks if one.corrects == check.name):
        name = name_of(claim, better)
        told.append(_statement(f"{result.name}, corrected", better, f"Corrected, in {_link(name)}", ""))
    return f'<div class="statements">\n{"".join(told)}</div>\n'


def _statement(name: str, check: Check, whose: str, after: str) -> str:
    lines = "".join(f"<div>{line}</div>" for line in to_mathml(check.formula)) if check.formula else ""
    label = escape(f"Formula of {name}")
    formula = f'<div class="formula" role="group" tabindex="0" aria-label="{label}">{lines}</div>\n' if lines else ""
    return f'<div class="statement">\n<h4>{whose}</h4>\n{formula}<p>{escape(check.says)}</p>{after}\n</div>\n'


def _terms(result: CheckResult) -> Iterable[tuple[str, str, str]]:
    """Yield what is said of a check: the term, the attributes of its text, and the text."""
    check, finding = result.check, result.finding
    if check.nature is not Nature.USUAL:
        yield "Its nature", "", escape(check.nature.value)
    if check.corrects:
        yield "Corrects", "", _link(f"{result.claim.number}-{check.corrects}")
    yield "What was done", "", escape(check.done)
    if finding is None:
        yield "Error", ' class="outcome"', escape(result.error)
        return
    yield "What came out", ' class="outcome"', escape(finding.outcome)
    if finding.counterexample:
        yield "Counterexample", ' class="counterexample"', escape(finding.counterexample)
    yield "False-alarm rate", "", _alarm(finding.false_alarm)
    if check.wrong is not None:
        yield "Would fail if", "", escape(check.wrong.says)


def _alarm(rate: float) -> str:
    return f"at most {rate:.2g}" if rate > 0.0 else "nothing random decides"


def _place(place: str) -> str:
    """Return a place of the paper: a label as code, a description as words."""
    return f"<code>{escape(place)}</code>" if re.fullmatch(r"\S+:\S+", place) else escape(place)


def _link(name: str) -> str:
    return f'<a href="#{anchor_of(name)}">{escape(name)}</a>'


def _code(result: CheckResult) -> str:
    """Return the function that executes the check, closed until it is clicked at."""
    run = result.check.run
    lines, _ = inspect.getsourcelines(run)
    where = f"{run.__module__}.{run.__qualname__}"
    label = f"Code of {result.name}"
    return (
        f'<details class="code"><summary>Code: <code>{escape(where)}</code></summary>\n'
        f'<pre role="region" tabindex="0" aria-label="{escape(label)}">'
        f"<code>{escape(''.join(lines))}</code></pre></details>\n"
    )


def _evidence(result: CheckResult) -> str:
    """Return the charts and tables of a finding."""
    if result.finding is None:
        return ""
    charts = map(_chart, result.finding.charts, result.drawings)
    shown = [*charts, *map(_table, result.finding.tables)]
    return '<div class="evidence">\n' + "\n".join(shown) + "\n</div>\n" if shown else ""


def _chart(chart: Chart, drawing: str) -> str:
    return f"<figure><figcaption>{escape(chart.title)}</figcaption>\n{drawing}\n</figure>"


def _table(shown: Table) -> str:
    """Return a table that scrolls on its own; columns of words may wrap, others may not."""
    words = [_is_words([row[k] for row in shown.rows]) for k in range(len(shown.header))]
    kinds = [' class="words"' if wordy else "" for wordy in words]

    def line(cells: Sequence[str], tag: str) -> str:
        texts = [f"<{tag}{kind}>{escape(cell)}</{tag}>" for cell, kind in zip(cells, kinds, strict=True)]
        return f"<tr>{''.join(texts)}</tr>"

    title, body = escape(shown.title), "\n".join(line(row, "td") for row in shown.rows)
    wide = " wide" if len(words) + sum(words) > FEW else ""
    scroll = f'<div class="scroll" role="group" tabindex="0" aria-label="{title}">'
    return (
        f'<div class="table{wide}"><p>{title}</p>\n{scroll}\n'
        f"<table>\n<thead>{line(shown.header, 'th')}</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</div></div>"
    )


def _is_words(cells: Sequence[str]) -> bool:
    """Return whether cells hold text rather than numbers: a long one, or most of them without a digit."""
    numbers = sum(any(map(str.isdigit, cell)) for cell in cells)
    return 2 * numbers < len(cells) or any(len(cell) > LONGEST for cell in cells)


def _term(name: str, value: str) -> str:
    return f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"


def _colours(theme: str) -> str:
    return f":root {{ {_variables(theme)} }}"


def _variables(theme: str) -> str:
    palette = PALETTE if theme == "light" else DARK_PALETTE
    lines = {f"line-{k}": color for k, color in enumerate(palette[:-1])}
    return " ".join(f"--{name}: {value};" for name, value in {**PAGE_COLOURS[theme], **lines}.items())
