"""Formulas are plain text in every source: T_j, k_{i,ρ}, (T_j/T)^ρ, e^(-x). Here letters are lowered and raised."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes

GREEK = "\u0370-\u03ff"
MARKS = "[\u0300-\u036f]*['’′]?"
LOWERED = re.compile(  # a letter, or the name of an operation; no letter of a longer name, as in mixed_gaps
    rf"(?:(?<![A-Za-z_])[^\W\d_]|(?<=[a-z])[A-Z]|[{GREEK}∫]|\b(?:max|min|sup|inf|argmax)){MARKS}_(?=[\w{{∞])(?!_)"
)
LOWERED_WORD = re.compile(rf"[A-Za-z]+(?![A-Za-z_])|\d+|[{GREEK}ℓ∞]")
RAISED = re.compile(r"(?<=[\w)\]}²’'])\^(?=[-\w{(½∞])")
RAISED_WORD = re.compile(rf"-?(?:\d+|[A-Za-z](?![A-Za-z])|[{GREEK}ℓ∞½])")
AS_IT_IS = (
    nodes.literal,
    nodes.FixedTextElement,
    nodes.raw,
    addnodes.desc_signature,
    addnodes.literal_strong,
    addnodes.literal_emphasis,
)
CLOSING = {"{": "}", "(": ")"}


def raise_and_lower(app: Any, doctree: nodes.document) -> None:
    """Replace the text of formulas, wherever it is not code."""
    for text in list(doctree.findall(nodes.Text)):
        if ("_" in text or "^" in text) and not _is_code(text):
            made = split(text.astext())
            if len(made) > 1:
                text.parent.replace(text, made)


def _is_code(node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, AS_IT_IS):
            return True
    return False


def split(text: str) -> list[nodes.Node]:
    """Return a text in pieces: plain, lowered and raised."""
    made: list[nodes.Node] = []
    done = place = 0
    while place < len(text):
        found = min(
            (one for one in (LOWERED.search(text, place), RAISED.search(text, place)) if one),
            key=lambda one: one.end(),
            default=None,
        )
        if found is None:
            break
        below = text[found.end() - 1] == "_"
        end, inner = _script(text, found.end(), LOWERED_WORD if below else RAISED_WORD, below)
        place = end
        if inner:
            made += [nodes.Text(text[done : found.end() - 1])] if found.end() - 1 > done else []
            made.append((nodes.subscript if below else nodes.superscript)("", "", *split(inner)))
            done = end
    return [*made, nodes.Text(text[done:])] if done < len(text) else made


def _script(text: str, start: int, word: re.Pattern[str], below: bool) -> tuple[int, str]:
    """Return where what is lowered or raised ends, and what it is: a word, or all within brackets."""
    opening = text[start]
    if opening == "{" or (opening == "(" and not below):
        depth = 0
        for k in range(start, len(text)):
            depth += (text[k] == opening) - (text[k] == CLOSING[opening])
            if depth == 0:
                return k + 1, text[start + 1 : k]
        return start, ""
    found = word.match(text, start)
    return (found.end(), found[0]) if found else (start, "")


def setup(app: Any) -> dict[str, bool]:
    """Do so when a page was read, before its headings are listed."""
    app.connect("doctree-read", raise_and_lower, priority=400)
    return {"parallel_read_safe": True}
