"""Directives that write reference pages from the package itself, so that the two cannot differ.

command-reference      the help of every command, as sentences and tables
noise-reference        every noise family with its formulas
module-docstring NAME  the docstring of a module, its trees as they are written
error-codes            what the service answers with, by status and code
policy-list            every policy with what its page begins with
"""

from __future__ import annotations

import importlib
import inspect
import io
import itertools
import re
import textwrap
from dataclasses import fields
from pathlib import Path
from typing import Any

from cyclopts import App
from docutils import nodes
from rich.console import Console
from sphinx.util.docutils import SphinxDirective

from ocucb.cli.app import app as command
from ocucb.noise import NOISES, Noise
from ocucb.service.web.documents import MEANINGS
from ocucb.service.web.errors import CODES, STATUSES

UNWRAPPED = 2_000  # columns of a terminal in which every row of a help has one line
NOTE = re.compile(r" ?\[(default|choices): ([^\]]*)\]")
POLICIES = Path(__file__).parent.parent / "policies"


class CommandReference(SphinxDirective):
    """Writes a section for each command."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(command_lines()), allow_section_headings=True)


def command_lines() -> list[str]:
    """Return the Markdown of all commands."""
    lines: list[str] = []
    for name in _names(command):
        lines += [f"## ocucb {name}", "", *_help_lines([name])]
        for below in _names(command[name]):
            lines += [f"### ocucb {name} {below}", "", *_help_lines([name, below])]
    return lines


def _names(app: App) -> list[str]:
    return [name for name in app if not name.startswith("-")]


def _help_lines(tokens: list[str]) -> list[str]:
    """Return what a command prints when it is asked for help, its boxes as tables."""
    console = Console(file=io.StringIO(), width=UNWRAPPED, color_system=None)
    command.help_print(tokens, console=console)
    usage, *printed = console.file.getvalue().strip().splitlines()  # type: ignore[attr-defined]
    lines = ["```sh", usage.removeprefix("Usage: ").rstrip(), "```", ""]
    for line in printed:
        if line.startswith("╭"):
            lines += ["", f"| {line.strip('╭─╮ ').lower().removesuffix('s')} | meaning |", "|---|---|"]
        elif line.startswith("│"):
            name, _, meaning = line.strip("│ ").removeprefix("*").strip().partition("  ")
            lines.append(f"| `{name}` | {_meaning(meaning.strip())} |")
        elif not line.startswith("╰"):
            lines.append(_words(line.strip()))
    return [*lines, ""]


def _meaning(text: str) -> str:
    """Return what an option means, with its default and what it may be as sentences."""
    notes = [f"{NOTES[kind]} `{value}`." for kind, value in NOTE.findall(text) if value not in ("", "()")]
    told = NOTE.sub("", text).replace(" [required]", " Required.").strip()
    return " ".join([_words(told), *notes])


NOTES = {"default": "Default:", "choices": "One of"}


def _words(text: str) -> str:
    """Return a text as Markdown, with options and what is typed in quotes as code."""
    return _plain(re.sub(r'(?<![\w-])--[a-z][\w-]*|"[^"]*"', r"`\g<0>`", text))


def _plain(text: str) -> str:
    """Return a text so that Markdown shows it as it is."""
    return re.sub(r"(`[^`]*`)|([*_<\[\]|])", lambda found: found[1] or "\\" + found[2], text)


class NoiseReference(SphinxDirective):
    """Writes a section for each noise family."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(noise_lines()), allow_section_headings=True)


def noise_lines() -> list[str]:
    """Return the Markdown of all noise families."""
    return [line for name in NOISES for line in _family_lines(NOISES[name])]


def _family_lines(family: type[Noise]) -> list[str]:
    values = ", ".join(f"{one.name}={one.default!r}" for one in fields(family))
    about = inspect.cleandoc(family.__doc__ or "").split("\nParameters\n")[0].strip()
    return [
        f"## {family.name}",
        "",
        f"`ocucb.{family.__name__}({values})`: {family.summary}.",
        "",
        *_paragraphs(about),
        f"Interval that a table or a page shows: {family.interval_method}.",
        "",
    ]


def _paragraphs(text: str) -> list[str]:
    """Return the Markdown of a docstring: sentences, and as they are written examples and trees."""
    lines: list[str] = []
    kinds = itertools.groupby(text.split("\n\n"), key=_kind)
    for kind, paragraphs in kinds:
        if kind == "sentences":
            lines += [_plain("\n\n".join(paragraphs)), ""]
        else:
            lines += [f"```{kind}", textwrap.dedent("\n\n".join(paragraphs)), "```", ""]
    return lines


def _kind(paragraph: str) -> str:
    return "pycon" if paragraph.startswith(">>>") else "text" if re.search(r"──|\S {3,}\S", paragraph) else "sentences"


class ModuleDocstring(SphinxDirective):
    """Shows the docstring of a module."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        text = inspect.getdoc(importlib.import_module(self.arguments[0])) or ""
        return self.parse_text_to_nodes("\n".join(_paragraphs(text)), allow_section_headings=True)


class PolicyList(SphinxDirective):
    """Writes a table of the policies."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(POLICIES))
        return self.parse_text_to_nodes("\n".join(policy_lines()), allow_section_headings=True)


def policy_lines() -> list[str]:
    """Return the Markdown of that table: of each page its title, and its first sentence after the name of the class."""
    lines = ["| policy | class | what it is |", "|---|---|---|"]
    for page in sorted(POLICIES.glob("*.md")):
        title, about = page.read_text(encoding="utf-8").split("\n\n")[:2]
        name, _, sentence = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", " ".join(about.split())).partition(": ")
        lines.append(
            f"| [{title.removeprefix('# ')}](policies/{page.name}) | {name.replace('ocucb.', '')} | {sentence} |"
        )
    return lines


class ErrorCodes(SphinxDirective):
    """Writes a table of the answers that are errors."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(error_lines()), allow_section_headings=True)


def error_lines() -> list[str]:
    """Return the Markdown of that table."""
    rows = {answer: list[str]() for answer in (*CODES.items(), *STATUSES.values())}
    for kind, answer in STATUSES.items():
        rows[answer].append(_first_line(kind))
    lines = ["| status | code | meaning |", "|---|---|---|"]
    for (status, code), told in sorted(rows.items()):
        lines.append(f"| {status} | `{code}` | {' '.join(told) or MEANINGS[status]} |")
    return lines


def _first_line(kind: type[Exception]) -> str:
    return (kind.__doc__ or "").splitlines()[0]


def setup(app: Any) -> dict[str, bool]:
    """Make the directives known."""
    app.add_directive("command-reference", CommandReference)
    app.add_directive("noise-reference", NoiseReference)
    app.add_directive("module-docstring", ModuleDocstring)
    app.add_directive("error-codes", ErrorCodes)
    app.add_directive("policy-list", PolicyList)
    return {"parallel_read_safe": True}
