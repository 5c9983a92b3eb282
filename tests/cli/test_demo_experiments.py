"""What the demo plays."""

from __future__ import annotations

import random
import socket

from ocucb.cli.demo import _with_free_port
from ocucb.cli.demo_experiments import DEMO_EXPERIMENTS
from ocucb.service.settings import Settings

COLOURS = {"black", "blue", "brown", "green", "grey", "orange", "pink", "purple", "red", "violet", "white", "yellow"}


def test_no_arm_is_called_after_a_colour() -> None:
    """The page draws arms in colours of its own."""
    for one in DEMO_EXPERIMENTS:
        words = f"{one.name} {' '.join(map(str, one.means))}".lower().split()
        assert not COLOURS & set(words)
        assert not [word for word in words if word.startswith(("colour", "color"))]


def test_rewards_come_from_the_means() -> None:
    """Chance of failing: below 1e-9, as the bound is 6 standard errors wide."""
    rng = random.Random(1)
    layouts = DEMO_EXPERIMENTS[0]
    for arm, mean in [("cards", 0.26), ("carousel", 0.06), ("an arm that was added", 0.26)]:
        rewards = [layouts.reward(arm, rng) for _ in range(10_000)]
        assert set(rewards) == {0.0, 1.0}
        assert abs(sum(rewards) / 10_000 - mean) < 6 * 0.5 / 100


def test_some_rewards_come_late_and_some_never() -> None:
    """Chance of failing: below 1e-8, as the bounds are 6 standard errors wide."""
    rng = random.Random(1)
    delays = [DEMO_EXPERIMENTS[0].delay(rng) for _ in range(10_000)]
    late = [delay for delay in delays if delay]
    assert abs(delays.count(None) / 10_000 - 0.05) < 6 * 0.0022
    assert abs(len(late) / 10_000 - 0.20) < 6 * 0.004
    assert 1.0 <= min(late) < 2.0 < 19.0 < max(late) <= 20.0


def test_another_port_only_if_the_own_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = Settings(port=other.getsockname()[1])
        assert _with_free_port(taken).port == 0
    assert _with_free_port(taken) == taken
