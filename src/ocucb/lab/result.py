"""What `simulate` returns: the runs, and the experiment they are of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ocucb.errors import ParameterError, StateError
from ocucb.lab.curves import RegretCurves, regret_curves
from ocucb.lab.experiment import Experiment
from ocucb.lab.problem import Problem
from ocucb.lab.runs import Runs, runs_of
from ocucb.lab.statistics import Band, IntervalKind
from ocucb.lab.summary import Summary, summarize

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

# xarray, Zarr, Matplotlib and Plotly are imported by the methods that need them: each takes as long as a small
# simulation.


class Result:
    """The runs of an experiment. Printed, or in a notebook, it is the table that `summary` returns.

    Parameters
    ----------
    experiment : what was played.
    dataset : regret (problem, policy, run, t) and pulls (problem, policy, run, arm) of the finished runs.
    """

    def __init__(self, experiment: Experiment, dataset: Runs | xr.Dataset) -> None:
        self.experiment = experiment
        self.runs = runs_of(dataset)
        self._dataset = None if isinstance(dataset, Runs) else dataset
        self._summaries: dict[IntervalKind, Summary] = {}
        self._curves: dict[tuple[str, Band, bool], RegretCurves] = {}

    @classmethod
    def load(cls, folder: str | Path, experiment: Experiment | None = None) -> Result:
        """Return what `simulate` has kept in a folder, finished or not.

        experiment : needed only where a policy or a noise family is the user's own, which no file can hold.

        Raises StateError if the folder holds no results, or those of another experiment.
        """
        from ocucb.lab.store import ResultStore  # noqa: PLC0415

        store = ResultStore.open(folder, experiment)
        if experiment is None:
            try:
                experiment = Experiment.from_toml(store.attributes["experiment"])
            except ParameterError as problem:
                raise StateError(
                    f"{folder} must be loaded with its experiment, of which a part is the user's own: {problem}; "
                    "use Result.load(folder, experiment)"
                ) from None
        return cls(experiment, store.runs())

    @property
    def dataset(self) -> xr.Dataset:
        """The runs as an `xarray.Dataset`: regret (problem, policy, run, t), pulls (problem, policy, run, arm)."""
        if self._dataset is None:
            from ocucb.lab.dataset import make_dataset  # noqa: PLC0415

            self._dataset = make_dataset(self.runs)
        return self._dataset

    def summary(self, interval: IntervalKind = "normal") -> Summary:
        """Return mean regret at the horizon with its 95 % interval, and paired differences to the first policy.

        interval : "normal", or by the bootstrap "percentile" or "bca".
        """
        if interval not in self._summaries:
            self._summaries[interval] = summarize(self.runs, self.experiment, interval)
        return self._summaries[interval]

    def curves(
        self, problem: str | Problem | None = None, band: Band = "normal", *, theory: bool = True
    ) -> RegretCurves:
        """Return what a figure shows of a problem: the mean regret of each policy against t with a band, and bounds.

        problem : one of the experiment's, or its name; None where there is one only.
        band : an interval of the mean, as in `summary`; or "quantiles", the 5 % to 95 % quantiles of runs.
        theory : whether to return bounds.
        """
        ours = self._problem(problem)
        key = ours.name, band, theory
        if key not in self._curves:
            self._curves[key] = regret_curves(self.runs, ours, band, theory=theory)
        return self._curves[key]

    def plot(
        self, problem: str | Problem | None = None, *, band: Band = "normal", theory: bool = True, **options: Any
    ) -> Figure:
        """Return a figure of mean regret against t, with bands and bounds.

        problem, band, theory : as in `curves`.
        options : t_scale, regret_scale and width, as `plots.regret_figure` takes them.
        """
        from ocucb.lab.plots import regret_figure  # noqa: PLC0415

        return regret_figure(self.curves(problem, band, theory=theory), self._problem(problem), **options)

    def report(self, path: str | Path) -> None:
        """Write one HTML page with charts, table, settings and provenance, which needs no network."""
        from ocucb.lab.report import write_report  # noqa: PLC0415

        write_report(self, path)

    def to_dataframe(self) -> Any:
        """Return a `pandas.DataFrame` with one line per problem, policy, finished run and checkpoint: its regret."""
        frame: Any = self.dataset["regret"].drop_vars("finished", errors="ignore").to_dataframe()
        return frame.dropna().reset_index()

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        problems = ", ".join(problem.name for problem in self.experiment.problems)
        return f"<Result: {', '.join(self.experiment.labels)} on {problems}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def _problem(self, asked: str | Problem | None) -> Problem:
        by_name = {problem.name: problem for problem in self.experiment.problems}
        name = asked.name if isinstance(asked, Problem) else asked
        if name is None and len(by_name) == 1:
            return self.experiment.problems[0]
        if name not in by_name:
            got = "none" if name is None else repr(name)
            raise ParameterError(f"problem must be one of {', '.join(map(repr, by_name))}, got {got}")
        return by_name[str(name)]


def join_results(results: Sequence[Result]) -> Result:
    """Return results that differ in their problems alone as one."""
    if len(results) == 1:
        return results[0]
    problems = tuple(problem for result in results for problem in result.experiment.problems)
    experiment = replace(results[0].experiment, problems=problems)
    from ocucb.lab.dataset import join_datasets  # noqa: PLC0415

    dataset = join_datasets([result.dataset for result in results])
    return Result(experiment, dataset.assign_attrs(experiment=experiment.describe()))
