"""The registry: classes of one's own by name, what it refuses, and plugins that other processes find."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

import ocucb
from ocucb.errors import ParameterError, StateError
from ocucb.lab.spec import describe_noise, describe_policy, format_noise, format_policy, parse_noise, parse_policy
from ocucb.noise import NOISES, Bernoulli, Family, Gaussian, Noise
from ocucb.policies import POLICIES, LevelPolicy, Policy, Rule
from ocucb.registry import Registry

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def _only_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten after it."""
    for registry in (POLICIES, NOISES):
        monkeypatch.setattr(registry, "_classes", dict(registry._classes))


def own(**members: Any) -> type[Gaussian]:
    given = {"__doc__": "Noise of one's own.", "__module__": __name__, "name": "own", **members}
    return dataclass(frozen=True)(type("Own", (Gaussian,), given))


def test_a_noise_family_is_known_by_its_name() -> None:
    kind = ocucb.register(own())
    assert NOISES["own"] is kind
    assert list(NOISES)[-1] == "own"
    assert len(NOISES) == 7
    assert NOISES.from_dict({"name": "own", "parameters": {"scale": 2.0}}) == kind(2.0)
    assert parse_noise("own(scale=2)") == parse_noise("OWN(2)") == kind(2.0)
    assert parse_noise(format_noise(kind(2.0))) == kind(2.0)
    assert describe_noise(kind(2.0)).startswith("own: own(scale=2)\n@kernel\ndef divergence")
    bandit = ocucb.Bandit(ocucb.UCB(), 2, kind(2.0))
    assert ocucb.Bandit.from_dict(bandit.to_dict()).noise == kind(2.0)


def test_a_policy_is_known_by_its_name() -> None:
    @ocucb.register
    @dataclass(frozen=True)
    class Own(Policy):
        """A policy of one's own."""

        name: ClassVar[str] = "own"
        formula: ClassVar[str] = "as ucb"
        source: ClassVar[str] = "this file"

        def rule(self) -> Rule:
            return ocucb.UCB().rule()

    assert POLICIES["own"] is Own
    assert parse_policy("own", 10) == Own()
    assert format_policy(Own()) == "own()"
    assert describe_policy(Own()).startswith("own: own()")
    assert ocucb.Bandit.from_dict(ocucb.Bandit(Own(), 2).to_dict()).policy == Own()
    with pytest.raises(ParameterError, match="name must be new, got 'own', which is Own"):
        LevelPolicy("own", lambda t, pulls, effective, arms, parameters: 1.0, trend="falls")


def test_a_class_made_anew_takes_the_place_of_the_old() -> None:
    """As a cell of a notebook that is run twice does."""
    first, second = ocucb.register(own()), ocucb.register(own())
    assert NOISES["own"] is second is not first


def test_names_are_given_once() -> None:
    with pytest.raises(ParameterError) as caught:
        ocucb.register(own(name="gaussian"))
    assert str(caught.value) == (
        "name of a noise family must be new, got 'gaussian', which is Gaussian of ocucb.noise.gaussian; give the class "
        "another name"
    )
    assert NOISES["gaussian"] is Gaussian
    ocucb.register(own(name="ucb"))  # a policy's name is no family's


class Abstract(Noise):
    """A family without a family."""


class Undecorated(Bernoulli):
    """A family that is no dataclass of its own."""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "what is registered must be a class that inherits from Noise or Policy, got 3"),
        (dict, "must be a class that inherits from Noise or Policy, got <class 'dict'>"),
        (Gaussian(), "must be a class that inherits from Noise or Policy, got Gaussian"),
        (Undecorated, "Undecorated must be a dataclass; write @dataclass\\(frozen=True\\) before it"),
        (
            dataclass(frozen=True)(cast(Any, Abstract)),
            "Abstract must define all .* it has no family, standard_deviation",
        ),
        (own(name="Own Noise"), "must be of small letters, digits, \\+ and -, got 'Own Noise'; use one like"),
        (own(summary=None), 'Own must have a summary; write summary: ClassVar\\[str\\] = "..." in it'),
        (own(name=7), "Own must have a name"),
        (LevelPolicy, "LevelPolicy must have a name; write name: ClassVar"),
    ],
)
def test_what_cannot_be_registered(given: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        ocucb.register(given)
    assert "\n" not in str(caught.value)


def test_a_registry_takes_its_own_kind() -> None:
    with pytest.raises(ParameterError, match="policy must be a class that inherits from Policy, got"):
        POLICIES.register(Gaussian)
    assert isinstance(POLICIES, Registry)


def test_unknown_names_say_what_to_do() -> None:
    with pytest.raises(StateError) as caught:
        NOISES.from_dict({"name": "cauchy", "parameters": {}})
    assert str(caught.value) == (
        "noise must be one of gaussian, bernoulli, bounded, poisson, exponential, gaussian-unknown-scale, got "
        "'cauchy'; build a noise family of your own in code, or register its class with ocucb.register in a module "
        "that the entry points ocucb.plugins name"
    )
    assert "cauchy" not in NOISES
    assert NOISES.get("cauchy") is None
    with pytest.raises(KeyError):
        NOISES["cauchy"]


def test_a_family_may_lack_nothing_but_defaults() -> None:
    class Least(Noise):
        """The least that a family is."""

        name: ClassVar[str] = "least"
        formula: ClassVar[str] = "as Gaussian noise"
        summary: ClassVar[str] = "anything"

        def family(self) -> Family:
            return Gaussian().family()

        def standard_deviation(self, mean: float) -> float:
            return 1.0

    assert NOISES.from_dict({"name": ocucb.register(dataclass(frozen=True)(Least)).name, "parameters": {}}) == Least()


PLUGIN = """
from dataclasses import dataclass
from typing import ClassVar
import ocucb

@ocucb.register
@dataclass(frozen=True)
class Plugged(ocucb.Gaussian):
    '''Noise that only a plugin knows.'''
    name: ClassVar[str] = "plugged"
"""


def run_with_plugin(folder: Path, module: str, code: str) -> subprocess.CompletedProcess[str]:
    (folder / "plugged_noise.py").write_text(module)
    facts = folder / "plugged_noise-1.0.dist-info"
    facts.mkdir(exist_ok=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged-noise\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[ocucb.plugins]\nplugged = plugged_noise\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(folder)])}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


def test_a_process_finds_plugins_when_it_meets_an_unknown_name(tmp_path: Path) -> None:
    code = """
import sys
import ocucb
from ocucb.noise import NOISES
assert "gaussian" in NOISES and "plugged_noise" not in sys.modules
noise = NOISES.from_dict({"name": "plugged", "parameters": {"scale": 3.0}})
print(noise, "plugged_noise" in sys.modules)
"""
    done = run_with_plugin(tmp_path, PLUGIN, code)
    assert done.stderr == ""
    assert done.stdout == "Plugged(scale=3.0) True\n"


def test_a_plugin_that_cannot_be_imported_says_so(tmp_path: Path) -> None:
    code = """
from ocucb.errors import StateError
from ocucb.noise import NOISES
for _ in range(2):
    try:
        NOISES.get("plugged")
    except StateError as problem:
        print(problem)
"""
    done = run_with_plugin(tmp_path, "import nothing_of_this_name\n", code)
    line = (
        "plugin plugged could not be imported from plugged_noise: No module named 'nothing_of_this_name'; "
        "correct or uninstall it"
    )
    assert done.stdout.splitlines() == [line] * 2, done.stderr
