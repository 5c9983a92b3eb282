"""What a memory remembers, as plain data, and taken over from it again."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ocucb.selection.forgetting import restore_events
from ocucb.selection.restarting import restore_corner
from ocucb.selection.state import DISCOUNT, WINDOW, Memory, set_means


def remembered_data(memory: Memory, slots: int) -> dict[str, Any]:
    """Return what is remembered of the first slots."""
    kind = memory.state["memory"][0]
    arms, ever = memory.arms[:slots], memory.arrays["ever"][:slots]
    if kind == WINDOW:
        return _events(memory, arms, ever)
    return _faded(memory, arms, ever) if kind == DISCOUNT else _since_restart(memory, arms, ever)


def take_over(memory: Memory, slots: int, data: dict[str, Any]) -> None:
    """Remember what `remembered_data` returned; statistics of all time, which stand elsewhere, are there already."""
    arms, ever = memory.arms[:slots], memory.arrays["ever"][:slots]
    kind = memory.state["memory"][0]
    memory.state["now"] = data["now"]
    if kind == WINDOW:
        _take_over_events(memory, arms, ever, data)
        return
    arms["pulls"], arms["total"] = data["pulls"], data["totals"]
    memory.state["remembered"] = data["rounds"]
    if kind == DISCOUNT:
        ever["weight"], ever["waiting"] = data["weights"], data["waiting"]
        arms["learned"] = np.where(ever["weight"] > 0.0, np.maximum(ever["learned"], 1), 0)
        set_means(arms, arms["total"], ever["weight"])
        memory.state["unit"] = data["unit"]
        return
    arms["learned"], ever["least"], ever["most"] = data["rewards"], data["least"], data["most"]
    set_means(arms, arms["total"], arms["learned"])
    memory.state["restarts"] = data["restarts"]
    hulls = [(arm, side == "above", hull) for side in ("above", "below") for arm, hull in enumerate(data[side])]
    memory.make_room_for_corners(sum(len(hull) for _, _, hull in hulls))
    for arm, above, hull in hulls:
        for count, total in hull:
            restore_corner(memory.address, arm, above, count, total)


def _events(memory: Memory, arms: npt.NDArray[Any], ever: npt.NDArray[Any]) -> dict[str, Any]:
    """Return the pulls and rewards of a window in order, as columns; a pull has no reward."""
    state = memory.state[0]
    events = np.roll(memory.arrays["events"], -int(state["events_first"]))[: state["events_count"]]
    events = events[events["arm"] >= 0]  # the others were cancelled
    rewards = events["reward"].astype(object)
    rewards[np.isnan(events["reward"])] = None
    return {
        "now": state["now"].item(),
        "events": {"rounds": events["when"].tolist(), "arms": events["arm"].tolist(), "rewards": rewards.tolist()},
        "totals": arms["total"].tolist(),  # as they were rounded, which the events do not tell
        "rests": ever["total_rest"].tolist(),
    }


def _take_over_events(memory: Memory, arms: npt.NDArray[Any], ever: npt.NDArray[Any], data: dict[str, Any]) -> None:
    events = data["events"]
    memory.make_room_for_events(len(events["rounds"]))
    whens, places = (np.array(events[key], dtype=np.int64) for key in ("rounds", "arms"))
    restore_events(memory.address, whens, places, np.array(events["rewards"], dtype=np.float64))
    if "totals" in data:  # older files have none
        arms["total"], ever["total_rest"] = data["totals"], data["rests"]
        set_means(arms, np.add(arms["total"], ever["total_rest"]), arms["learned"])


def _faded(memory: Memory, arms: npt.NDArray[Any], ever: npt.NDArray[Any]) -> dict[str, Any]:
    state = memory.state[0]
    return {
        "now": state["now"].item(),
        "unit": state["unit"].item(),
        "rounds": state["remembered"].item(),
        "pulls": arms["pulls"].tolist(),
        "weights": np.where(arms["learned"] > 0, ever["weight"], 0.0).tolist(),
        "totals": arms["total"].tolist(),
        "waiting": ever["waiting"].tolist(),
    }


def _since_restart(memory: Memory, arms: npt.NDArray[Any], ever: npt.NDArray[Any]) -> dict[str, Any]:
    state, known = memory.state[0], arms["learned"] > 0
    return {
        "now": state["now"].item(),
        "restarts": state["restarts"].item(),
        "rounds": state["remembered"].item(),
        "pulls": arms["pulls"].tolist(),
        "rewards": arms["learned"].tolist(),
        "totals": arms["total"].tolist(),
        "least": np.where(known, ever["least"], 0.0).tolist(),
        "most": np.where(known, ever["most"], 0.0).tolist(),
        "above": [_hull(memory, top) for top in ever["above"].tolist()],
        "below": [_hull(memory, top) for top in ever["below"].tolist()],
    }


def _hull(memory: Memory, top: int) -> list[list[float]]:
    """Return the corners of a stack, number of rewards and their sum, in the order in which they came."""
    found: list[list[float]] = []
    while top:
        count, total, top = memory.arrays["corners"][top - 1].tolist()
        found.append([count, total])
    return found[::-1]
