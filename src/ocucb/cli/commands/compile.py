"""`ocucb compile`: compiles what bandits call, and keeps it on disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from ocucb.compiled import CACHE_USE
from ocucb.errors import StateError
from ocucb.precompile import SAMPLE_HORIZON, all_noises, all_policies, compile_bandits

REMEDY = "set NUMBA_CACHE_DIR to a folder that can be written, for this command and for what runs later"


def compile_kernels(*policies: str, noise: tuple[str, ...] = ()) -> None:
    """Compile what bandits call and keep it on disk, so that no first choice waits for it: for an image.

    Parameters
    ----------
    policies
        Only these, such as "ocucb-n"; else all.
    noise
        Only under this noise, such as "bernoulli"; may be given more than once. Else all.
    """
    from ocucb.lab.spec import parse_noise, parse_policy

    chosen = [parse_policy(text, SAMPLE_HORIZON) for text in policies] or all_policies()
    noises = [parse_noise(text) for text in noise] or all_noises()
    for done, policy in enumerate(compile_bandits(chosen, noises), 1):
        print(f"{done} of {len(chosen)}: {policy.name}", file=sys.stderr, flush=True)
    if CACHE_USE.unsaved:
        raise StateError(f"compiled code could not be kept in {_folder(CACHE_USE.unsaved)}; {REMEDY}")
    if not (CACHE_USE.saved or CACHE_USE.loaded):
        raise StateError(f"compiled code can be kept nowhere; {REMEDY}")
    saved, loaded = CACHE_USE.saved.total(), CACHE_USE.loaded.total()
    folder = _folder([*CACHE_USE.saved, *CACHE_USE.loaded])
    print(f"{saved} functions compiled and kept in {folder}; {loaded} were there already")


def _folder(folders: Iterable[Path]) -> Path:
    """Return the folder that holds all of these."""
    return Path(os.path.commonpath([str(one) for one in folders]))
