"""The names of the lab: exactly these, each documented, and nothing heavy loaded with them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import pytest

from ocucb import lab
from ocucb.lab.problem import NAMED

PROBLEMS = [
    "bernoulli_rare",
    "bernoulli_worst_case",
    "linear_gaps",
    "mixed_gaps",
    "moss_trap",
    "random",
    "rotating",
    "switching",
    "worst_case",
]
NAMES = sorted(
    [
        *PROBLEMS,
        "Delay",
        "Experiment",
        "Identification",
        "IdentificationResult",
        "Prior",
        "Problem",
        "Progress",
        "Fleet",
        "Remembering",
        "Result",
        "Study",
        "Summary",
        "SummaryRow",
        "Sweep",
        "exact_regret",
        "from_data",
        "identify",
        "simulate",
    ]
)
HEAVY = ["matplotlib", "xarray", "pandas", "zarr", "plotly", "distributed", "ray"]


def python(code: str) -> str:
    """Run code in a fresh interpreter that treats warnings as errors, and return what it prints."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_exactly_these_names_are_public() -> None:
    assert sorted(lab.__all__) == NAMES
    assert len(set(lab.__all__)) == len(lab.__all__)
    star: dict[str, Any] = {}
    exec("from ocucb.lab import *", star)
    assert sorted(name for name in star if name != "__builtins__") == NAMES


def test_no_other_name_looks_public() -> None:
    ours = {name: value for name, value in vars(lab).items() if not name.startswith("_")}
    shown = {name for name, value in ours.items() if not inspect.ismodule(value)} - {"TYPE_CHECKING", "annotations"}
    assert shown <= set(NAMES)
    assert set(NAMES) <= set(dir(lab))
    with pytest.raises(AttributeError, match=r"module 'ocucb\.lab' has no attribute 'nonsense'"):
        getattr(lab, "nonsense")  # noqa: B009


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_documented(name: str) -> None:
    value = getattr(lab, name)
    first = (value.__doc__ or "").strip().splitlines()[0]
    assert first.endswith((".", ":"))
    assert not first.startswith(f"{name}("), "a docstring that dataclass made up"
    assert value.__module__.startswith("ocucb.lab."), "no name is borrowed"


def test_all_named_problems_are_there() -> None:
    assert sorted(NAMED) == PROBLEMS


def test_everything_a_result_does_is_documented() -> None:
    public = [name for name in vars(lab.Result) if not name.startswith("_")]
    assert sorted(public) == ["curves", "dataset", "load", "plot", "report", "summary", "to_dataframe"]
    for name in public:
        assert inspect.getdoc(getattr(lab.Result, name)), name


def test_everything_an_identification_returns_is_documented() -> None:
    public = [name for name in vars(lab.IdentificationResult) if not name.startswith("_")]
    assert sorted(public) == ["plot", "remark", "report", "summary", "table", "title"]
    for name in public:
        assert inspect.getdoc(getattr(lab.IdentificationResult, name)), name


def test_signatures_are_as_promised() -> None:
    assert list(inspect.signature(lab.simulate).parameters) == ["experiment", "executor", "folder", "progress"]
    assert list(inspect.signature(lab.Result).parameters) == ["experiment", "dataset"]


def test_import_is_light() -> None:
    code = f"""
import sys
from ocucb.lab import Experiment, Problem, Study, mixed_gaps
print([name for name in {HEAVY!r} if name in sys.modules])
from ocucb.lab import Result, simulate
print([name for name in {HEAVY!r} if name in sys.modules])
print(simulate.__name__)
"""
    first, then, function = python(code).splitlines()
    assert first == "[]"
    assert not {"matplotlib", "zarr", "plotly", "distributed", "ray"} & set(eval(then))
    assert function == "simulate"
