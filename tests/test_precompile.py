"""Compiling beforehand: everything a bandit calls, kept where a process that can write nothing finds it."""

from __future__ import annotations

import os
import pkgutil
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import ocucb.policies
from compiled_by_command import WORDS, compiled
from ocucb import cli
from ocucb.noise import NOISES
from ocucb.policies import POLICIES
from ocucb.precompile import all_noises, all_policies

# Nothing can be written anywhere: not in the home, nor in the package's folder, nor in the cache itself.
READ_ONLY = """
import errno, os, sys

def refuse(event, arguments):
    writes = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if writes or event in ("os.mkdir", "os.rename", "os.remove"):
        raise OSError(errno.EROFS, "read-only file system", str(arguments[0]))

sys.addaudithook(refuse)
from ocucb import Bandit, Bernoulli, Gaussian, OCUCBn, Window
from ocucb.compiled import CACHE_USE
for noise, memory in ((Gaussian(), None), (Bernoulli(), None), (Bernoulli(), Window(5))):
    bandit = Bandit(OCUCBn(), arms=3, noise=noise, memory=memory)
    for _ in range(9):
        bandit.learn(bandit.choose(), 1.0)
    bandit.learn(bandit.decide().arm, 1.0)
    bandit.forget(bandit.choose())
    bandit.statistics()
print(CACHE_USE.loaded.total(), CACHE_USE.saved.total(), CACHE_USE.unsaved.total())
"""

# The kernels of selection that Python calls take the address of a state first. A database closes the connection of a
# service that compiles one in the middle of a transaction.
NOT_COMPILED = """
import pkgutil
from importlib import import_module
from inspect import signature
import ocucb.selection
from ocucb import EpsilonGreedy, Gaussian, GaussianUnknownScale, OCUCBn
from ocucb.precompile import compile_bandits

list(compile_bandits([OCUCBn(), EpsilonGreedy()], [Gaussian(), GaussianUnknownScale()]))
for found in pkgutil.iter_modules(ocucb.selection.__path__, "ocucb.selection."):
    for function in vars(import_module(found.name)).values():
        if hasattr(function, "py_func") and "address" in list(signature(function.py_func).parameters)[:1]:
            print(function.__name__, bool(function.signatures))
"""

# What was not compiled before is compiled now, and not kept.
ANOTHER_POLICY = """
from ocucb import Greedy
print(Bandit(Greedy(), arms=3).choose(), CACHE_USE.saved.total(), CACHE_USE.unsaved.total())
"""


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=False)


def test_what_was_compiled_serves_a_process_that_can_write_nothing(tmp_path: Path) -> None:
    done = compiled(tmp_path / "cache")
    cache = Path(done.cache)
    assert done.code == 0, done.err
    assert done.err == "1 of 1: ocucb-n\n"
    files = {path: path.stat().st_mtime_ns for path in cache.rglob("*")}
    kept = len(list(cache.rglob("*.nbc")))
    assert done.out == f"{kept} functions compiled and kept in {cache}; 0 were there already\n"
    later = run("-c", READ_ONLY + ANOTHER_POLICY, NUMBA_CACHE_DIR=str(cache), HOME="/nowhere")
    assert later.returncode == 0, later.stderr
    counts, others = later.stdout.splitlines()
    loaded, saved, unsaved = map(int, counts.split())
    assert others == "0 0 1"
    assert loaded >= 6  # a level, two bounds, choose, learn, the making of bounds, and more
    assert (saved, unsaved) == (0, 0)
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*")} == files
    again = run("-m", "ocucb.cli", *WORDS, NUMBA_CACHE_DIR=str(cache))
    assert again.stdout.startswith("0 functions compiled")


def test_every_kernel_that_python_calls_is_compiled() -> None:
    done = run("-c", NOT_COMPILED)
    assert done.returncode == 0, done.stderr
    kernels = dict(line.split() for line in done.stdout.splitlines())
    assert len(kernels) > 20
    assert not [name for name, compiled in kernels.items() if compiled == "False"]


def test_a_cache_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """Where compiled code cannot be kept, a bandit works, and the command says so. Here one function is not there."""
    cache = tmp_path / "full"
    shared = Path(os.environ["NUMBA_CACHE_DIR"])
    for file in [*shared.rglob("*.nbc"), *shared.rglob("*.nbi")]:  # others may be writing there
        if not file.name.startswith("greedy.level"):
            copy = cache / file.relative_to(shared)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    hook = READ_ONLY.partition("from ocucb")[0]
    code = f"{hook}\nfrom ocucb import cli; sys.exit(cli.exit_code(['compile', 'greedy', '--noise', 'gaussian']))"
    done = run("-c", code, NUMBA_CACHE_DIR=str(cache), HOME="/nowhere")
    assert done.returncode == 2
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in done.stderr.splitlines()[-1]


def test_every_policy_and_family_is_compiled_in_every_form() -> None:
    assert {policy.name for policy in all_policies()} >= set(POLICIES)
    assert {noise.name for noise in all_noises()} >= set(NOISES)
    compiled = {function for policy in all_policies() for function in (policy.rule().level, policy.rule().score)}
    for found in pkgutil.iter_modules(ocucb.policies.__path__, "ocucb.policies."):
        for name, function in vars(import_module(found.name)).items():
            if name.partition("_")[0] in ("level", "score") and hasattr(function, "py_func"):
                assert function in compiled, f"{found.name}.{name}"


@pytest.mark.parametrize("words", [["nonsense"], ["--noise", "nonsense"]])
def test_what_is_not_known_is_said(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code(["compile", *words]) == 2
    assert "nonsense" in capsys.readouterr().err
