"""What the pages about coming from another library show, run with that library: its code and ours must print the same.

Of each page the first block is for both; blocks marked `py` are the library's and those marked `python` ours. Lines
that begin with pulls, next, arms or some are compared. Libraries run in environments of their own, as in peers.

    python -m benchmarks.migration
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.peers import PEERS, environment
from benchmarks.table import write

PAGES = Path(__file__).parent.parent / "docs" / "howto"
COMPARED = ("pulls ", "next ", "arms ", "some ")


def blocks(page: str, language: str) -> list[str]:
    """Return the code of a page in one language."""
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)


def run(python: Path, code: str) -> list[str]:
    """Return what a program prints that is to be compared."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [python, "-W", "ignore", "-c", code], cwd=home, capture_output=True, text=True, timeout=300, check=False
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [line for line in done.stdout.splitlines() if line.startswith(COMPARED)]


def version(python: Path, package: str) -> str:
    """Return the version of a package in an environment."""
    code = f"from importlib.metadata import version; print('pulls', version({package!r}))"
    return run(python, code)[0].split()[1]


def compare(name: str) -> list[list[str]]:
    """Return a row for each line that is compared; raise if they are not the same."""
    page = (PAGES / f"{name.lower()}.md").read_text(encoding="utf-8")
    python = environment(name, PEERS[name][0])
    common = blocks(page, "python")[0].replace("import ocucb\n", "")
    theirs = run(python, common + "\n".join(blocks(page, "py")))
    ours = run(Path(sys.executable), "\n".join(blocks(page, "python")))
    if not theirs or theirs != ours:
        raise SystemExit(f"{name}: it prints {theirs}, and ocucb {ours}")
    return [[f"{name} {version(python, name)}", line, "yes"] for line in theirs]


def main() -> None:
    """Compare and write the table."""
    rows = [row for name in PEERS for row in compare(name)]
    write("migration", __doc__ or "", ["library", "what both print", "the same"], rows)


if __name__ == "__main__":
    main()
