"""What is known of an arm that a share chose is the same whether or not somebody has looked before."""

from __future__ import annotations

import pytest

from ocucb import Bandit, Discount, OCUCBn, Window


@pytest.mark.parametrize("memory", [None, Window(30), Discount(0.9)])
def test_looking_first_changes_nothing_that_is_known(memory: Window | Discount | None) -> None:
    looked, plain = (Bandit(OCUCBn(), list(range(6)), seed=7, memory=memory) for _ in range(2))
    for bandit in (looked, plain):
        bandit.set_shares({0: 0.4})
    for number in range(60):
        known = looked.explain(looked.peek())
        chosen, other = plain.decide(), looked.decide()
        assert chosen == other
        assert chosen.statistics == known
        for bandit in (looked, plain):
            bandit.learn(chosen.arm, number % 3 / 2)
