"""What is said about the distribution in several places is the same in all of them."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

import ocucb
import ocucb_client

ROOT = Path(__file__).parent.parent


def project(folder: str = ".") -> dict[str, Any]:
    data: dict[str, Any] = tomllib.loads(text(f"{folder}/pyproject.toml"))["project"]
    return data


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_workflow_and_the_classifiers_name_the_same_versions_of_python() -> None:
    listed = [one.rpartition(" ")[2] for one in project()["classifiers"] if "Python :: 3." in one]
    tested = re.search(r"python: \[(.*)\]", text(".github/workflows/test.yml"))
    assert tested is not None
    assert re.findall(r'"([\d.]+)"', tested[1]) == listed
    assert project()["requires-python"] == f">={listed[0]}"
    assert len(listed) == 3


def test_the_workflow_runs_make_test() -> None:
    assert re.findall(r"- run: (make .*)", text(".github/workflows/test.yml")) == ["make test"]
    assert text(".ci/run").splitlines()[-1] == "make test"


def test_pre_commit_runs_the_checks_of_make_check() -> None:
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", text("Makefile"), flags=re.MULTILINE)
    assert recipe is not None
    checks = [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe[1].splitlines()]
    assert re.findall(r"entry: (.*)", text(".pre-commit-config.yaml")) == checks
    assert len(checks) == 4


def test_the_license_is_the_one_declared() -> None:
    assert project()["license"] == "MIT"
    assert text("LICENSE").startswith("MIT License\n")
    assert project()["authors"] == [{"name": "The ocucb authors"}]
    assert "The ocucb authors" in text("LICENSE")


def test_the_version_is_the_same_everywhere() -> None:
    version = project()["version"]
    asked = subprocess.run([sys.executable, "-m", "ocucb.cli", "--version"], capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == version
    assert f"\nversion: {version}\n" in text("CITATION.cff")
    assert ocucb_client.__version__ == version


def test_the_citation_names_the_software_and_the_paper() -> None:
    citation = text("CITATION.cff")
    assert f"\nrepository-code: {project()['urls']['Repository']}\n" in citation
    assert f"\nlicense: {project()['license']}\n" in citation
    assert "Regret Analysis of the Anytime Optimally Confident UCB Algorithm" in citation
    assert "arXiv:1603.08661" in citation


def test_both_distributions_say_the_same_of_themselves() -> None:
    for name in ("license", "license-files", "authors", "requires-python"):
        assert project()[name] == project("client")[name]
    versions = [[one for one in project(folder)["classifiers"] if "Python" in one] for folder in (".", "client")]
    assert versions[0] == versions[1]
    links, of_client = project()["urls"], project("client")["urls"]
    assert all(links[name] == of_client[name] for name in ("Repository", "Changelog", "Issues"))
    assert text("LICENSE") == text("client/LICENSE")


def test_links_of_the_project_stand_under_its_repository() -> None:
    urls = project()["urls"]
    assert all(url.startswith(urls["Repository"]) for url in urls.values())
    assert f"({urls['Repository']}/security/advisories/new)" in text("SECURITY.md")


def test_type_checkers_find_the_types() -> None:
    assert (Path(str(ocucb.__file__)).parent / "py.typed").is_file()


def test_what_developers_install_runs_on_the_oldest_python() -> None:
    """Also on its first release: a system may have that one, and some packages want a later one."""
    oldest = project()["requires-python"].removeprefix(">=") + ".0"
    installed = {one.metadata["Name"]: one.metadata.get_all("Requires-Python") or [] for one in distributions()}
    assert len(installed) > 100
    too_new = {
        name: needs for name, needs in installed.items() if not all(oldest in SpecifierSet(one) for one in needs)
    }
    assert too_new == {}
