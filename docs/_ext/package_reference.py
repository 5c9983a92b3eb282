"""Directives that write reference pages from the package itself, so that the two cannot differ.

command-reference      the help of every command, as it is printed
noise-reference        every noise family with its formulas
module-docstring NAME  the docstring of a module, as it is written
error-codes            what the service answers with, by status and code
"""

from __future__ import annotations

import importlib
import inspect
import io
import textwrap
from dataclasses import fields
from typing import Any

from cyclopts import App
from docutils import nodes
from rich.console import Console
from sphinx.util.docutils import SphinxDirective

from ocucb.cli.app import app as command
from ocucb.noise import NOISES, Noise
from ocucb.service.web.documents import MEANINGS
from ocucb.service.web.errors import CODES, STATUSES

WIDTH = 84  # of help and of what is wrapped, in characters: what fits beside both sidebars


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
    """Return what a command prints when it is asked for help, as a block."""
    console = Console(file=io.StringIO(), width=WIDTH, color_system=None)
    command.help_print(tokens, console=console)
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    return ["```text", *(line.rstrip() for line in printed.strip().splitlines()), "```", ""]


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
        "```text",
        *_wrap(about),
        "```",
        "",
        f"Interval that a table or a page shows: {family.interval_method}.",
        "",
    ]


def _wrap(text: str) -> list[str]:
    """Return the lines of a docstring, its paragraphs wrapped and its examples as they are."""
    paragraphs = [one if one.startswith(">>>") else textwrap.fill(one, WIDTH) for one in text.split("\n\n")]
    return "\n\n".join(paragraphs).splitlines()


class ModuleDocstring(SphinxDirective):
    """Shows the docstring of a module."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        text = inspect.getdoc(importlib.import_module(self.arguments[0])) or ""
        return [nodes.literal_block(text, text, language="text")]


class ErrorCodes(SphinxDirective):
    """Writes a table of the answers that are errors."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(error_lines()))


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
    return {"parallel_read_safe": True}
