"""The lab: regret experiments with honest error bars.

>>> from ocucb import UCB, OCUCBn
>>> from ocucb.lab import Experiment, mixed_gaps, simulate
>>> policies = (("OCUCB-n", OCUCBn()), ("UCB", UCB()))
>>> experiment = Experiment((mixed_gaps(),), policies, horizon=1000, runs=20)
>>> result = simulate(experiment)
>>> [row.runs for row in result.summary()]
[20, 20]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ocucb.lab.delays import Delay
from ocucb.lab.exact import exact_regret
from ocucb.lab.experiment import Experiment
from ocucb.lab.fleet import Fleet
from ocucb.lab.priors import Prior
from ocucb.lab.problem import (
    Problem,
    bernoulli_rare,
    bernoulli_worst_case,
    from_data,
    linear_gaps,
    mixed_gaps,
    moss_trap,
    random,
    rotating,
    switching,
    worst_case,
)
from ocucb.lab.remembering import Remembering
from ocucb.lab.study import Study, Sweep

if TYPE_CHECKING:
    from ocucb.lab.identification import Identification
    from ocucb.lab.identification_result import IdentificationResult
    from ocucb.lab.identification_runs import identify
    from ocucb.lab.result import Result
    from ocucb.lab.simulation import Progress, simulate
    from ocucb.lab.summary import Summary, SummaryRow
else:
    _LATER = {
        "Identification": "identification",
        "IdentificationResult": "identification_result",
        "identify": "identification_runs",
        "Progress": "simulation",
        "Result": "result",
        "Summary": "summary",
        "SummaryRow": "summary",
        "simulate": "simulation",
    }

    def __getattr__(name: str) -> object:
        """Import what needs SciPy or xarray when it is asked for: the service has neither, and they take longest."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "Delay",
    "Experiment",
    "Fleet",
    "Identification",
    "IdentificationResult",
    "Prior",
    "Problem",
    "Progress",
    "Remembering",
    "Result",
    "Study",
    "Summary",
    "SummaryRow",
    "Sweep",
    "bernoulli_rare",
    "bernoulli_worst_case",
    "exact_regret",
    "from_data",
    "identify",
    "linear_gaps",
    "mixed_gaps",
    "moss_trap",
    "random",
    "rotating",
    "simulate",
    "switching",
    "worst_case",
]
