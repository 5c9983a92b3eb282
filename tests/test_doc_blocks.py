"""Every block of every document is run, or read by what it is for; of what is not run here the reason is in a table."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cyclopts import CycloptsError

from benchmarks import gallery
from ocucb.cli import experiments
from ocucb.cli.app import app
from ocucb.cli.commands import identify as identify_command
from ocucb.cli.commands.compare import compare
from ocucb.lab import Experiment, Study
from ocucb.registry import GROUP
from ocucb.service.settings import Settings, load_settings
from ocucb.service.web.app import describe_api

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "production.md"
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "client/README.md")]
PAGES += sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)
FENCE = re.compile(r"^( *)(`{3,}|:{3,})([^\n]*)\n(.*?)^\1\2 *$", flags=re.MULTILINE | re.DOTALL)

ELSEWHERE = {  # which language of a block is run by what
    "python": "tests/test_docs.py, and with a service tests/client/test_client_pages.py",
    "py": "benchmarks/migration.py, where these libraries are; tests/test_docs.py holds what they print beside ours",
    "text": "nothing: it is what a command prints, or a list",
    "{code-cell} python": "docs/_ext/execute_notebooks.py, when tests/test_site.py makes the site",
    "{raw} html": "Sphinx, and tests/test_site.py opens the page",
    "bash": "tests/service/guide, and on pages other than the guide this file",
    "ini": "tests/service/guide",
    "nginx": "tests/service/guide",
    "sql": "tests/service/guide",
    "yaml": "tests/service/guide",
    "dockerfile": "nothing as a whole, as there is no Docker; this file calls its command",
}
HERE = {"sh", "toml", "json"}
PIP_NAMES = {"ocucb", "ocucb-client"}


class Block(NamedTuple):
    """A block of a document."""

    page: Path
    language: str
    text: str


def blocks() -> Iterator[Block]:
    for page in PAGES:
        for _, fence, language, text in FENCE.findall(page.read_text(encoding="utf-8")):
            if fence.startswith("`"):
                yield Block(page, language.strip(), text)


BLOCKS = list(blocks())


def lines(language: str) -> list[str]:
    """Return the commands in blocks of a language, each once, without comments."""
    texts = [block.text.replace("\\\n", " ") for block in BLOCKS if block.language == language]
    found = [line.split("  #")[0].strip() for text in texts for line in text.splitlines()]
    return list(dict.fromkeys(line for line in found if line and not line.startswith("#")))


COMMANDS = lines("sh")
IN_IMAGE = [part for line in lines("dockerfile") for part in line.split("&&") if "ocucb compile" in part]
IN_TEXT = sorted(
    {
        found
        for page in PAGES
        for found in re.findall(r"`(ocucb (?:[a-z]|--)[^`\n]*)`", FENCE.sub("", page.read_text(encoding="utf-8")))
        if "..." not in found and "|" not in found
    }
)


def parse(command: str) -> tuple[str, Any]:
    """Return the name and the arguments of a command, as the command line reads them; fail if it would refuse them."""
    words = shlex.split(command)
    assert words[0] == "ocucb"
    try:
        _, bound, _ = app.parse_args(words[1:], exit_on_error=False, print_error=False)
    except CycloptsError as problem:
        pytest.fail(f"{command}: {problem}")
    return words[1], bound


def test_every_block_is_of_a_language_that_something_runs() -> None:
    for block in BLOCKS:
        assert block.language in HERE | ELSEWHERE.keys(), f"{block.page}: what runs ```{block.language}?"
    assert {block.language for block in BLOCKS} >= ELSEWHERE.keys() | HERE, "a language that no block has"
    assert {block.page for block in BLOCKS if block.language in ("bash", "ini", "nginx", "sql", "yaml")} == {GUIDE}


@pytest.mark.filterwarnings("ignore::ocucb.GuaranteeWarning")
@pytest.mark.parametrize("command", [one for one in COMMANDS if one.startswith("ocucb ")])
def test_commands(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparisons and verdicts are made, of two runs and without figures; studies are read; others are parsed."""
    name, bound = parse(command)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(experiments, "write_comparison", lambda *_: None)
    monkeypatch.setattr(identify_command, "_draw", lambda *_: [])
    (tmp_path / "seen.csv").write_text("arm,reward,count\nred,1,3\nred,0,5\ngreen,1,4\ngreen,0,2\n", encoding="utf-8")
    given = dict(bound.arguments)
    if name == "compare":
        compare(**given | {"runs": 2, "horizon": min(given.get("horizon", 10_000), 10_000)})
        assert (tmp_path / given.get("output", "ocucb-compare") / "results.zarr").is_dir()
    elif name == "identify":
        identify_command.identify(**given | {"runs": 2, "max_rounds": 60, "executor": "threads:1"})
        assert (tmp_path / given.get("output", "ocucb-identify") / "table.csv").is_file()
    elif name == "run":
        found = Study.built_in().get(given["study"]) or Study.read(ROOT / given["study"])
        assert list(found.experiments(given.get("size", "quick")))


@pytest.mark.parametrize("command", [*IN_IMAGE, *IN_TEXT])
def test_commands_in_the_text_are_ones_that_there_are(command: str) -> None:
    """A name alone stands for the command; with words after it, it is what the command line must take."""
    words = shlex.split(command)
    if len(words) == 2 or "--help" in words:
        assert words[1] in app
    else:
        parse(command)


@pytest.mark.parametrize("command", [one for one in COMMANDS if not one.startswith("ocucb ")])
def test_other_commands(command: str) -> None:
    """What make, pip, Python and curl are told to use is there."""
    words = shlex.split(command)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    elif words[:2] == ["pip", "install"]:
        assert {word.split("[")[0] for word in words[2:]} <= PIP_NAMES
    elif words[:2] == ["python", "-m"]:
        assert importlib.util.find_spec(words[2]) is not None
        assert words[2] != "benchmarks.gallery" or set(words[3:]) <= gallery.COMMANDS.keys() | gallery.DRAWN.keys()
    else:
        assert words[0] == "curl", f"what runs {command}?"
        path, _, query = words[-1].partition("?")
        route = describe_api()["paths"][re.sub("(?<=experiments/)[^/]+", "{name}", path.split("example", 1)[1])]
        known = {one["name"] for one in route["get"]["parameters"]}
        assert {one.split("=")[0] for one in query.split("&")} <= known


@pytest.mark.parametrize("block", [one for one in BLOCKS if one.language == "toml"], ids=lambda one: one.page.stem)
def test_toml_is_read_by_what_it_is_for(block: Block, tmp_path: Path) -> None:
    if block.page.stem == "environments":
        experiment = Experiment.from_toml(block.text)
        assert len(experiment.problems) == 3
    elif block.page.stem == "new_noise":
        assert list(tomllib.loads(block.text)["project"]["entry-points"]) == [GROUP]
    else:
        (tmp_path / "ocucb.toml").write_text(block.text, encoding="utf-8")
        assert load_settings({}, {}, tmp_path / "ocucb.toml") != Settings()


@pytest.mark.parametrize("block", [one for one in BLOCKS if one.language == "json"], ids=lambda one: one.page.stem)
def test_json_has_the_shape_that_the_service_sends(block: Block) -> None:
    shape = json.loads(block.text)
    schemas = describe_api()["components"]["schemas"]
    error = next(one for one in schemas.values() if "request_id" in one.get("properties", {}))
    assert shape["error"].keys() == error["properties"].keys()
