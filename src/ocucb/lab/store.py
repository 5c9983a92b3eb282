"""The result store: one finished shard is one whole chunk on disk, so a study that was killed goes on where it stopped.

A Zarr v3 group that xarray can open too. A chunk is written beside its place, renamed into it, and ends in a checksum.
"""

from __future__ import annotations

import json
import re
import reprlib
import tomllib
import warnings
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import zarr
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.errors import GroupNotFoundError, ZarrUserWarning
from zarr.storage import LocalStore

from ocucb.errors import StateError
from ocucb.lab.experiment import Experiment, Key
from ocucb.lab.runs import Runs, gather_runs, provenance
from ocucb.lab.shard import ShardResult

if TYPE_CHECKING:
    import xarray as xr

FORMAT = "ocucb lab results"
VERSION = 1
DRAFT = ".partial"  # how Zarr ends the names of files it has not finished
CHUNK = re.compile(r"(regret|pulls)/c/(\d+)/(\d+)/(\d+)/0")


class ResultStore:
    """Regret and pulls of every run that is finished, in a folder; laid out as in `dataset`."""

    def __init__(self, group: zarr.Group, path: Path) -> None:
        self._group = group
        self._path = path
        self._regret = _array(group, "regret")
        self._pulls = _array(group, "pulls")
        self._block = self._regret.chunks[2]
        self._kept = self._find()

    @classmethod
    def create_or_open(cls, path: str | Path, experiment: Experiment) -> ResultStore:
        """Return the store of an experiment in a folder, made if need be.

        Raises StateError if the folder holds something else, or the results of another experiment.
        """
        place = Path(path)
        group = _open(place)
        if group is None:
            mark = {"format": FORMAT, "version": VERSION}
            mark |= {"experiment": experiment.describe(), "provenance": json.dumps(provenance(experiment.seed))}
            group = zarr.create_group(LocalStore(place), zarr_format=3, attributes=dict(mark))
        else:
            _same(group, experiment, place)
        if group.metadata.consolidated_metadata is None:  # written last: without it, making the store broke off
            group = _furnish(group, experiment)
        return cls(group, place)

    @classmethod
    def open(cls, path: str | Path, experiment: Experiment | None = None) -> ResultStore:
        """Return the store in a folder, to be read.

        Raises StateError if it holds no results, or those of another experiment.
        """
        group = _open(Path(path))
        if group is None or group.metadata.consolidated_metadata is None:
            raise StateError(f"{path} must hold results, got nothing there; run the study first")
        if experiment is not None:
            _same(group, experiment, path)
        return cls(group, Path(path))

    @property
    def attributes(self) -> dict[str, str]:
        """The experiment, described as TOML, and its provenance, as JSON."""
        return {name: str(self._group.attrs[name]) for name in ("experiment", "provenance")}

    def write(self, key: Key, outcome: ShardResult) -> None:
        """Keep the outcome of a shard. Regret comes last: when it is there, all is."""
        problem, policy, block = key
        rows = slice(block * self._block, block * self._block + len(outcome.regret))
        pulls = np.full((len(outcome.pulls), self._pulls.shape[3]), -1, dtype=np.int64)
        pulls[:, : outcome.pulls.shape[1]] = outcome.pulls
        self._pulls[problem, policy, rows] = pulls
        self._regret[problem, policy, rows] = outcome.regret
        self._kept.add(key)

    def read(self, problem: int, policy: int, first: int, last: int) -> dict[Key, ShardResult]:
        """Return the shards of the blocks from the first up to, not including, the last; but none that is torn."""
        kept = [block for block in range(first, last) if (problem, policy, block) in self._kept]
        if not kept:
            return {}
        runs = slice(first * self._block, min(last * self._block, self._regret.shape[2]))
        try:
            regret = np.asarray(self._regret[problem, policy, runs], dtype=np.float64)
            pulls = np.asarray(self._pulls[problem, policy, runs], dtype=np.int64)
        except ValueError:  # a checksum is wrong somewhere: look at each chunk alone
            if last - first == 1:
                return {}
            parts = [self.read(problem, policy, block, block + 1) for block in kept]
            return {key: outcome for part in parts for key, outcome in part.items()}
        found = {}
        for block in kept:
            rows = slice((block - first) * self._block, (block - first + 1) * self._block)
            choices = np.empty((len(regret[rows]), 0), dtype=np.int64)
            found[problem, policy, block] = ShardResult(regret[rows], pulls[rows], choices)
        return found

    def dataset(self) -> xr.Dataset:
        """Return all finished runs as a dataset."""
        from ocucb.lab.dataset import make_dataset  # noqa: PLC0415 - xarray, which nothing else here needs

        return make_dataset(self.runs())

    def runs(self) -> Runs:
        """Return all finished runs."""
        problems, policies, _, arms = self._pulls.shape
        blocks = 1 + max((block for _, _, block in self._kept), default=-1)
        outcomes: dict[Key, ShardResult] = {}
        for problem in range(problems):
            for policy in range(policies):
                outcomes |= self.read(problem, policy, 0, blocks)
        coordinates: dict[str, Sequence[Any]] = {
            name: [str(value) for value in _values(self._group, name)] for name in ("problem", "policy")
        }
        coordinates |= {"t": _values(self._group, "t").tolist(), "arm": range(arms)}
        return gather_runs(outcomes, self._block, coordinates, self.attributes)

    def _find(self) -> set[Key]:
        """Return the shards that have both their chunks. Only names are looked at: most of the room may be empty."""
        found: dict[str, set[Key]] = {"regret": set(), "pulls": set()}
        for match in filter(None, map(CHUNK.fullmatch, _names(self._path))):
            found[match[1]].add((int(match[2]), int(match[3]), int(match[4])))
        return found["regret"] & found["pulls"]


def _open(path: Path) -> zarr.Group | None:
    """Return the group in a folder, or None where there is nothing yet."""
    if not path.exists() or (path.is_dir() and all(entry.name.endswith(DRAFT) for entry in path.iterdir())):
        return None
    foreign = f"{path} must be a new folder or hold results of ocucb, got something else there; choose another"
    if not path.is_dir():
        raise StateError(foreign)
    try:
        group = zarr.open_group(LocalStore(path), mode="r+", zarr_format=3)
    except (GroupNotFoundError, ValueError, KeyError):
        raise StateError(foreign) from None
    if group.attrs.get("format") != FORMAT:
        raise StateError(foreign)
    if group.attrs.get("version") != VERSION:
        raise StateError(
            f"{path} must be of format version {VERSION}, got {group.attrs.get('version')}; use that version of ocucb"
        )
    return group


def _same(group: zarr.Group, experiment: Experiment, place: object) -> None:
    """Raise if a store is of another experiment, or was made by another version, whose bits may differ."""
    there, here = str(group.attrs["experiment"]), experiment.describe()
    if there != here:
        old, new = tomllib.loads(there), tomllib.loads(here)
        keys = [key for key in old | new if old.get(key) != new.get(key)]
        changes = "; ".join(f"{key} is {_short(old, key)} there and {_short(new, key)} here" for key in keys)
        raise StateError(f"{place} holds another experiment: {changes}; choose another folder, or delete this one")
    made = json.loads(str(group.attrs["provenance"]))["versions"]["ocucb"]
    if made != version("ocucb"):
        raise StateError(
            f"{place} must be finished by the version that began it, ocucb {made}, got {version('ocucb')}; "
            "install that one, or choose another folder"
        )


def _short(data: dict[str, Any], key: str) -> str:
    return reprlib.repr(data[key]) if key in data else "not given"


def _furnish(group: zarr.Group, experiment: Experiment) -> zarr.Group:
    """Make the arrays, without results yet, and last of all the summary that says they are all there."""
    cells = (len(experiment.problems), len(experiment.policies), experiment.capacity)
    arms = max(problem.arms for problem in experiment.problems)
    _make(group, "regret", (*cells, len(experiment.checkpoints)), experiment.block_size, np.nan, "t")
    _make(group, "pulls", (*cells, arms), experiment.block_size, -1, "arm")
    text = np.dtypes.StringDType()
    coordinates: dict[str, npt.NDArray[Any]] = {
        "problem": np.array([problem.name for problem in experiment.problems], dtype=text),
        "policy": np.array(experiment.labels, dtype=text),
        "t": np.array(experiment.checkpoints, dtype=np.int64),
    }
    for name, values in coordinates.items():
        group.create_array(name, data=values, dimension_names=(name,), overwrite=True)
    with warnings.catch_warnings():  # the summary is Zarr's own addition to the format; xarray looks for it
        warnings.simplefilter("ignore", ZarrUserWarning)
        return zarr.consolidate_metadata(group.store)


def _make(group: zarr.Group, name: str, shape: tuple[int, ...], block: int, empty: float, last: str) -> None:
    group.create_array(
        name,
        shape=shape,
        chunks=(1, 1, block, shape[3]),
        dtype="float64" if last == "t" else "int64",
        fill_value=empty,
        compressors=[ZstdCodec(level=1), Crc32cCodec()],
        dimension_names=("problem", "policy", "run", last),
        overwrite=True,
    )


def _array(group: zarr.Group, name: str) -> zarr.Array[Any]:
    array = group[name]
    if not isinstance(array, zarr.Array):
        raise StateError(f"{name} must be an array, got a group; the store is damaged, choose another folder")
    return array


def _values(group: zarr.Group, name: str) -> npt.NDArray[Any]:
    return np.asarray(_array(group, name)[:])


def _names(root: Path) -> Iterable[str]:
    for array in ("regret", "pulls"):
        for path in (root / array).glob("c/*/*/*/0"):
            yield path.relative_to(root).as_posix()
