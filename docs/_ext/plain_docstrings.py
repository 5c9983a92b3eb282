"""Docstrings here are plain text with formulas; only examples, lists of fields and of parameters have a form."""

from __future__ import annotations

import re
from typing import Any

MARKUP = re.compile(r"[*|\\]|_(?![A-Za-z0-9αβγδεηλμρστω])|^[A-Z](?=\.)")
FIELD = re.compile(r"([A-Za-z_]+(?:,? [A-Za-z_]+){0,2}) {2,}(\S.*)")  # a name, and in the next column what it means
EMPHASIS = re.compile(r"\\\*(\w+)\\\*")
CITED = re.compile(r"[\s(](?:19|20)\d\d\b|chapter \d|ch\. \d")  # the year of a paper, or a chapter of a book
INTERNAL = re.compile(r"~?(?:ocucb|ocucb_client)(?:\.\w+)+\.(?=\w)")
ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
PARAMETER = re.compile(r"(\w+(?:, \w+)*) : (.+)")


def convert(app: Any, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Put a docstring into the form that Sphinx reads. Fields of a tuple have one that says only which they are."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()
    lines[:] = separate_parameters([escape(line) for line in join_fields(lines)])


def join_fields(lines: list[str]) -> list[str]:
    """Make a list of definitions of two lines or more that say `name   meaning`, with what goes on below a meaning."""
    columns = [found.start(2) if (found := FIELD.fullmatch(line)) else indent(line) for line in lines]
    made: list[str] = []
    column = 0  # of the meanings of the list that the line is in; 0 if it is in none
    for k, line in enumerate(lines):
        found = FIELD.fullmatch(line)
        if found and columns[k] in (column, *columns[k + 1 : k + 2]):
            column = columns[k]
            made += ["", f"`{found[1]}`", f"    {found[2]}"]
        elif column and columns[k] == column:
            made.append(f"    {line.strip()}")
        else:
            column = 0
            made.append(line)
    return made


def indent(line: str) -> int:
    """Return the column where a line begins."""
    return len(line) - len(line.lstrip())


def escape(line: str) -> str:
    """Return a line so that it is shown as it is written, unless it is part of an example."""
    if line.lstrip().startswith((">>>", "...")):
        return line
    pieces = re.split(r"(`[^`]*`)", line)
    plain = [one if one.startswith("`") else MARKUP.sub(lambda found: "\\" + found[0], one) for one in pieces]
    return EMPHASIS.sub(r"*\1*", "".join(plain))


def separate_parameters(lines: list[str]) -> list[str]:
    """Put what a parameter means below its name, and end the list where something else follows: examples, a source."""
    if "Parameters" not in lines:
        first = next((k for k, line in enumerate(lines) if PARAMETER.fullmatch(line) and k and not lines[k - 1]), None)
        if first is None:
            return lines
        lines = [*lines[:first], "Parameters", "----------", *lines[first:]]
    start = lines.index("Parameters") + 2
    made, rest = lines[:start], lines[start:]
    for k, line in enumerate(rest):
        found = PARAMETER.fullmatch(line)
        if found:
            made += [found[1].replace(r"\_", "_"), f"    {found[2]}"]
        elif line and not line.startswith(" ") and k and not rest[k - 1]:
            title = (
                "Examples" if line.startswith(">>>") else "References" if CITED.search(" ".join(rest[k:])) else "Notes"
            )
            return [*made, title, "-" * len(title), *rest[k:]]
        else:
            made.append(line)
    return made


def shorten_signature(
    app: Any, what: str, name: str, obj: object, options: object, signature: str | None, returned: str | None
) -> tuple[str | None, str | None] | None:
    """Write names without modules where a default that is made anew keeps Sphinx from doing so, and aliases by name."""
    if signature is None:
        return None
    if "<factory>" in signature:
        signature = INTERNAL.sub("", signature).replace("<factory>", "...")
    return signature, ALIAS.sub(r"\1", returned) if returned else returned


def setup(app: Any) -> dict[str, bool]:
    """Convert before the lists of parameters are read."""
    app.connect("autodoc-process-docstring", convert, priority=400)
    app.connect("autodoc-process-signature", shorten_signature)
    return {"parallel_read_safe": True}
