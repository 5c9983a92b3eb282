"""What each request does to an experiment, within a batch. An error leaves everything as it was."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from ocucb.labels import Label
from ocucb.service import records
from ocucb.service.batch import Batch, NotLoadedError
from ocucb.service.definition import MAX_ARMS_PER_EXPERIMENT
from ocucb.service.errors import (
    KeyReusedError,
    LogError,
    NameTakenError,
    NotArchivedError,
    PausedError,
    RequestError,
)
from ocucb.service.experiment_state import ExperimentState
from ocucb.service.ids import make_id
from ocucb.service.records import SECOND, Entry, IdempotencyRecord
from ocucb.service.replies import MAX_ARMS_JUDGED, Answer, ArmPage, Changed, Decision, UnreadVerdict, UnreadView, View
from ocucb.service.requests import (
    AddArm,
    AskVerdict,
    Correct,
    Create,
    Decide,
    Delete,
    Expire,
    ImportLog,
    Inspect,
    InspectArms,
    Request,
    RetireArm,
    Reward,
    SetShares,
    SetStatus,
    SetWinnerRule,
)
from ocucb.service.reward_handlers import correct, expire, reward
from ocucb.service.text import encode
from ocucb.suitability import check_verdicts

LOOK_AGAIN = 1.01


def handle(batch: Batch, request: Request) -> Answer:
    """Do what a request asks, in memory and in what the batch will write, and return its answer."""
    return _HANDLERS[type(request)](batch, request)


def _create(batch: Batch, request: Create) -> Changed:
    definition = request.definition
    plain = definition.to_dict()
    fingerprint = _fingerprint("create", {**plain, "seed": None})  # a retry may have drawn another seed
    state = batch.by_name.get(definition.name)
    if state is not None:
        if _find_repeated(batch, state, request.idempotency_key, fingerprint):
            return Changed(state.name, state.seq, state.status)
        raise NameTakenError(definition.name)
    experiment = batch.transaction.create_experiment(definition.name, batch.now, records.ACTIVE)
    if experiment is None:  # it is there, perhaps by the same request on another node
        raise NotLoadedError(definition.name)
    entry = Entry(1, records.CREATED, batch.now, data=plain)
    state = ExperimentState.begin(experiment, entry)
    batch.add_experiment(state, entry)
    batch.note_change(entry.kind, state.name)
    if request.idempotency_key is not None:
        batch.add_idempotency_record(state, _record(batch, request.idempotency_key, fingerprint, 1, 1))
    return Changed(state.name, state.seq, state.status)


def _decide(batch: Batch, request: Decide) -> tuple[Decision, ...]:
    state = batch.experiment(request.experiment)
    fingerprint = "" if request.idempotency_key is None else _fingerprint_of_decide(request)
    record = _find_repeated(batch, state, request.idempotency_key, fingerprint)
    if record is not None:
        entries = batch.read_entries(state, record.seq, record.entry_count)
        return tuple([_decision(state, entry, repeated=True) for entry in entries])
    if state.status == records.PAUSED:
        raise PausedError(state.name)
    state.check_open()
    before = None if request.unit is None else _find_sticky(batch, state, request.unit)
    if before is None:
        state.check_horizon(request.count)
        entries = _make_decisions(batch, state, request)
        for entry in entries:
            batch.add_entry(state, entry)
    else:
        entries = [before]
    if request.idempotency_key is not None:
        record = _record(batch, request.idempotency_key, fingerprint, entries[0].seq, len(entries))
        batch.add_idempotency_record(state, record)
    return tuple([_decision(state, entry, repeated=before is not None) for entry in entries])


def _fingerprint_of_decide(request: Decide) -> str:
    fingerprint = f"decide {request.count} {'' if request.unit is None else request.unit}"
    if request.among is not None or request.different:
        fingerprint = _fingerprint(fingerprint, [request.among, request.different])
    return fingerprint


def _make_decisions(batch: Batch, state: ExperimentState, request: Decide) -> list[Entry]:
    if request.different:
        return state.choose_many(batch.now, [batch.tokens.new() for _ in range(request.count)])
    if request.among is not None:
        state.bandit.peek(request.among)  # raises before anything is done
    if state.winner_confidence is not None and state.winner is None:
        _look_for_winner(batch, state, state.winner_confidence)
    unit, among = request.unit, request.among
    return [state.choose(batch.now, batch.tokens.new(), unit, among) for _ in range(request.count)]


def _look_for_winner(batch: Batch, state: ExperimentState, confidence: float) -> None:
    """Note a winner, if there is one. Looked for anew once there are 1 % more rounds."""
    rounds = state.bandit.rounds
    if rounds < LOOK_AGAIN * state.looked_at:
        return
    state.looked_at = rounds
    best = state.bandit.best(confidence).best
    if best is not None:
        _change(batch, state, records.WINNER, arm=best)


def _find_sticky(batch: Batch, state: ExperimentState, unit: str) -> Entry | None:
    """Return the decision that a unit gets again, if there is one."""
    window = state.definition.sticky
    entry = None if window is None else batch.last_decision(state, unit)
    if entry is None or window is None or _is_retired(state, entry.arm):
        return None
    if entry.deadline is not None and batch.now > entry.deadline:  # its reward would be refused
        return None
    # A clock that was far ahead and came back must not make a decision stick for ever: distance, not difference.
    return entry if abs(batch.now - entry.at) < window * SECOND else None


def _set_status(batch: Batch, request: SetStatus) -> Changed:
    state = batch.experiment(request.experiment)
    if state.status != request.status:
        state.check_open()
        _change(batch, state, records.RESUMED if request.status == records.ACTIVE else request.status)
    return Changed(state.name, state.seq, state.status)


def _delete(batch: Batch, request: Delete) -> Changed:
    if (record := batch.delete_damaged(request.experiment)) is not None:
        batch.note_change(records.DELETED, record.name, entries=record.seq, damaged=True)
        return Changed(record.name, record.seq, records.DELETED)
    state = batch.experiment(request.experiment)
    if state.status != records.ARCHIVED:
        raise NotArchivedError(state.name)
    batch.delete_experiment(state)
    batch.note_change(records.DELETED, state.name, entries=state.seq)
    return Changed(state.name, state.seq, records.DELETED)


def _add_arm(batch: Batch, request: AddArm) -> Changed:
    state = batch.experiment(request.experiment)
    state.check_open()
    if len(state.labels) >= MAX_ARMS_PER_EXPERIMENT:
        raise RequestError(f"an experiment has {MAX_ARMS_PER_EXPERIMENT} arms at most; split it")
    _change(batch, state, records.ARM_ADDED, arm=request.arm, data={"metadata": request.metadata})
    return Changed(state.name, state.seq, state.status)


def _retire_arm(batch: Batch, request: RetireArm) -> Changed:
    state = batch.experiment(request.experiment)
    state.check_open()
    if not _is_retired(state, request.arm):
        _change(batch, state, records.ARM_RETIRED, arm=request.arm)
    return Changed(state.name, state.seq, state.status)


def _set_shares(batch: Batch, request: SetShares) -> Changed:
    state = batch.experiment(request.experiment)
    state.check_open()
    _change(batch, state, records.SHARES_SET, data={"shares": [list(pair) for pair in request.shares]})
    return Changed(state.name, state.seq, state.status)


def _set_winner_rule(batch: Batch, request: SetWinnerRule) -> Changed:
    state = batch.experiment(request.experiment)
    if state.winner_confidence != request.confidence:
        state.check_open()
        if request.confidence is not None:
            if len(state.labels) > MAX_ARMS_JUDGED:
                raise RequestError(f"a winner is looked for among {MAX_ARMS_JUDGED} arms at most; split the experiment")
            state.bandit.best(request.confidence)  # raises where there are no verdicts
        _change(batch, state, records.WINNER_RULE_SET, data={"confidence": request.confidence})
    return Changed(state.name, state.seq, state.status)


def _verdict(batch: Batch, request: AskVerdict) -> UnreadVerdict:
    state = batch.experiment(request.experiment)
    check_verdicts(state.definition.memory)
    known = state.bandit.statistics(retired=True)
    return UnreadVerdict(state.definition, known, state.bandit.rounds, request.confidence)


def _is_retired(state: ExperimentState, arm: Label | None) -> bool:
    return arm is not None and arm in state.bandit and state.bandit.is_retired(arm)


def _import_log(batch: Batch, request: ImportLog) -> Changed:
    state = batch.experiment(request.experiment)
    fingerprint = _fingerprint("import", [[arm, repr(reward)] for arm, reward in request.log])
    if _find_repeated(batch, state, request.idempotency_key, fingerprint) is None:
        state.check_open()
        for _, reward in request.log:
            state.definition.check_reward(reward)
        _change(batch, state, records.LOG_IMPORTED, data={"log": [list(pair) for pair in request.log]})
        if request.idempotency_key is not None:
            batch.add_idempotency_record(state, _record(batch, request.idempotency_key, fingerprint, state.seq, 1))
    return Changed(state.name, state.seq, state.status)


def _inspect(batch: Batch, request: Inspect) -> View | UnreadView:
    state = batch.experiment(request.experiment)
    short = View(
        state.definition,
        state.seq,
        state.status,
        state.bandit.rounds,
        history=state.history.spans(),
        shares=tuple(state.bandit.shares.items()),
        winner_confidence=state.winner_confidence,
        winner=state.winner,
    )
    if not request.arms:
        return short
    return UnreadView(short, state.bandit.statistics(retired=True), dict(state.metadata))


def _inspect_arms(batch: Batch, request: InspectArms) -> ArmPage:
    state = batch.experiment(request.experiment)
    end = request.after + request.limit
    arms = state.labels[request.after : end]
    return ArmPage(
        state.definition,
        state.bandit.explain_many(arms),
        {arm: state.metadata[arm] for arm in arms if arm in state.metadata},
        end if end < len(state.labels) else None,
    )


def _change(batch: Batch, state: ExperimentState, kind: str, **what: Any) -> None:
    entry = Entry(state.seq + 1, kind, batch.now, **what)
    state.apply(entry)
    batch.add_entry(state, entry)
    if kind != records.WINNER:  # which nobody has changed
        details = {"rewards": len(entry.data["log"])} if entry.data and "log" in entry.data else entry.data or {}
        arm = {} if entry.arm is None else {"arm": entry.arm}
        batch.note_change(kind, state.name, entry=entry.seq, **arm, **details)


def _find_repeated(
    batch: Batch, state: ExperimentState, idempotency_key: str | None, fingerprint: str
) -> IdempotencyRecord | None:
    """Return what is stored under an idempotency key, if it was used before, by the same API key, for the same request.

    What was stored before API keys were noted is known to all of them.
    """
    if idempotency_key is None:
        return None
    known = batch.idempotency_records
    record = known.get((state.id, batch.api_key, idempotency_key)) or known.get((state.id, "", idempotency_key))
    if record is not None and record.fingerprint != fingerprint:
        raise KeyReusedError(record.idempotency_key)
    return record


def _record(batch: Batch, idempotency_key: str, fingerprint: str, seq: int, entry_count: int) -> IdempotencyRecord:
    return IdempotencyRecord(idempotency_key, batch.api_key, fingerprint, seq, entry_count, batch.now)


def _fingerprint(kind: str, data: object) -> str:
    return f"{kind} {hashlib.sha256(encode(data).encode()).hexdigest()}"


def _decision(state: ExperimentState, entry: Entry, repeated: bool) -> Decision:
    if entry.arm is None or entry.statistics is None:
        raise LogError(f"entry {entry.seq} of the log of experiment {state.name!r} is no decision")
    decision = make_id(state.id, entry)
    known = entry.statistics, entry.probability
    return Decision(decision, state.name, entry.arm, entry.unit, entry.at, entry.deadline, *known, repeated)


_HANDLERS: dict[type, Callable[[Batch, Any], Answer]] = {
    Create: _create,
    Decide: _decide,
    Reward: reward,
    Correct: correct,
    Expire: expire,
    SetStatus: _set_status,
    Delete: _delete,
    AddArm: _add_arm,
    RetireArm: _retire_arm,
    SetShares: _set_shares,
    SetWinnerRule: _set_winner_rule,
    AskVerdict: _verdict,
    ImportLog: _import_log,
    Inspect: _inspect,
    InspectArms: _inspect_arms,
}
