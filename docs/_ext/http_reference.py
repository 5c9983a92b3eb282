"""The directives `http-reference` and `http-answers`: every route of the service, from its own OpenAPI document."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from ocucb.service.web.app import describe_api


class HttpReference(SphinxDirective):
    """Writes a section for each route: what it does, what it takes, and how it answers."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(markdown()), allow_section_headings=True)


class HttpAnswers(SphinxDirective):
    """Writes a table of what answers mean."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(answers()))


IN_PATH = {"name": "The name of the experiment.", "id": "The id of the API key."}


def markdown() -> list[str]:
    """Return the lines of all routes."""
    described = describe_api()
    return [
        line
        for path, methods in described["paths"].items()
        for method, route in methods.items()
        for line in section(method.upper(), path, route, described["components"]["schemas"])
    ]


def answers() -> list[str]:
    """Return the table of all answers, which mean the same for every route."""
    described = describe_api()
    meanings = {
        code: one["description"]
        for methods in described["paths"].values()
        for route in methods.values()
        for code, one in route["responses"].items()
    }
    lines = ["| answer | meaning |", "|---|---|", "| 200, 201 | It is done; 201 if something was made. |"]
    lines += [f"| {code} | {_one_line(meanings[code])} |" for code in sorted(meanings) if code not in ("200", "201")]
    return [*lines, ""]


def section(method: str, path: str, route: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    """Return the Markdown of one route."""
    lines = [f"## {method} {path}", "", route.get("description", route.get("summary", "")), ""]
    rows = [
        (one["name"], one["in"], one.get("description") or IN_PATH[one["name"]]) for one in route.get("parameters", [])
    ]
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    for one in body.get("anyOf", body.get("oneOf", [body])):
        model = schemas.get(one.get("$ref", "").rpartition("/")[2], {})
        rows += [(name, "body", about.get("description", "")) for name, about in model.get("properties", {}).items()]
    if rows:
        lines += ["| name | in | meaning |", "|---|---|---|"]
        lines += [f"| `{name}` | {place} | {_one_line(meaning)} |" for name, place, meaning in rows]
        lines.append("")
    done, *refused = route["responses"]
    lines.append(f"Answers {done}, or an error: {', '.join(refused)}." if refused else f"Answers {done}.")
    return [*lines, ""]


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def setup(app: Any) -> dict[str, bool]:
    """Make the directives known."""
    app.add_directive("http-answers", HttpAnswers)
    app.add_directive("http-reference", HttpReference)
    return {"parallel_read_safe": True}
