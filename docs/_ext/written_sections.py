"""Markdown that a directive has made, as nodes of its page."""

from __future__ import annotations

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def parse(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """Return the nodes of a text that may have headings. What is before the first is read apart: MyST drops it."""
    first = next((k for k, line in enumerate(lines) if line.startswith("## ")), len(lines))
    made = directive.parse_text_to_nodes("\n".join(lines[:first]))
    return made + directive.parse_text_to_nodes("\n".join(lines[first:]), allow_section_headings=True)
