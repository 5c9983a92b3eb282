"""Tests compile into a cache of their own, named after the sources, so that no edit is missed.

They also keep Gittins tables of their own, and Hypothesis draws the same examples every time, however slow the machine.
"""

import hashlib
import os
from pathlib import Path

from hypothesis import settings

ROOT = Path(__file__).parent.parent

_digest = hashlib.sha256()
for _source in sorted((ROOT / "src").rglob("*.py")):
    _digest.update(_source.read_bytes())
os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".cache" / "numba" / _digest.hexdigest()[:16])
os.environ["OCUCB_CACHE_DIR"] = str(ROOT / ".cache" / "tables" / _digest.hexdigest()[:16])

settings.register_profile("steady", deadline=None, derandomize=True, database=None)
settings.load_profile("steady")
