"""Where lines may break: a long name in a table between its words, a command before an option and not within one."""

from __future__ import annotations

import html
import re
from typing import Any

TABLE = re.compile(r'<table class="[^"]*docutils.*?</table>', re.DOTALL)
NAME = re.compile(r'<span class="pre">([^<]+)</span>')
BETWEEN_WORDS = re.compile(r"(?<=[a-z\d)][._/:=?@])(?=\w)|(?<=[a-z])(?=[A-Z(])")
SHORT, LONG, WIDE = 12, 20, 36  # letters of names that fit into a column of a phone, of a desktop, into a phone
COMMAND = re.compile(r'<div class="highlight-(?:sh|bash|console) .*?</pre>', re.DOTALL)
OPTION = re.compile(r"(?<=\s)--?[a-z][\w-]*")


def mark_breaks(app: Any, name: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Put marks into the page, which site.css reads."""
    if "body" in context:
        body = TABLE.sub(lambda table: NAME.sub(_in_table, table[0]), context["body"])
        body = NAME.sub(_in_text, body)
        context["body"] = COMMAND.sub(lambda one: OPTION.sub(r'<span class="option">\g<0></span>', one[0]), body)


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
