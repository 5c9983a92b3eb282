"""Directives of a module: `module-summary NAME`, what it is, and `module-reference NAME`, all of its public names.

They are in groups, with what is most used first. A name that is in no group is an error, so that none can be forgotten.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from ocucb.memory import Window
from ocucb.noise import Noise
from ocucb.policies import Policy

POLICIES, NOISES, ERRORS, REST = "policies", "noises", "errors", "rest"
GROUPS: dict[str, dict[str, str]] = {
    "ocucb": {
        "The bandit": "Bandit",
        "What it answers": "Choice ArmStatistics Statistics Intervals Verdict",
        "Policies": POLICIES,
        "Noise families": NOISES,
        "Memories": "Window Discount Restart",
        "Policies and families of your own": "level LevelPolicy register Policy Noise",
        "Errors": ERRORS,
    },
    "ocucb.lab": {
        "An experiment": "Experiment simulate Result Summary SummaryRow Progress",
        "Problems": "Problem Prior Delay mixed_gaps linear_gaps worst_case moss_trap bernoulli_worst_case"
        " bernoulli_rare random switching rotating from_data",
        "Policies as the lab plays them": "Remembering Fleet",
        "Until a verdict": "Identification identify IdentificationResult",
        "Studies": "Study Sweep",
        "Regret without error bars": "exact_regret",
    },
    "ocucb.theory": {"Functions": REST, "What they return": "Alternative CharacteristicTime RegretBound"},
    "ocucb_client": {"The client": "Client AsyncClient", "What it answers": REST, "Errors": ERRORS},
}
BASES = (Policy, Noise)


class ModuleSummary(SphinxDirective):
    """Shows the docstring of a module, and lets names of it be found."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(f"```{{eval-rst}}\n.. automodule:: {self.arguments[0]}\n```")


class ModuleReference(SphinxDirective):
    """Writes a section for each group."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(lines_of(self.arguments[0])), allow_section_headings=True)


def lines_of(name: str) -> list[str]:
    """Return the Markdown of a module, which has its parts read by autodoc."""
    module = importlib.import_module(name)
    lines: list[str] = []
    for heading, names in group(module).items():
        lines += [f"## {heading}", "", "```{eval-rst}"]
        for one in names:
            lines += _entry(name, one, getattr(module, one))
        lines += ["```", ""]
    return lines


def group(module: ModuleType) -> dict[str, list[str]]:
    """Return the names of a module by heading."""
    groups = GROUPS[module.__name__]
    public = sorted((one for one in module.__all__ if not one.startswith("__")), key=str.lower)
    named = {one for names in groups.values() for one in names.split()}
    found = {heading: [one for one in names.split() if one in public] for heading, names in groups.items()}
    for heading, kind in groups.items():
        found[heading] = found[heading] or [
            one for one in public if one not in named and _is_of(getattr(module, one), kind, groups)
        ]
    missing = set(public).difference(*found.values())
    if missing:
        raise ExtensionError(f"no group of {__name__}.GROUPS has {', '.join(sorted(missing))}")
    return found


def _is_of(one: object, kind: str, groups: dict[str, str]) -> bool:
    is_error = isinstance(one, type) and issubclass(one, Exception)
    if kind == REST:
        return not (is_error and ERRORS in groups.values())
    base = {POLICIES: Policy, NOISES: Noise, ERRORS: Exception}[kind]
    return isinstance(one, type) and issubclass(one, base)


def _entry(module: str, name: str, one: Any) -> list[str]:
    """Return a name as autodoc reads it, less members of which its base says the same, and fields, which a list has."""
    if not isinstance(one, type):
        return [f".. autofunction:: {module}.{name}", ""]
    lines = [f".. auto{'exception' if issubclass(one, Exception) else 'class'}:: {module}.{name}", "   :members:"]
    told = {member for base in BASES if base in one.__mro__[1:] for member in vars(base) if not member.startswith("_")}
    hidden = sorted({*told, *getattr(one, "_fields", ()), *(("limit", "to_dict") if _is_memory(one) else ())})
    return [*lines, *([f"   :exclude-members: {', '.join(hidden)}"] if hidden else []), ""]


def _is_memory(one: type) -> bool:
    return one.__module__ == Window.__module__


def setup(app: Any) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("module-summary", ModuleSummary)
    app.add_directive("module-reference", ModuleReference)
    return {"parallel_read_safe": True}
