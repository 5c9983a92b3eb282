"""Where lines may break: long names in tables between words, paths after a slash, commands not within an option."""

from __future__ import annotations

import html
import re
from typing import Any

TABLE = re.compile(r'<table class="[^"]*docutils.*?</table>', re.DOTALL)
NAME = re.compile(r'<span class="pre">([^<]+)</span>')
BETWEEN_WORDS = re.compile(r"(?<=[a-z\d)][._/:=?@])(?=[A-Za-z])|(?<=//)(?=\w)|(?<=[a-z])(?=[A-Z]|\((?!\)))")
SHORT, LONG, WIDE = 12, 20, 36  # letters of names that fit into a column of a phone, of a desktop, into a phone
COMMAND = re.compile(r'<div class="highlight-(?:sh|bash|console) .*?</pre>', re.DOTALL)
WORD = re.compile(r"(?<=[\s>])[\w.]*-[\w.-]*\w(?![^<]*>)")  # an option, or a word with a hyphen; not within a tag
OPENING = '<span class="sig-paren">(</span>'
HEADING = re.compile(r"(?<=<h[23]>)[^<]*/[^<]*")


def mark_breaks(app: Any, name: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Put marks into the page, which site.css reads."""
    if "body" in context:
        body = TABLE.sub(lambda table: NAME.sub(_in_table, table[0]), context["body"])
        body = NAME.sub(_in_text, body).replace(OPENING, f"{OPENING}<wbr>")
        body = HEADING.sub(lambda one: re.sub(r"/(?=[\w{])", "/<wbr>", one[0]), body)
        context["body"] = COMMAND.sub(lambda one: WORD.sub(r'<span class="whole">\g<0></span>', one[0]), body)


def _in_table(found: re.Match[str]) -> str:
    size = len(html.unescape(found[1]))
    if size <= SHORT:
        return found[0]
    kind = "pre long" if size > LONG else "pre name"
    return f'<span class="{kind}">{BETWEEN_WORDS.sub("<wbr>", found[1])}</span>'


def _in_text(found: re.Match[str]) -> str:
    return f'<span class="pre wide">{found[1]}</span>' if len(html.unescape(found[1])) > WIDE else found[0]


def setup(app: Any) -> dict[str, bool]:
    """Do so when a page is written."""
    app.connect("html-page-context", mark_breaks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
