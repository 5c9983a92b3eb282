"""What each request does to an experiment, within a round. An error leaves everything as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from ocucb.checks import as_float
from ocucb.errors import RewardError
from ocucb.service import records
from ocucb.service.definition import MOST_ARMS
from ocucb.service.errors import (
    ArchivedError,
    KeyReusedError,
    NameTakenError,
    PausedError,
    RequestError,
    RewardConflictError,
    TooLateError,
)
from ocucb.service.fold import Live
from ocucb.service.ids import make_id
from ocucb.service.records import SECOND, Entry, KeyRecord
from ocucb.service.requests import (
    AddArm,
    Answer,
    Changed,
    Create,
    Decide,
    Decision,
    Expire,
    ImportLog,
    Look,
    Request,
    RetireArm,
    Reward,
    Rewarded,
    SetStatus,
    View,
)
from ocucb.service.rounds import Round
from ocucb.service.text import encode

MOST_EXPIRED = 500


def apply(this: Round, request: Request) -> Answer:
    """Do what a request asks, in memory and in what the round will write, and return its answer."""
    return _APPLY[type(request)](this, request)


def _create(this: Round, request: Create) -> Changed:
    definition = request.definition
    plain = definition.to_dict()
    asked = _asked("create", {**plain, "seed": None})  # a retry may have drawn another seed
    live = this.by_name.get(definition.name)
    if live is not None:
        if _repeats(this, live, request.key, asked):
            return Changed(live.name, live.seq, live.status)
        raise NameTakenError(definition.name)
    experiment = this.transaction.create(definition.name, this.now, records.ACTIVE)
    if experiment is None:
        raise NameTakenError(definition.name)
    entry = Entry(1, records.CREATED, this.now, data=plain)
    live = Live.begin(experiment, entry)
    this.create(live, entry)
    if request.key is not None:
        this.remember(live, KeyRecord(request.key, asked, 1, 1, this.now))
    return Changed(live.name, live.seq, live.status)


def _decide(this: Round, request: Decide) -> tuple[Decision, ...]:
    live = this.experiment(request.experiment)
    asked = f"decide {request.count} {'' if request.unit is None else request.unit}"
    record = _repeats(this, live, request.key, asked)
    if record is not None:
        stored = this.decisions(live, record.seq, record.size)
        return tuple(_decision(live, entry, repeated=True) for entry in stored)
    if live.status == records.PAUSED:
        raise PausedError(live.name)
    _check_open(live)
    before = _sticky(this, live, request.unit)
    if before is None:
        live.check_room(request.count)
        entries = [live.choose(this.now, this.tokens.new(), request.unit) for _ in range(request.count)]
        for entry in entries:
            this.record(live, entry)
    else:
        entries = [before]
    if request.key is not None:
        this.remember(live, KeyRecord(request.key, asked, entries[0].seq, len(entries), this.now))
    return tuple(_decision(live, entry, repeated=before is not None) for entry in entries)


def _sticky(this: Round, live: Live, unit: str | None) -> Entry | None:
    """Return the decision that a unit gets again, if there is one."""
    window = live.definition.sticky
    entry = None if unit is None or window is None else this.known_units.get(live.id, {}).get(unit)
    if entry is None or window is None or entry.arm in live.retired:
        return None
    # A clock that was far ahead and came back must not make a decision stick for ever: distance, not difference.
    return entry if abs(this.now - entry.at) < window * SECOND else None


def _reward(this: Round, request: Reward) -> Rewarded:
    live, (decision, outcome) = this.experiment_of(request.decision, request.visible)
    value = as_float(request.value)
    if outcome is not None and outcome.kind == records.REWARD:
        if outcome.reward != value:
            raise RewardConflictError(as_float(outcome.reward), value)
        return Rewarded(request.decision, live.name, "repeated")
    _check_open(live)
    if outcome is None and decision.deadline is not None and this.now > decision.deadline:
        outcome = _close_expired(this, live, decision)
    if outcome is not None:
        if live.definition.late == "refuse":
            raise TooLateError
        return Rewarded(request.decision, live.name, "late")
    _close(this, live, decision, records.REWARD, value)
    return Rewarded(request.decision, live.name, "counted")


def _expire(this: Round, request: Expire) -> int:
    live = this.by_id.get(request.experiment_id)
    seqs = [] if live is None else this.transaction.due(live.id, this.now, MOST_EXPIRED)
    if live is None or not seqs:
        return 0
    found = {**this.transaction.decisions(live.id, seqs), **this.known_decisions.get(live.id, {})}
    for seq in seqs:
        decision, outcome = found[seq]
        if outcome is None and live.status != records.ARCHIVED:
            _close_expired(this, live, decision)
        else:
            this.transaction.end_due([(live.id, seq)])
    return len(seqs)


def _close_expired(this: Round, live: Live, decision: Entry) -> Entry:
    default = live.definition.on_expiry
    if default != "forget":
        try:
            return _close(this, live, decision, records.DEFAULT, default)
        except RewardError:  # the sum would overflow: then rather nothing than never
            pass
    return _close(this, live, decision, records.FORGOTTEN, None)


def _close(this: Round, live: Live, decision: Entry, kind: str, reward: float | None) -> Entry:
    outcome = Entry(live.seq + 1, kind, this.now, decision.arm, decision=decision.seq, reward=reward)
    live.apply(outcome)
    this.close(live, decision, outcome)
    return outcome


def _set_status(this: Round, request: SetStatus) -> Changed:
    live = this.experiment(request.experiment)
    if live.status != request.status:
        _check_open(live)
        _change(this, live, records.RESUMED if request.status == records.ACTIVE else request.status)
    return Changed(live.name, live.seq, live.status)


def _add_arm(this: Round, request: AddArm) -> Changed:
    live = this.experiment(request.experiment)
    _check_open(live)
    if len(live.known) >= MOST_ARMS:
        raise RequestError(f"an experiment has {MOST_ARMS} arms at most; split it")
    _change(this, live, records.ARM_ADDED, arm=request.arm, data={"metadata": request.metadata})
    return Changed(live.name, live.seq, live.status)


def _retire_arm(this: Round, request: RetireArm) -> Changed:
    live = this.experiment(request.experiment)
    _check_open(live)
    if request.arm not in live.retired:
        _change(this, live, records.ARM_RETIRED, arm=request.arm)
    return Changed(live.name, live.seq, live.status)


def _import_log(this: Round, request: ImportLog) -> Changed:
    live = this.experiment(request.experiment)
    asked = _asked("import", [[arm, repr(reward)] for arm, reward in request.log])
    if _repeats(this, live, request.key, asked) is None:
        _check_open(live)
        _change(this, live, records.LOG_IMPORTED, data={"log": [list(pair) for pair in request.log]})
        if request.key is not None:
            this.remember(live, KeyRecord(request.key, asked, live.seq, 1, this.now))
    return Changed(live.name, live.seq, live.status)


def _look(this: Round, request: Look) -> View:
    live = this.experiment(request.experiment)
    bandit = live.bandit
    short = View(live.definition, live.seq, live.status, bandit.rounds, history=live.history.spans())
    if not request.arms:
        return short
    gone = live.gone()
    return short._replace(
        arms=bandit.arms,
        added=dict(live.metadata),
        retired=tuple(arm for arm, _, _ in gone),
        retired_pulls=tuple(pulls for _, pulls, _ in gone),
        retired_means=tuple(mean for _, _, mean in gone),
        pulls=tuple(bandit.pulls.tolist()),
        pending=tuple(bandit.pending.tolist()),
        means=tuple(bandit.means.tolist()),
        indices=tuple(bandit.indices().tolist()),
        effective_arms=tuple(bandit.effective_arms().tolist()),
    )


def _change(this: Round, live: Live, kind: str, **what: Any) -> None:
    entry = Entry(live.seq + 1, kind, this.now, **what)
    live.apply(entry)
    this.record(live, entry)


def _check_open(live: Live) -> None:
    if live.status == records.ARCHIVED:
        raise ArchivedError(live.name)


def _repeats(this: Round, live: Live, key: str | None, asked: str) -> KeyRecord | None:
    """Return what is stored under an idempotency key, if it was used before for the same request."""
    record = None if key is None else this.known_keys.get(live.id, {}).get(key)
    if record is not None and record.asked != asked:
        raise KeyReusedError(record.key)
    return record


def _asked(kind: str, data: object) -> str:
    return f"{kind} {hashlib.sha256(encode(data).encode()).hexdigest()}"


def _decision(live: Live, entry: Entry, repeated: bool) -> Decision:
    return Decision(
        make_id(live.id, entry),
        live.name,
        entry.arm if entry.arm is not None else "",
        entry.unit,
        entry.at,
        entry.deadline,
        entry.pulls or 0,
        entry.mean,
        entry.index_value,
        entry.effective,
        repeated,
    )


_APPLY: dict[type, Callable[[Round, Any], Answer]] = {
    Create: _create,
    Decide: _decide,
    Reward: _reward,
    Expire: _expire,
    SetStatus: _set_status,
    AddArm: _add_arm,
    RetireArm: _retire_arm,
    ImportLog: _import_log,
    Look: _look,
}
