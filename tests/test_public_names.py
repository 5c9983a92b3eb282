"""The public names: exactly these, each documented, and nothing else loaded with them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import ocucb

POLICIES = [
    "AdaUCB",
    "BayesUCB",
    "EpsilonGreedy",
    "EpsilonThompson",
    "ExpTS",
    "ExpTSPlus",
    "Gittins",
    "Greedy",
    "IMED",
    "KLLUCB",
    "KLUCB",
    "KLUCBHPlus",
    "KLUCBPlus",
    "KLUCBPlusPlus",
    "KLUCBSwitch",
    "MOSS",
    "MOSSAnytime",
    "MaillardSampling",
    "OCUCB",
    "OCUCBn",
    "ThompsonSampling",
    "TopTwo",
    "UCB",
    "UCBTuned",
    "UCBV",
    "Uniform",
]
NOISES = ["Bernoulli", "Bounded", "Exponential", "Gaussian", "GaussianUnknownScale", "Poisson"]
MEMORIES = ["Discount", "Restart", "Window"]
ERRORS = ["ArmError", "HorizonError", "OcucbError", "ParameterError", "RewardError", "StateError"]
OTHERS = [
    "ArmStatistics",
    "Bandit",
    "Choice",
    "GuaranteeWarning",
    "Intervals",
    "LevelPolicy",
    "Noise",
    "Policy",
    "Statistics",
    "Verdict",
    "level",
    "register",
]
NAMES = sorted([*POLICIES, *NOISES, *MEMORIES, *ERRORS, *OTHERS])

# What `import ocucb` may load: itself, its two dependencies, and what those load of their own accord.
LISTING = "import sys; {}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
BLOCKED = ["scipy", "matplotlib", "mpmath", "hypothesis", "pytest", "pandas", "torch", "cupy", "sklearn", "tqdm"]


def python(code: str) -> str:
    """Run code in a fresh interpreter that treats warnings as errors, and return what it prints."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_exactly_these_names_are_public() -> None:
    assert sorted(ocucb.__all__) == NAMES
    assert len(set(ocucb.__all__)) == len(ocucb.__all__)
    star: dict[str, Any] = {}
    exec("from ocucb import *", star)
    assert sorted(name for name in star if name != "__builtins__") == NAMES


def test_no_other_name_looks_public() -> None:
    """Modules of the package aside, what dir() shows to a user is the list."""
    shown = [name for name, value in vars(ocucb).items() if not name.startswith("_") and not inspect.ismodule(value)]
    assert sorted(shown) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_documented(name: str) -> None:
    value = getattr(ocucb, name)
    assert value.__doc__ is not None
    first = value.__doc__.strip().splitlines()[0]
    assert first.endswith((".", ":"))
    assert not first.startswith(f"{name}("), "a docstring that dataclass made up"
    if inspect.isclass(value):
        assert "__doc__" in vars(value), "a docstring of its own, not inherited"


def test_everything_a_bandit_does_is_documented() -> None:
    public = {name: value for name, value in vars(ocucb.Bandit).items() if not name.startswith("_")}
    assert sorted(public) == [
        "add_arm",
        "arms",
        "best",
        "choose",
        "choose_many",
        "count_pull",
        "decide",
        "decide_many",
        "effective_arms",
        "explain",
        "explain_many",
        "forget",
        "from_dict",
        "indices",
        "intervals",
        "is_retired",
        "learn",
        "learn_many",
        "learned",
        "load",
        "means",
        "memory",
        "merge",
        "noise",
        "peek",
        "peek_many",
        "pending",
        "policy",
        "pulls",
        "restarts",
        "retire_arm",
        "retired_arms",
        "revise",
        "rounds",
        "save",
        "saved",
        "set_shares",
        "shares",
        "statistics",
        "to_dict",
    ]
    for name in public:
        assert inspect.getdoc(getattr(ocucb.Bandit, name)), name


def test_what_is_known_of_arms_has_these_parts() -> None:
    one = list(ocucb.ArmStatistics._fields)
    assert one == ["pulls", "pending", "mean", "index", "effective_arms"]
    assert ocucb.Choice._fields == ("arm", "statistics", "probability")
    many = ("arms", "retired", "pulls", "pending", "means", "indices", "effective_arms", "spreads", "remembered")
    assert ocucb.Statistics._fields == many


def test_signatures_are_as_promised() -> None:
    bandit = inspect.signature(ocucb.Bandit).parameters
    assert list(bandit) == ["policy", "arms", "noise", "seed", "shares", "memory"]
    assert [bandit[name].default for name in ("noise", "seed", "shares")] == [None, None, None]
    assert str(inspect.signature(ocucb.Bandit.load)).startswith("(path")
    assert ocucb.OCUCBn() == ocucb.OCUCBn(eta=1.1, rho=0.5, shrink="none")
    assert ocucb.Gaussian() == ocucb.Gaussian(scale=1.0)
    assert ocucb.Bandit(ocucb.OCUCBn(), 2).noise == ocucb.Gaussian(1.0)


@pytest.mark.parametrize("name", POLICIES)
def test_policies_are_policies(name: str) -> None:
    assert issubclass(getattr(ocucb, name), ocucb.Policy)


@pytest.mark.parametrize("name", NOISES)
def test_noises_are_noises(name: str) -> None:
    assert issubclass(getattr(ocucb, name), ocucb.Noise)


@pytest.mark.parametrize(
    ("name", "built_in"),
    [
        ("ArmError", LookupError),
        ("HorizonError", RuntimeError),
        ("ParameterError", ValueError),
        ("RewardError", ValueError),
        ("StateError", ValueError),
    ],
)
def test_errors_are_one_tree(name: str, built_in: type[Exception]) -> None:
    assert issubclass(getattr(ocucb, name), ocucb.OcucbError)
    assert issubclass(getattr(ocucb, name), built_in)


def test_a_warning_of_a_lost_guarantee_is_no_error() -> None:
    assert issubclass(ocucb.GuaranteeWarning, UserWarning)
    assert not issubclass(ocucb.GuaranteeWarning, ocucb.OcucbError)


def test_the_version_is_that_of_the_package() -> None:
    assert ocucb.__version__ == metadata.version("ocucb")


def test_types_are_published() -> None:
    assert (Path(ocucb.__file__).parent / "py.typed").is_file()


def test_import_is_silent_and_loads_nothing_beyond_its_dependencies() -> None:
    dependencies = set(python(LISTING.format("import numpy, numba, numba.extending, numba.np.arrayobj")).split())
    printed = python(LISTING.format("import ocucb"))
    assert printed.count("\n") == 1  # the listing itself
    loaded = set(printed.split())
    assert "ocucb" in loaded
    assert loaded - dependencies - set(sys.stdlib_module_names) == {"ocucb"}
    assert "matplotlib" not in loaded


def test_it_plays_with_its_two_dependencies_alone() -> None:
    """Numba loads scipy where it finds it; here it finds none."""
    code = f"""
import sys
for name in {BLOCKED!r}:
    sys.modules[name] = None
import ocucb
bandit = ocucb.Bandit(ocucb.OCUCBn(), arms=["red", "green", "blue"])
for _ in range(10):
    bandit.learn(bandit.choose(), 0.5)
print(bandit.rounds, [name for name in {BLOCKED!r} if sys.modules.get(name)])
"""
    assert python(code).strip() == "10 []"
