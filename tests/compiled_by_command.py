"""What `ocucb compile` makes of an empty cache, and says: made once, for the cache that tests share and for its test.

To compile all of it takes longer than all but a few tests. It is made anew where any file of the package is another.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORDS = ("compile", "ocucb-n", "--noise", "gaussian", "--noise", "bernoulli")
MADE = ROOT / ".cache" / "compiled by command"
RECORD = ROOT / ".cache" / "compiled by command.json"


@dataclass(frozen=True)
class Compiled:
    """A cache that the command has filled, and how it ended."""

    cache: str
    code: int
    out: str
    err: str
    of: str


def run(cache: Path) -> Compiled:
    """Run the command on an empty cache."""
    command, variables = [sys.executable, "-m", "ocucb.cli", *WORDS], {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    of = sources()
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    return Compiled(str(cache), done.returncode, done.stdout, done.stderr, of)


def sources() -> str:
    """Return what is different whenever any file of the package, its place, or Python is."""
    found = hashlib.sha256(f"{ROOT} {sys.version}".encode())
    for file in sorted((ROOT / "src" / "ocucb").rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            found.update(f"{file} {file.stat().st_size} ".encode() + file.read_bytes())
    return found.hexdigest()


def fill(shared: Path) -> None:
    """Fill a cache that has nothing yet by the command, and keep what it said."""
    if not any(shared.rglob("*.nbi")):
        RECORD.unlink(missing_ok=True)
        shutil.rmtree(MADE, ignore_errors=True)
        made = run(MADE)
        if made.code == 0:
            shutil.copytree(MADE, shared, dirs_exist_ok=True)
            RECORD.write_text(json.dumps(asdict(made)), encoding="utf-8")


def compiled(elsewhere: Path) -> Compiled:
    """Return what the command made, of the package as it is now: what is kept, or a cache made elsewhere."""
    if RECORD.exists():
        kept = Compiled(**json.loads(RECORD.read_text(encoding="utf-8")))
        if kept.of == sources():
            return kept
    return run(elsewhere)
