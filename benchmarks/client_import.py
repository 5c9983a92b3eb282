"""How long `ocucb-client` takes to import, beside httpx alone, in an environment that has nothing else in it.

The environment stands under .cache/client_import and is made anew. Each import is a process of its own; the lines take
turns, so that a busy machine slows them alike. Times are medians over 61 turns, and the ratio is the median of the
ratios within a turn: to httpx alone for the client, to httpx and asyncio for the client of an event loop.

    python -m benchmarks.client_import
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.table import write

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".cache" / "client_import"
TURNS = 61
MOST = 2.0

# What is imported, and the line to which it is compared.
LINES = {
    "import httpx": "import httpx",
    "import ocucb_client": "import httpx",
    "import httpx, asyncio": "import httpx, asyncio",
    "from ocucb_client import AsyncClient": "import httpx, asyncio",
}
TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


def install() -> Path:
    """Make an environment with the client and what it needs; return its Python."""
    venv.create(FOLDER, clear=True, with_pip=False)
    python = FOLDER / "bin" / "python"
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", python]
    subprocess.run([*pip, "install", "--constraint", ROOT / "constraints.txt", ROOT / "client"], check=True)
    return python


def seconds(python: Path, line: str) -> float:
    """Return how long a line takes in a new process; -I keeps what is around it out."""
    done = subprocess.run([python, "-I", "-c", TIMED.format(line)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Measure, print and keep the table."""
    python = install()
    turns = [{line: seconds(python, line) for line in LINES} for _ in range(TURNS + 1)][1:]  # the first fills caches
    rows = []
    for line, base in LINES.items():
        own = 1e3 * statistics.median(turn[line] for turn in turns)
        ratio = statistics.median(turn[line] / turn[base] for turn in turns)
        rows.append([line, f"{own:.0f}", f"{ratio:.2f}", "" if line == base else f"{MOST:.0f}"])
    write("client_import", str(__doc__), ["line", "time, ms", "ratio", "at most"], rows)


if __name__ == "__main__":
    main()
