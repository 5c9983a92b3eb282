"""The directive `question-chart`: draws a list of questions and answers, and has the list itself below, in words.

    1. **A question?**
       - *Yes:* what to take.
       - *No:* go on.

An answer that says `go on` leads down to the next question; every other one leads to the right, and ends. Colours are
the theme's, light or dark, and the drawing is as narrow as a phone.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

QUESTION = re.compile(r"\d+\. \*\*(.+)\*\*")
ANSWER = re.compile(r" +- \*(.+?):\* (.+)")
PIECE = re.compile(
    r"\[`(?P<code_link>[^`]+)`\]\((?P<code_to>[^)]+)\)|\[(?P<link>[^\]]+)\]\((?P<to>[^)]+)\)|`(?P<code>[^`]+)`"
)
GO_ON = "go on."

WIDTH, EDGE, TRUNK, BRANCH = 380.0, 4.0, 22.0, 48.0  # where things begin, from the left
LINE, PAD, GAP, ROUND = 19.0, 9.0, 12.0, 7.0
PLAIN_WIDTH, BOLD_WIDTH, CODE_WIDTH = 6.5, 7.2, 7.3  # of a letter, on average


class Word(NamedTuple):
    """A word of a line, with the place that it leads to, if any."""

    text: str
    kind: str
    to: str = ""


class Question(NamedTuple):
    """A question, its answers that end, and the answer that goes on, if one does."""

    text: str
    ends: list[tuple[str, str]]
    goes_on: str


def read(lines: list[str]) -> list[Question]:
    """Return the questions of a list."""
    found: list[Question] = []
    for line in lines:
        if question := QUESTION.fullmatch(line):
            found.append(Question(question[1], [], ""))
        elif answer := ANSWER.fullmatch(line):
            if answer[2] == GO_ON:
                found[-1] = found[-1]._replace(goes_on=answer[1])
            else:
                found[-1].ends.append((answer[1], answer[2]))
        elif line.strip():
            raise ValueError(f"question-chart: a question or an answer was expected, got {line!r}")
    return found


def words(text: str) -> list[Word]:
    """Return the words of a text, without its full stop; a link or a piece of code stays together."""
    text = text.removesuffix(".")
    made: list[Word] = []
    end = 0
    for piece in PIECE.finditer(text):
        made += [Word(one, "plain") for one in text[end : piece.start()].split()]
        if piece["code_link"]:
            made.append(Word(piece["code_link"], "code", piece["code_to"]))
        elif piece["link"]:
            made.append(Word(piece["link"], "plain", piece["to"]))
        else:
            made.append(Word(piece["code"], "code"))
        end = piece.end()
    return made + [Word(one, "plain") for one in text[end:].split()]


def wrap(given: list[Word], room: float) -> list[list[Word]]:
    """Return lines of words that fit. A comma or full stop goes on the line of what it follows."""
    lines: list[list[Word]] = [[]]
    left = room
    for word in given:
        size = len(word.text) * {"plain": PLAIN_WIDTH, "bold": BOLD_WIDTH, "code": CODE_WIDTH}[word.kind] + PLAIN_WIDTH
        if lines[-1] and size > left and word.text not in ",.;":
            lines.append([])
            left = room
        lines[-1].append(word)
        left -= size
    return lines


def line_svg(line: list[Word], x: float, y: float, kind: str) -> str:
    """Return a line of text."""
    spans = []
    for place, word in enumerate(line):
        space = "" if not place or word.text[0] in ",.;" else " "
        span = f'<tspan class="{word.kind}">{escape(word.text)}</tspan>'
        target = word.to.replace(".md", ".html")
        spans.append(space + (f'<a href="{escape(target)}">{span}</a>' if word.to else span))
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{"".join(spans)}</text>'


def box(x: float, y: float, lines: list[tuple[str, list[Word]]], kind: str) -> tuple[str, float]:
    """Return a box around lines, and its height."""
    height = LINE * len(lines) + 2.0 * PAD - 4.0
    rect = f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{WIDTH - EDGE - x:g}" height="{height:g}" rx="{ROUND:g}"/>'
    texts = [line_svg(line, x + PAD, y + PAD + 11.0 + LINE * k, of) for k, (of, line) in enumerate(lines)]
    return rect + "".join(texts), height


def draw(questions: list[Question]) -> str:
    """Return the drawing as SVG."""
    parts: list[str] = []
    y = EDGE
    for number, question in enumerate(questions, 1):
        bold = [Word(one, "bold") for one in f"{number}. {question.text}".split()]
        lines = [("question", line) for line in wrap(bold, WIDTH - 2.0 * (EDGE + PAD))]
        made, height = box(EDGE, y, lines, "asked")
        parts.append(made)
        y += height
        top = y
        for label, answer in question.ends:
            y += GAP
            room = WIDTH - BRANCH - EDGE - 2.0 * PAD
            lines = [("label", [Word(label, "plain")]), *(("answer", line) for line in wrap(words(answer), room))]
            made, height = box(BRANCH, y, lines, "given")
            middle = y + height / 2.0
            parts.append(
                f'<path d="M{TRUNK:g} {top:g}V{middle:g}H{BRANCH - 2.0:g}" marker-end="url(#chart-arrow)"/>{made}'
            )
            y += height
        if question.goes_on:
            end = y + 2.0 * GAP + LINE
            parts.append(f'<path d="M{TRUNK:g} {top:g}V{end - 2.0:g}" marker-end="url(#chart-arrow)"/>')
            room = WIDTH - BRANCH - EDGE
            parts.append(line_svg(wrap([Word(question.goes_on, "plain")], room)[0], TRUNK + 9.0, end - 12.0, "label"))
            y = end
    return FRAME.format(width=f"{WIDTH:g}", height=f"{y + EDGE:g}", parts="".join(parts))


FRAME = (
    '<svg class="question-chart" viewBox="0 0 {width} {height}" role="group" aria-label="The questions as a drawing">'
    '<defs><marker id="chart-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8Z"/></marker></defs>{parts}</svg>'
)


class QuestionChart(SphinxDirective):
    """Draws its content, and has it below as a list that opens."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        drawing = nodes.raw("", draw(read(list(self.content))), format="html")
        listed = self.parse_content_to_nodes()
        opened = nodes.raw("", "<details><summary>The same in words</summary>", format="html")
        return [drawing, opened, *listed, nodes.raw("", "</details>", format="html")]


def setup(app: Any) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("question-chart", QuestionChart)
    return {"parallel_read_safe": True}
