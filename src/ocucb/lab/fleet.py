"""A fleet: nodes that choose on their own, and share what they have learned only now and then.

Requests go to the nodes by turns. Each node has a bandit that knows what all had learned when they shared last, and
what itself has learned since. When they share, what each has learned since is merged (`Bandit.merge`), and all begin
from that.
"""

from __future__ import annotations

import numpy as np

from ocucb.bandit import Bandit
from ocucb.checks import whole
from ocucb.compiled import Floats
from ocucb.errors import ParameterError
from ocucb.lab.problem import Problem
from ocucb.lab.tape import arm_key, choice_seed
from ocucb.policies import Policy
from ocucb.uniforms import uniform


def fleet_regret(
    problem: Problem, policy: Policy, *, nodes: int, every: int, horizon: int, runs: int = 1, seed: int = 0
) -> Floats:
    """Return the pseudo-regret of each run of a fleet: a function of its arguments, on the tape of the lab.

    Parameters
    ----------
    problem : plain, for here rewards are drawn one by one.
    policy : of every node.
    nodes : how many choose.
    every : after how many rounds of all together they share; 1 for always.
    horizon, runs, seed : as in an Experiment.
    """
    whole("nodes", nodes, 1, "a fleet needs a node")
    whole("every", every, 1, "use every=1 to share after each round")
    whole("horizon", horizon, problem.arms, "every arm is played once")
    whole("runs", runs, 1, "give the number of runs")
    if not problem.plain:
        raise ParameterError(f"a fleet needs a plain problem, got one where {problem.notes()[0]}")
    return np.array([_play(problem, policy, nodes, every, horizon, seed, run) for run in range(runs)])


def _play(problem: Problem, policy: Policy, nodes: int, every: int, horizon: int, seed: int, run: int) -> float:
    keys = [np.uint64(arm_key(seed, run, arm)) for arm in range(problem.arms)]

    def fresh(node: int) -> Bandit:
        return Bandit(policy, problem.arms, problem.noise, seed=(choice_seed(seed, run) + node) % 2**63)

    shared = fresh(0)
    here, since = [fresh(node) for node in range(nodes)], [fresh(node) for node in range(nodes)]
    pulls = [0] * problem.arms
    for t in range(horizon):
        node = t % nodes
        arm = int(here[node].choose())
        pulls[arm] += 1
        reward = problem.noise.quantile(problem.means[arm], uniform(keys[arm], pulls[arm]))
        here[node].learn(arm, reward)
        if nodes > 1:
            since[node].learn(arm, reward)
            if (t + 1) % every == 0:
                for one in since:
                    shared.merge(one)
                here, since = [fresh(one) for one in range(nodes)], [fresh(one) for one in range(nodes)]
                for one in here:
                    one.merge(shared)
    return float(np.dot(pulls, problem.gaps))
