"""Tests compile into a cache of their own.

Their files are in memory where there is enough of it. Hypothesis draws the same examples every time, however slow the
machine.
"""

import atexit
import gc
import os
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache"

os.environ["NUMBA_CACHE_DIR"] = str(CACHE / "numba")

# Workers keep all cores busy; threads of a matrix product would each wait for the others, in a loop that takes a core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A disk takes milliseconds to sync, thousands of times over, against a power cut, which no test can make.
MEMORY, MIN_FREE_BYTES = Path("/dev/shm"), 4 << 30


def _serves(folder: Path) -> bool:
    """Return whether files can be written and programs run in a folder, and it has room for all tests."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    found = os.statvfs(folder)
    return not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize >= MIN_FREE_BYTES


if "TMPDIR" not in os.environ and _serves(MEMORY):
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None  # what was found before is looked for again

# A shell that runs tests in the background switches Ctrl-C off, for their children too; some tests send it to those.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.load_profile("steady")


# Looking for garbage among all that is imported and collected, which stays, would take a twentieth of the time.
gc.disable()
atexit.register(gc.freeze)  # nor need Python look there when it ends


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


# Files whose tests take long, most of them waiting: each is among the first of a worker, so that none is the last.
LONG = (
    "tests/test_site.py",
    "tests/lab/test_resume.py",
    "tests/service/nodes/test_killed.py",
    "tests/service/guide/test_guide_upgrade.py",
    "tests/test_precompile.py",
    "tests/test_packaging_install.py",
    "tests/lab/test_runners.py",
    "tests/lab/test_gpu.py",
    "tests/service/test_crashes.py",
    "tests/service/guide/test_guide_operation.py",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put long tests first. Workers begin with equal parts of all tests, in order."""
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    long = {name: [item for item in items if item.nodeid.startswith(name + "::")] for name in LONG}
    rest = [item for item in items if not item.nodeid.startswith(LONG)]
    parts = [rest[len(rest) * part // workers : len(rest) * (part + 1) // workers] for part in range(workers)]
    for place, name in reversed(list(enumerate(LONG))):
        parts[place % workers][:0] = long[name]
    items[:] = [item for part in parts for item in part]


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two workers per core: half of the time a test waits for another process. Few, as each needs 1 GB of memory."""
    return min(2 * (os.cpu_count() or 1), 8)
