"""What rewards do within a batch: one comes, one is corrected, a window passes. An error leaves all as it was."""

from __future__ import annotations

from typing import Literal

from ocucb.checks import as_float
from ocucb.errors import RewardError
from ocucb.service import records
from ocucb.service.batch import Batch
from ocucb.service.errors import (
    NoRewardError,
    NotCorrectableError,
    RequestError,
    RewardConflictError,
    TooLateError,
)
from ocucb.service.exact_sums import sum_of
from ocucb.service.experiment_state import ExperimentState
from ocucb.service.records import Entry
from ocucb.service.replies import Corrected, Rewarded
from ocucb.service.requests import Correct, Expire, Reward

MAX_EXPIRED_PER_REQUEST = 500
MAX_PARTS = 100  # of a decision's reward
REWARDS = (records.REWARD, records.SUMMED, records.DEFAULT)


def reward(batch: Batch, request: Reward) -> Rewarded:
    """Count a reward once, if it is in time; or one part of it."""
    state, (decision, outcome) = batch.decision_and_outcome(request.decision, request.visible)
    value = as_float(request.value)
    if outcome is not None and outcome.kind == records.REWARD:
        if outcome.reward != value:
            raise RewardConflictError(as_float(outcome.reward), value)
        return Rewarded(request.decision, state.name, "repeated")
    _check_part(state, request.part)
    state.check_open()
    if outcome is None and decision.deadline is not None and batch.now > decision.deadline:
        outcome = _close_expired(batch, state, decision)
    if outcome is not None:
        if state.definition.late == "refuse":
            raise TooLateError
        return Rewarded(request.decision, state.name, "late")
    if request.part is not None:
        return Rewarded(request.decision, state.name, _add_part(batch, state, decision, request.part, value))
    state.definition.check_reward(value)
    _close(batch, state, decision, records.REWARD, value)
    return Rewarded(request.decision, state.name, "counted")


def _check_part(state: ExperimentState, part: str | None) -> None:
    if state.definition.partial_rewards and part is None:
        raise RequestError("this experiment sums partial rewards; name each part, so that it counts once")
    if part is not None and not state.definition.partial_rewards:
        raise RequestError("this experiment takes one reward for a decision; leave out its part")


def _add_part(
    batch: Batch, state: ExperimentState, decision: Entry, part: str, value: float
) -> Literal["counted", "repeated"]:
    """Note a part of a reward; their sum must be a possible reward after each."""
    parts = batch.parts(state.id, [decision.seq])[decision.seq]
    if part in parts:
        if parts[part] != value:
            raise RewardConflictError(parts[part], value)
        return "repeated"
    if len(parts) >= MAX_PARTS:
        raise RequestError(f"a reward has {MAX_PARTS} parts at most; give larger ones")
    state.definition.check_reward(sum_of({**parts, part: value}))
    about = {"decision": decision.seq, "part": part}
    entry = Entry(state.seq + 1, records.PARTIAL, batch.now, decision.arm, reward=value, data=about)
    state.apply(entry)
    batch.add_part(state, decision, part, entry)
    return "counted"


def correct(batch: Batch, request: Correct) -> Corrected:
    """Put another reward in the place of one that was counted, or void it."""
    state, (decision, outcome) = batch.decision_and_outcome(request.decision, request.visible)
    state.check_open()
    if outcome is None or outcome.kind not in REWARDS:
        raise NoRewardError
    counted, standing = outcome.at, batch.last_correction(state.id, outcome)
    value = None if request.value is None else as_float(request.value)
    if standing.reward == value:
        return Corrected(request.decision, state.name, "repeated")
    _check_correctable(state)
    if value is not None:
        state.definition.check_reward(value)
    about = {"was": standing.reward, "counted": counted}
    entry = Entry(
        state.seq + 1, records.CORRECTED, batch.now, decision.arm, decision=standing.seq, reward=value, data=about
    )
    state.apply(entry)
    batch.add_correction(state, entry)
    what = {"decision": request.decision, "was": standing.reward, "reward": value}
    batch.note_change(entry.kind, state.name, entry=entry.seq, **what)
    return Corrected(request.decision, state.name, "corrected")


def _check_correctable(state: ExperimentState) -> None:
    memory, noise, policy = state.definition.memory, state.definition.noise, state.definition.policy
    if memory is not None:
        raise NotCorrectableError(
            state.name, f"with {memory} it is not known what is still remembered of it; it will be forgotten in time"
        )
    if noise.family().spreads or policy.rule().variance_bound is not None:
        why = noise if noise.family().spreads else policy
        raise NotCorrectableError(
            state.name,
            f"under {why} the spread of the other rewards is not known without it; reward_bounds refuse wrong ones",
        )


def expire(batch: Batch, request: Expire) -> int:
    """Close some decisions whose window has passed."""
    state = batch.by_id.get(request.experiment_id)
    seqs = [] if state is None else batch.transaction.list_due_decisions(state.id, batch.now, MAX_EXPIRED_PER_REQUEST)
    if state is None or not seqs:
        return 0
    stored = batch.transaction.find_decisions([(state.id, seq) for seq in seqs])
    found = {**stored, **batch.found_decisions}
    if state.definition.partial_rewards:
        batch.parts(state.id, seqs)
    for seq in seqs:
        decision, outcome = found[state.id, seq]
        if outcome is None and state.status != records.ARCHIVED:
            _close_expired(batch, state, decision)
        else:
            batch.transaction.delete_due([(state.id, seq)])
    return len(seqs)


def _close_expired(batch: Batch, state: ExperimentState, decision: Entry) -> Entry:
    kind, value = records.DEFAULT, state.definition.on_expiry
    if state.definition.partial_rewards and (parts := batch.parts(state.id, [decision.seq])[decision.seq]):
        kind, value = records.SUMMED, sum_of(parts)
    if value != "forget":
        try:
            return _close(batch, state, decision, kind, value)
        except RewardError:  # the sum of rewards would overflow: then the decision is forgotten
            pass
    return _close(batch, state, decision, records.FORGOTTEN, None)


def _close(batch: Batch, state: ExperimentState, decision: Entry, kind: str, reward: float | None) -> Entry:
    outcome = Entry(state.seq + 1, kind, batch.now, decision.arm, decision=decision.seq, reward=reward)
    state.apply(outcome)
    batch.add_outcome(state, decision, outcome)
    return outcome
