"""Plants faults one at a time in a copy of the project, and tells which of them the tests find: `make faults`.

    python -m tools.faults [WORD ...] [--jobs N]        only faults whose name or file contains a WORD

A fault is a line changed as a mistake could change it. Listed in tools/faults/, a file per part:

    name    what is wrong
    file    where
    old     text that occurs exactly once in that file
    new     what stands there instead
    tests   the tests that must fail
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parent.parent
LISTS = ROOT / "tools" / "faults"
WANTED = 0.95  # of all faults must be found
SECONDS = 600  # for the tests of one fault; who needs longer hangs, which is found
SECONDS_OF_ALL = 3600  # for all tests together, without a fault

PASSED, FAILED = 0, 1  # what pytest exits with
CRASHED = (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT)  # and what Python does if a kernel has overwritten memory


@dataclass(frozen=True)
class Fault:
    """One line changed for the worse, and the tests that must notice."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def planted(self, source: str) -> str:
        """Return a file's text with the fault in it; ValueError if its place is not found exactly once."""
        places = source.count(self.old)
        if places != 1 or self.old == self.new:
            raise ValueError(f"{self.name}: {self.file} has {places} places like {self.old!r}; there must be one")
        return source.replace(self.old, self.new)


def read_faults(folder: Path = LISTS) -> list[Fault]:
    """Return the faults of all lists in a folder."""
    faults: list[Fault] = []
    for path in sorted(folder.glob("*.toml")):
        listed = tomllib.loads(path.read_text(encoding="utf-8"))["fault"]
        faults.extend(Fault(**{**fault, "tests": tuple(fault["tests"])}) for fault in listed)
    return faults


def copy_project(target: Path) -> Path:
    """Copy what git tracks or would, and the compiled kernels, so that only what a fault touches is compiled anew."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    if (ROOT / ".cache").is_dir():
        shutil.copytree(ROOT / ".cache", target / ".cache", symlinks=True)
    return target


def run_tests(project: Path, tests: Sequence[str], seconds: int = SECONDS) -> tuple[int, str]:
    """Return what pytest exits with, and the end of what it says."""
    # No bytecode: it is told apart by seconds and size, and a fault may change neither.
    paths = os.pathsep.join([str(project / "src"), str(project / "client" / "src")])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "--no-header", *tests]
    try:
        done = subprocess.run(
            command, cwd=project, env=environment, timeout=seconds, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        return FAILED, f"no end after {seconds} s"
    code = FAILED if done.returncode in CRASHED else done.returncode
    return code, "\n".join((done.stdout + done.stderr).strip().splitlines()[-12:])


@contextmanager
def planted(fault: Fault, project: Path) -> Iterator[None]:
    """Put a fault into a copy of the project, for as long as this lasts."""
    path = project / fault.file
    source = path.read_text(encoding="utf-8")
    path.write_text(fault.planted(source), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(source, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant the faults, print one line each, and return 1 if too few are found."""
    parser = argparse.ArgumentParser(description="Plant faults one at a time, and tell which of them the tests find.")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only faults whose name or file contains a word")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    chosen = parser.parse_args(arguments)
    faults = [f for f in read_faults() if not chosen.words or any(w in f.name or w in f.file for w in chosen.words)]
    if not faults:
        print("no fault has such a name or file", file=sys.stderr)
        return 2

    with tempfile.TemporaryDirectory(prefix="ocucb-faults-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for job in range(chosen.jobs):
            copies.put(copy_project(Path(folder) / str(job)))

        project = copies.get()
        tests = sorted({test for fault in faults for test in fault.tests})
        print(f"{len(faults)} faults; first their {len(tests)} tests without any", flush=True)
        code, said = run_tests(project, tests, SECONDS_OF_ALL)
        copies.put(project)
        if code != PASSED:
            print(f"the tests fail without a fault:\n{said}", file=sys.stderr)
            return 2

        def found(fault: Fault) -> bool:
            project = copies.get()
            try:
                with planted(fault, project):
                    code, said = run_tests(project, fault.tests)
            finally:
                copies.put(project)
            print(f"{'found ' if code == FAILED else 'MISSED'}  {fault.file}: {fault.name}", flush=True)
            if code not in (PASSED, FAILED):
                print(f"the tests did not run:\n{said}", flush=True)
            return code == FAILED

        with ThreadPoolExecutor(chosen.jobs) as pool:
            number = sum(pool.map(found, faults))
    print(f"{number} of {len(faults)} faults found, {number / len(faults):.0%}; wanted: {WANTED:.0%}")
    return 0 if number >= WANTED * len(faults) else 1


if __name__ == "__main__":
    sys.exit(main())
