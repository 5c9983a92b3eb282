"""Tests compile into a cache of their own, named after the sources, so that no edit is missed."""

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).parent.parent

_digest = hashlib.sha256()
for _source in sorted((ROOT / "src").rglob("*.py")):
    _digest.update(_source.read_bytes())
os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".cache" / "numba" / _digest.hexdigest()[:16])
