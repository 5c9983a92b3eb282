"""Tests compile into a cache of their own.

Their files are in memory where there is enough of it. Hypothesis draws the same examples every time, however slow the
machine.
"""

import os
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache"

os.environ["NUMBA_CACHE_DIR"] = str(CACHE / "numba")

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


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two workers per core: half of the time a test waits for another process. Few, as each needs 1 GB of memory."""
    return min(2 * (os.cpu_count() or 1), 8)
