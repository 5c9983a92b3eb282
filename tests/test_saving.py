"""Saving: plain JSON, the same future after loading, files whole or not at all, and a clear no to all others."""

from __future__ import annotations

import copy
import enum
import json
import math
import os
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ocucb import (
    MOSS,
    UCB,
    Bandit,
    Bernoulli,
    Bounded,
    Exponential,
    Gaussian,
    KLUCBPlus,
    LevelPolicy,
    Noise,
    OcucbError,
    OCUCBn,
    Poisson,
    Policy,
    StateError,
    ThompsonSampling,
    Uniform,
)
from ocucb.compiled import Parameters
from samples import NOISE_SAMPLES, POLICY_SAMPLES, suits

Data = dict[str, Any]
Label = str | int

every_policy = pytest.mark.parametrize("policy", POLICY_SAMPLES, ids=str)


def draw(noise: Noise, *key: object) -> float:
    """Return a reward that the family can give, the same for the same key."""
    number = random.Random("/".join(map(str, key))).random()
    low, high = noise.support()
    return float(min(high, max(low, round(number) if noise.whole else number)))


def play(bandit: Bandit, rounds: int) -> list[Label]:
    """Play with some rewards late; each hangs on the round and the arm."""
    choices: list[Label] = []
    waiting: list[Label] = []
    for _ in range(rounds):
        arm = bandit.choose()
        choices.append(arm)
        waiting.append(arm)
        while len(waiting) > bandit.rounds % 4:
            arm = waiting.pop(0)
            bandit.learn(arm, draw(bandit.noise, bandit.rounds, arm))
    return choices


def grown(policy: Policy, noise: Noise | None = None) -> Bandit:
    """Return a bandit with a past: 62 rounds, some rewards pending, an arm added, one retired, one never pulled."""
    bandit = Bandit(policy, ["a", "b", 3, 4], noise, seed=17)
    play(bandit, 20)
    bandit.add_arm("later")
    play(bandit, 20)
    bandit.retire_arm("b")
    play(bandit, 22)
    bandit.add_arm("fresh")
    return bandit


def by_dict(bandit: Bandit, path: Path) -> Bandit:
    return Bandit.from_dict(bandit.to_dict(), bandit.policy)


def by_text(bandit: Bandit, path: Path) -> Bandit:
    return Bandit.from_dict(json.loads(json.dumps(bandit.to_dict(), allow_nan=False)), bandit.policy)


def by_file(bandit: Bandit, path: Path) -> Bandit:
    bandit.save(path / "bandit.json")
    return Bandit.load(path / "bandit.json", bandit.policy)


def by_pickle(bandit: Bandit, path: Path) -> Bandit:
    again = pickle.loads(pickle.dumps(bandit))
    assert isinstance(again, Bandit)
    return again


def by_copy(bandit: Bandit, path: Path) -> Bandit:
    return copy.copy(bandit)


def by_deepcopy(bandit: Bandit, path: Path) -> Bandit:
    return copy.deepcopy(bandit)


WAYS: list[Callable[[Bandit, Path], Bandit]] = [by_dict, by_text, by_file, by_pickle, by_copy, by_deepcopy]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)


def patient(t: float, pulls: float, effective: float, arms: float, parameters: Parameters) -> float:
    return parameters[0] * math.sqrt(math.log(t)) + parameters[1]


def mine() -> LevelPolicy:
    return LevelPolicy("patient", patient, {"strength": 2.0, "start": 0.5}, trend="rises")


# The same future


@pytest.mark.parametrize("noise", [Gaussian(0.5), Bernoulli()], ids=str)
@every_policy
def test_a_loaded_bandit_goes_on_as_the_saved_one(policy: Policy, noise: Noise, tmp_path: Path) -> None:
    bandit = grown(policy, noise)
    bandit.save(tmp_path / "bandit.json")
    loaded = Bandit.load(tmp_path / "bandit.json")
    assert loaded.to_dict() == bandit.to_dict()
    assert (loaded.policy, loaded.noise, loaded.arms) == (bandit.policy, bandit.noise, bandit.arms)
    assert loaded.rounds == bandit.rounds == 62
    assert loaded.pending.sum() > 0
    np.testing.assert_array_equal(loaded.means, bandit.means)
    np.testing.assert_array_equal(loaded.indices(), bandit.indices())
    np.testing.assert_array_equal(loaded.effective_arms(), bandit.effective_arms())
    assert play(loaded, 60) == play(bandit, 60)
    for both in (loaded, bandit):
        both.add_arm("b")
        both.add_arm("newest")
    assert play(loaded, 60) == play(bandit, 60)
    assert loaded.to_dict() == bandit.to_dict()


@every_policy
def test_saving_at_every_round_changes_no_choice(policy: Policy) -> None:
    kept = Bandit(policy, 4, seed=3)
    reborn = Bandit(policy, 4, seed=3)
    for step in range(60):
        reborn = Bandit.from_dict(reborn.to_dict())
        arm = kept.choose()
        assert reborn.choose() == arm
        if step % 3:
            for bandit in (kept, reborn):
                bandit.learn(arm, draw(bandit.noise, step, arm))
    assert kept.to_dict() == reborn.to_dict()


def test_a_seed_drawn_at_random_is_saved_too() -> None:
    for policy in (Uniform(), ThompsonSampling()):
        bandit = Bandit(policy, 20)
        again = Bandit.from_dict(bandit.to_dict())
        assert play(bandit, 100) == play(again, 100)


@pytest.mark.parametrize("policy", [OCUCBn(), ThompsonSampling(), mine()], ids=lambda policy: policy.name)
@every_way
def test_every_copy_has_the_same_future_and_is_independent(
    way: Callable[[Bandit, Path], Bandit], policy: Policy, tmp_path: Path
) -> None:
    bandit = grown(policy)
    before = bandit.to_dict()
    again = way(bandit, tmp_path)
    assert type(again) is Bandit
    assert again is not bandit
    assert again.to_dict() == before
    future = play(again, 40)
    again.add_arm("more")
    again.retire_arm("a")
    assert bandit.to_dict() == before
    assert "more" not in bandit.arms
    assert play(bandit, 40) == future


@every_way
def test_a_copy_of_a_new_bandit(way: Callable[[Bandit, Path], Bandit], tmp_path: Path) -> None:
    bandit = Bandit(Uniform(), 3)
    again = way(bandit, tmp_path)
    assert again.to_dict() == bandit.to_dict()
    assert play(again, 30) == play(bandit, 30)


class Colour(enum.StrEnum):
    RED = "red"
    GREEN = "green"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 7


@every_way
@pytest.mark.parametrize(
    ("labels", "plain"),
    [
        (["ü", "日本", "🎰", "", " ", "\x00", "\n", '"', "\\", "\ud800", "e\u0301", "é"], None),
        ([1, "1", "01", "1.0", 0, "0", "None", "null", "True", -1, "-1"], None),
        ([0, 2**53 + 1, 2**200, -(2**63)], None),
        (["x" * 10_000, "x" * 9_999], None),
        (list(Colour), ["red", "green"]),
        (list(Level), [1, 7]),
    ],
    ids=["unicode", "look-alikes", "large", "long", "string enum", "integer enum"],
)
def test_labels_survive(
    way: Callable[[Bandit, Path], Bandit], labels: list[Label], plain: list[Label] | None, tmp_path: Path
) -> None:
    bandit = Bandit(OCUCBn(), labels)
    for count, label in enumerate(labels):
        bandit.learn(label, float(count))
    again = way(bandit, tmp_path)
    assert list(again.arms) == (plain or labels)
    assert all(type(label) in (str, int) for label in again.arms)
    assert again.means.tolist() == list(range(len(labels)))
    again.learn(labels[-1], 0.0)
    assert again.pulls[-1] == 2


@every_way
def test_a_label_of_numpy_that_was_added_later_survives(way: Callable[[Bandit, Path], Bandit], tmp_path: Path) -> None:
    bandit = Bandit(OCUCBn(), ["a"])
    bandit.add_arm(np.str_("b"))
    assert list(way(bandit, tmp_path).arms) == ["a", "b"]


@pytest.mark.parametrize("value", [0.1 + 0.2, 5e-324, -1e308, 1 / 3, 123456789.123456789, -0.0], ids=repr)
def test_sums_survive_to_the_last_bit(value: float, tmp_path: Path) -> None:
    bandit = Bandit(OCUCBn(), 2)
    bandit.learn(0, value)
    loaded = by_file(bandit, tmp_path)
    assert loaded.to_dict()["totals"][0].hex() == bandit.to_dict()["totals"][0].hex()
    assert loaded.means[0] == value


@pytest.mark.parametrize("high", [0.1, 0.7, 1e-300, 1e300], ids=repr)
def test_rounding_of_a_long_sum_does_not_make_it_inconsistent(high: float) -> None:
    """The sum of n largest rewards may exceed n times the largest by rounding; the bandit must still be loaded."""
    for noise in (Bounded(0.0, high), Bounded(-high, 0.0)):
        for reward in noise.support():
            bandit = Bandit(OCUCBn(), 2, noise, seed=0)
            for _ in range(50):
                bandit.learn_many([0, 0, 0], [reward] * 3)
                assert Bandit.from_dict(bandit.to_dict()).to_dict() == bandit.to_dict()


EVENTS = ["step", "step", "step", "burst", "learn", "forget", "add", "retire", "bring back", "many", "merge", "look"]
EVENTS += ["elsewhere", "late"]


def happen(bandit: Bandit, event: str, luck: random.Random) -> None:
    """Do one thing to a bandit, if it can be done."""
    noise, arms = bandit.noise, bandit.arms
    known = bandit.statistics(retired=True)
    waiting = [arm for arm, count in zip(known.arms, known.pending.tolist(), strict=True) if count]
    gone = bandit.retired_arms
    if event == "step":
        bandit.learn(bandit.choose(), draw(noise, luck.random()))
    elif event == "burst":
        for _ in range(luck.randrange(6)):
            bandit.choose()
    elif event == "learn":
        bandit.learn(luck.choice(waiting or arms), draw(noise, luck.random()))
    elif event == "forget" and waiting:
        bandit.forget(luck.choice(waiting))
    elif event == "add":
        label: Label = len(bandit.to_dict()["labels"]) + 100
        bandit.add_arm(luck.choice([label, f"arm {label}"]))
    elif event == "retire" and len(arms) > 1:
        bandit.retire_arm(luck.choice(arms))
    elif event == "bring back" and gone:
        bandit.add_arm(luck.choice(gone))
    elif event == "many":
        log = luck.choices(known.arms, k=luck.randrange(8))
        bandit.learn_many(log, [draw(noise, luck.random()) for _ in log])
    elif event == "merge":
        other = Bandit(OCUCBn(), ["merged", 0], noise)
        other.learn("merged", draw(noise, luck.random()))
        bandit.merge(other)
    elif event == "look":
        bandit.peek()
        bandit.indices()
    elif event == "elsewhere":
        bandit.count_pull(luck.choice(known.arms))
    elif event == "late" and gone:
        bandit.learn(luck.choice(gone), draw(noise, luck.random()))


@settings(max_examples=120, deadline=None, derandomize=True)
@given(
    policy=st.sampled_from(POLICY_SAMPLES),
    noise=st.sampled_from(NOISE_SAMPLES),
    arms=st.integers(1, 6),
    events=st.lists(st.sampled_from(EVENTS), max_size=40),
    luck=st.randoms(use_true_random=False),
)
def test_any_history_survives_a_round_trip(
    policy: Policy, noise: Noise, arms: int, events: list[str], luck: random.Random
) -> None:
    assume(suits(policy, noise))
    bandit = Bandit(policy, arms, noise, seed=1)
    for event in events:
        happen(bandit, event, luck)
    again = Bandit.from_dict(json.loads(json.dumps(bandit.to_dict(), allow_nan=False)))
    assert again.to_dict() == bandit.to_dict()
    assert again.arms == bandit.arms
    assert again.pulls.tolist() == bandit.pulls.tolist()
    np.testing.assert_array_equal(again.indices(), bandit.indices())
    assert play(again, 20) == play(bandit, 20)
    assert again.to_dict() == bandit.to_dict()


# The format


def test_the_format_is_versioned_plain_json() -> None:
    bandit = Bandit(OCUCBn(), ["a", 7], Bounded(-1.0, 3.0), seed=5)
    bandit.learn("a", 0.5)
    bandit.choose()
    bandit.add_arm("x")
    bandit.retire_arm("x")
    data = bandit.to_dict()
    assert data == {
        "format": "ocucb bandit",
        "version": 1,
        "policy": {"name": "ocucb-n", "parameters": {"eta": 1.1, "rho": 0.5, "shrink": "none"}},
        "noise": {"name": "bounded", "parameters": {"low": -1.0, "high": 3.0}},
        "seed": 5,
        "first_arms": 2,
        "labels": ["a", 7, "x"],
        "pulls": [1, 1, 0],
        "learned": [1, 0, 0],
        "totals": [0.5, 0.0, 0.0],
        "retired": [False, False, True],
    }
    assert json.loads(json.dumps(data, allow_nan=False)) == data


TABLE = [*((policy, Gaussian()) for policy in POLICY_SAMPLES), *((OCUCBn(), noise) for noise in NOISE_SAMPLES)]


@pytest.mark.parametrize(("policy", "noise"), TABLE, ids=str)
def test_every_bandit_is_strict_json(policy: Policy, noise: Noise) -> None:
    data = grown(policy, noise).to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    kinds = [str, int, dict, dict, int, list, list, list, list, list, int]
    assert [type(value) for value in data.values()] == kinds + [dict] * noise.family().spreads


def build(kind: Any, *parameters: Any) -> Any:
    """Build with parameters that the type checker would refuse, but users of NumPy have."""
    return kind(*parameters)


@pytest.mark.parametrize(
    ("policy", "noise"),
    [
        (build(MOSS, np.int64(100)), Gaussian()),
        (build(UCB, np.float32(2.5)), Gaussian()),
        (OCUCBn(), build(Gaussian, np.float32(0.5))),
        (OCUCBn(), build(Gaussian, np.int64(2))),
        (OCUCBn(), build(Gaussian, 2)),
        (OCUCBn(), build(Bounded, np.int64(-1), np.int64(3))),
        (OCUCBn(), build(Bounded, np.float32(-1), np.float32(0.7))),
    ],
    ids=range(7),
)
def test_parameters_of_numpy_are_saved_as_plain_numbers(policy: Policy, noise: Noise, tmp_path: Path) -> None:
    bandit = Bandit(policy, 3, noise, seed=1)
    play(bandit, 10)
    loaded = by_file(bandit, tmp_path)
    assert loaded.policy == policy
    assert loaded.noise == noise
    assert play(loaded, 20) == play(bandit, 20)


def test_what_is_given_out_and_taken_in_is_not_shared() -> None:
    bandit = grown(OCUCBn())
    data = bandit.to_dict()
    again = Bandit.from_dict(data)
    for value in data.values():
        if isinstance(value, list | dict):
            value.clear()
    assert again.to_dict() == bandit.to_dict()
    assert play(again, 20) == play(bandit, 20)


def test_reading_leaves_the_data_alone() -> None:
    data = grown(OCUCBn()).to_dict()
    before = copy.deepcopy(data)
    play(Bandit.from_dict(data), 20)
    assert data == before


# A policy of one's own


def test_a_policy_of_ones_own_must_be_given(tmp_path: Path) -> None:
    path = tmp_path / "bandit.json"
    bandit = grown(mine())
    bandit.save(path)
    with pytest.raises(StateError, match=r"bandit\.json: .*'patient'"):
        Bandit.load(path)
    loaded = Bandit.load(path, policy=mine())
    assert loaded.policy == bandit.policy
    assert play(loaded, 60) == play(bandit, 60)


@pytest.mark.parametrize(
    "other",
    [
        OCUCBn(),
        LevelPolicy("impatient", patient, {"strength": 2.0, "start": 0.5}, trend="rises"),
        LevelPolicy("patient", patient, {"strength": 2.5, "start": 0.5}, trend="rises"),
        LevelPolicy("patient", patient, {"weight": 2.0, "start": 0.5}, trend="rises"),
        LevelPolicy("patient", patient, {"start": 0.5, "strength": 2.0}, trend="rises"),  # it reads them by place
    ],
    ids=["another", "name", "value", "key", "order"],
)
def test_it_must_be_the_one_that_was_saved(other: Policy, tmp_path: Path) -> None:
    path = tmp_path / "bandit.json"
    grown(mine()).save(path)
    with pytest.raises(StateError, match=r"bandit\.json: .*saved with the policy"):
        Bandit.load(path, policy=other)


def test_a_policy_of_the_package_may_be_given_and_must_agree(tmp_path: Path) -> None:
    path = tmp_path / "bandit.json"
    grown(KLUCBPlus(eta=2.0)).save(path)
    assert Bandit.load(path, policy=KLUCBPlus(eta=2.0)).policy == KLUCBPlus(eta=2.0)
    with pytest.raises(StateError, match="saved with the policy"):
        Bandit.load(path, policy=KLUCBPlus(eta=3.0))


@pytest.mark.parametrize("junk", ["ocucb-n", OCUCBn, {"name": "ocucb-n"}, 3, Gaussian()], ids=repr)
def test_a_policy_of_the_wrong_type(junk: Any, tmp_path: Path) -> None:
    grown(OCUCBn()).save(tmp_path / "bandit.json")
    with pytest.raises(OcucbError, match="policy"):
        Bandit.load(tmp_path / "bandit.json", policy=junk)


# Files


def test_a_path_may_be_a_string_or_a_path(tmp_path: Path) -> None:
    bandit = grown(OCUCBn())
    bandit.save(str(tmp_path / "one.json"))
    bandit.save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert Bandit.load(str(tmp_path / "two.json")).to_dict() == bandit.to_dict()
    assert json.loads((tmp_path / "one.json").read_text(encoding="utf-8")) == bandit.to_dict()


def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bandit = grown(OCUCBn())
    bandit.save("bandit.json")
    assert Bandit.load("bandit.json").to_dict() == bandit.to_dict()
    assert os.listdir() == ["bandit.json"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.json"):
        Bandit.load(tmp_path / "nothing.json")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        grown(OCUCBn()).save(tmp_path / "nowhere" / "bandit.json")
    assert list(tmp_path.iterdir()) == []


def test_a_save_replaces_the_old_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "bandit.json"
    bandit = grown(OCUCBn())
    bandit.save(path)
    play(bandit, 5)
    bandit.save(path)
    assert [found.name for found in tmp_path.iterdir()] == ["bandit.json"]
    assert Bandit.load(path).rounds == 67


def test_a_saved_file_may_be_read_by_those_who_may_read_others(tmp_path: Path) -> None:
    plain, path = tmp_path / "plain.json", tmp_path / "bandit.json"
    plain.write_text("{}", encoding="utf-8")
    grown(OCUCBn()).save(path)
    assert oct(path.stat().st_mode) == oct(plain.stat().st_mode)


class Interrupted(BaseException):
    """What KeyboardInterrupt is, for a test."""


def interrupt(*arguments: Any, **options: Any) -> None:
    raise Interrupted


def half(data: Any, file: Any, **options: Any) -> None:
    """Write half of what there is, as a full disk would."""
    text = json.dumps(data)
    file.write(text[: len(text) // 2])
    file.flush()
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("old", [True, False], ids=["old file", "no file"])
@pytest.mark.parametrize(
    ("module", "name", "failure", "kind"),
    [
        (os, "replace", interrupt, Interrupted),
        (os, "fsync", interrupt, Interrupted),
        (json, "dump", interrupt, Interrupted),
        (json, "dump", half, OSError),
    ],
    ids=["replace", "fsync", "dump", "half a dump"],
)
def test_an_interrupted_save_leaves_the_old_file_whole_and_no_litter(
    module: Any,
    name: str,
    failure: Callable[..., None],
    kind: type[BaseException],
    old: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "bandit.json"
    bandit = grown(OCUCBn())
    if old:
        bandit.save(path)
    before = {found.name: found.read_bytes() for found in tmp_path.iterdir()}
    play(bandit, 10)
    with monkeypatch.context() as patch:
        patch.setattr(module, name, failure)
        with pytest.raises(kind):
            bandit.save(path)
    assert {found.name: found.read_bytes() for found in tmp_path.iterdir()} == before
    bandit.save(path)
    assert Bandit.load(path).to_dict() == bandit.to_dict()


# Files that are not a whole bandit


def refuses(path: Path, content: bytes | str | Data, fragment: str = "") -> None:
    """Check that a file is answered with one clear line that names it, and left as it was."""
    if isinstance(content, dict):
        content = json.dumps(content)
    raw = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(raw)
    with pytest.raises(StateError) as caught:
        Bandit.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert fragment in message
    assert "\n" not in message
    assert path.read_bytes() == raw


def test_a_truncated_file(tmp_path: Path) -> None:
    path = tmp_path / "bandit.json"
    grown(OCUCBn(), Bounded(-1.0, 3.0)).save(path)
    whole = path.read_bytes()
    for size in range(len(whole)):
        refuses(path, whole[:size], "not a saved bandit, or only part of one")
    for size in range(1, len(whole), 7):
        refuses(path, whole[size:])
    path.write_bytes(whole)
    assert Bandit.load(path).rounds == 62


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        b"\xff\xfe\x00",
        b"\x80\x04\x95",
        b"\x00" * 100,
        "{}".encode("utf-16"),
        b"null",
        b"true",
        b"3",
        b"NaN",
        b'"ocucb bandit"',
        b"[]",
        b"{}",
        b'["ocucb bandit", 1]',
        b'{"format": "something else", "version": 1}',
        b'{"format": null}',
        b'{"format": ["ocucb bandit"]}',
        b'{"version": 1, "labels": ["a"]}',
        b'{"format": "ocucb bandit"} and more',
        b"{'format': 'ocucb bandit'}",
        b"format: ocucb bandit",
        b"<html></html>",
        b"[" * 100_000,
        b'{"format": ' * 50_000,
        b'{"format": ' + b"1" * 5_000 + b"}",
        pickle.dumps({"format": "ocucb bandit"}),
    ],
    ids=lambda content: repr(content[:20]),
)
def test_a_foreign_file(content: bytes, tmp_path: Path) -> None:
    refuses(tmp_path / "bandit.json", content, "not a saved bandit")


@pytest.mark.parametrize("version", [2, 3, 10**6, 2**64])
def test_a_newer_file(version: int, tmp_path: Path) -> None:
    data = grown(OCUCBn()).to_dict()
    fragment = f"format version {version} is newer than this ocucb reads (up to 1); upgrade ocucb"
    refuses(tmp_path / "bandit.json", {**data, "version": version}, fragment)
    refuses(tmp_path / "bandit.json", {"format": data["format"], "version": version, "all": "else"}, fragment)


@pytest.mark.parametrize("version", [0, -1, 0.5, 1.0, "1", None, True, [1]], ids=repr)
def test_a_version_that_never_was(version: Any, tmp_path: Path) -> None:
    refuses(tmp_path / "bandit.json", {**grown(OCUCBn()).to_dict(), "version": version}, "version")


FIELDS = ["policy", "noise", "seed", "labels", "pulls", "learned", "totals", "retired"]


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_is_missing(field: str, tmp_path: Path) -> None:
    data = grown(OCUCBn()).to_dict()
    del data[field]
    refuses(tmp_path / "bandit.json", data, f"incomplete: {field} is missing")


JUNK: list[Any] = [None, True, False, -1, 1.5, "x", "", [], {}, [[]], [None], {"name": "x"}, [1.5], 2**63]


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_of_the_wrong_type(field: str, tmp_path: Path) -> None:
    data = grown(OCUCBn()).to_dict()
    for junk in JUNK:
        refuses(tmp_path / "bandit.json", {**data, field: junk})


BAD_ITEMS: dict[str, list[Any]] = {
    "labels": [None, True, 1.5, [], {}, ["a"], "a", 3],
    "pulls": [None, True, 1.0, 1.5, "1", [], {}, -1, 2**53, 2**63, 2**64, 10**400, math.nan, math.inf],
    "learned": [None, True, 1.0, 1.5, "1", [], {}, -1, 2**53, 2**63, 2**64, 10**400, math.nan, math.inf],
    "totals": [None, True, 1, "1", "nan", [], {}, math.nan, math.inf, -math.inf, 10**400],
    "retired": [None, 0, 1, 0.0, "false", [], {}],
}


@pytest.mark.parametrize("field", BAD_ITEMS)
def test_one_bad_item_in_a_column(field: str, tmp_path: Path) -> None:
    data = grown(OCUCBn()).to_dict()
    for place in (1, 4, 5):
        for junk in BAD_ITEMS[field]:
            column = [*data[field][:place], junk, *data[field][place + 1 :]]
            refuses(tmp_path / "bandit.json", {**data, field: column}, field if field != "learned" else "")


@pytest.mark.parametrize("field", ["labels", "pulls", "learned", "totals", "retired"])
def test_columns_of_different_lengths(field: str, tmp_path: Path) -> None:
    data = grown(OCUCBn()).to_dict()
    refuses(tmp_path / "bandit.json", {**data, field: data[field][:-1]}, "must be a list of")
    longer = [*data[field], "one more" if field == "labels" else data[field][-1]]
    refuses(tmp_path / "bandit.json", {**data, field: longer}, "must be a list of")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
def test_a_sum_that_is_no_number(number: str, tmp_path: Path) -> None:
    path = tmp_path / "bandit.json"
    bandit = Bandit(OCUCBn(), 2, seed=1)
    bandit.learn(0, 0.625)
    bandit.save(path)
    text = path.read_text(encoding="utf-8")
    assert text.count("0.625") == 1
    refuses(path, text.replace("0.625", number), "totals")


def simple(noise: Noise, **changed: Any) -> Data:
    """Return the data of a bandit of three arms, two of them pulled twice, with some fields changed."""
    bandit = Bandit(OCUCBn(), ["a", "b", "c"], noise, seed=1)
    bandit.learn_many(["a", "a", "b", "b"], [1.0] * 4)
    return {**bandit.to_dict(), **changed}


INCONSISTENT: list[tuple[Data, str]] = [
    (simple(Gaussian(), learned=[3, 2, 0]), "more rewards than pulls"),
    (simple(Gaussian(), pulls=[2, 1, 0]), "more rewards than pulls"),
    (simple(Gaussian(), pulls=[2, -2, 0]), "pulls has a negative value"),
    (simple(Gaussian(), learned=[2, -2, 0]), "learned has a negative value"),
    (simple(Gaussian(), labels=["a", "b", "a"]), "all different"),
    (simple(Gaussian(), labels=[1, "b", 1]), "all different"),
    (simple(Gaussian(), retired=[True, True, True]), "every arm is retired"),
    (simple(Gaussian(), labels=[], pulls=[], learned=[], totals=[], retired=[]), "at least one"),
    (simple(Gaussian(), totals=[2.0, 2.0, 0.5]), ""),  # a sum of no rewards
    (simple(Bernoulli(), totals=[2.5, 2.0, 0.0]), ""),
    (simple(Bernoulli(), totals=[3.0, 2.0, 0.0]), ""),
    (simple(Bernoulli(), totals=[1.5, 2.0, 0.0]), ""),
    (simple(Bernoulli(), totals=[-1.0, 2.0, 0.0]), ""),
    (simple(Poisson(), totals=[-1.0, 2.0, 0.0]), ""),
    (simple(Poisson(), totals=[0.5, 2.0, 0.0]), ""),
    (simple(Exponential(), totals=[-1.0, 2.0, 0.0]), ""),
    (simple(Bounded(-1.0, 3.0), totals=[7.0, 2.0, 0.0]), ""),
    (simple(Bounded(-1.0, 3.0), totals=[-3.0, 2.0, 0.0]), ""),
]


@pytest.mark.parametrize(("data", "fragment"), INCONSISTENT, ids=range(len(INCONSISTENT)))
def test_an_inconsistent_file(data: Data, fragment: str, tmp_path: Path) -> None:
    refuses(tmp_path / "bandit.json", data, fragment)


BAD_SEEDS: list[Any] = [None, True, -1, 1.0, "1", [], {}, 2**63, 2**64, 10**400]


def test_a_bad_seed(tmp_path: Path) -> None:
    for seed in BAD_SEEDS:
        refuses(tmp_path / "bandit.json", {**grown(OCUCBn()).to_dict(), "seed": seed}, "seed")


BAD_NOISES: list[Any] = [
    {},
    {"name": "gaussian"},
    {"parameters": {"scale": 1.0}},
    {"name": "cauchy", "parameters": {}},
    {"name": None, "parameters": {}},
    {"name": ["gaussian"], "parameters": {}},
    {"name": "gaussian", "parameters": None},
    {"name": "gaussian", "parameters": [1.0]},
    {"name": "gaussian", "parameters": {"width": 1.0}},
    {"name": "gaussian", "parameters": {"scale": 1.0}, "more": 1},
    {"name": "bernoulli", "parameters": {"scale": 1.0}},
    {"name": "bounded", "parameters": {"low": 1.0, "high": 0.0}},
    {"name": "bounded", "parameters": {"low": 0.0, "high": "1"}},
    {"name": "bounded", "parameters": {"low": -1e308, "high": 1e308}},
]
BAD_SCALES: list[Any] = [None, True, 0, 0.0, -1.0, "1", [], {}, math.nan, math.inf, 10**400]
BAD_NOISES += [{"name": "gaussian", "parameters": {"scale": scale}} for scale in BAD_SCALES]


@pytest.mark.parametrize("noise", BAD_NOISES, ids=range(len(BAD_NOISES)))
def test_a_bad_noise(noise: Any, tmp_path: Path) -> None:
    refuses(tmp_path / "bandit.json", {**grown(OCUCBn()).to_dict(), "noise": noise})


BAD_POLICIES: list[Any] = [
    {},
    {"name": "ocucb-n"},
    {"parameters": {}},
    {"name": "nobody", "parameters": {}},
    {"name": None, "parameters": {}},
    {"name": ["ocucb-n"], "parameters": {}},
    {"name": "moss", "parameters": {}},
    {"name": "ocucb-n", "parameters": None},
    {"name": "ocucb-n", "parameters": []},
    {"name": "ocucb-n", "parameters": {"alpha": 2.0}},
    {"name": "ocucb-n", "parameters": {"eta": 1.1, "rho": 0.5, "shrink": "none"}, "more": 1},
    {"name": "__class__", "parameters": {}},
]


@pytest.mark.parametrize("policy", BAD_POLICIES, ids=range(len(BAD_POLICIES)))
def test_a_bad_policy(policy: Any, tmp_path: Path) -> None:
    refuses(tmp_path / "bandit.json", {**grown(OCUCBn()).to_dict(), "policy": policy})


BAD_PARAMETERS: list[Any] = ["x", "", [], {}, [1], -1, -0.5, math.nan, math.inf, 10**400]


@every_policy
def test_a_policy_with_a_bad_parameter(policy: Policy, tmp_path: Path) -> None:
    data = grown(policy).to_dict()
    assert Bandit.from_dict(data).policy == policy
    for name in data["policy"]["parameters"]:
        for junk in BAD_PARAMETERS:
            changed = {"name": policy.name, "parameters": {**data["policy"]["parameters"], name: junk}}
            refuses(tmp_path / "bandit.json", {**data, "policy": changed})


WHOLE = json.dumps(grown(OCUCBn(), Bounded(-1.0, 3.0)).to_dict()).encode()


@settings(
    max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(WHOLE) - 1), st.sampled_from([b"", *(bytes([byte]) for byte in range(256))])),
        min_size=1,
        max_size=3,
    )
)
def test_a_damaged_file_is_read_or_refused_and_nothing_else(edits: list[tuple[int, bytes]], tmp_path: Path) -> None:
    raw = [bytes([byte]) for byte in WHOLE]
    for place, byte in edits:
        raw[place] = byte
    path = tmp_path / "bandit.json"
    path.write_bytes(b"".join(raw))
    try:
        bandit = Bandit.load(path)
    except StateError:
        return
    assert len(play(bandit, 5)) == 5
    assert Bandit.from_dict(bandit.to_dict()).to_dict() == bandit.to_dict()


def test_plain_data_is_refused_without_a_file_name() -> None:
    data = grown(OCUCBn()).to_dict()
    junk: list[Any] = [None, 3, "x", [], {}, data["labels"], json.dumps(data), {**data, "format": "x"}]
    for content in junk:
        with pytest.raises(StateError, match=r"^not a saved bandit: "):
            Bandit.from_dict(content)
    with pytest.raises(StateError, match=r"^pulls must be a list of 6 values of type int$"):
        Bandit.from_dict({**data, "pulls": tuple(data["pulls"])})


def test_a_state_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="not a saved bandit"):
        Bandit.from_dict({})
