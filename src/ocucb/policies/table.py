"""The table of policies: every one of the package by its name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ocucb.errors import GuaranteeWarning, StateError
from ocucb.policies.ada_ucb import AdaUCB
from ocucb.policies.bayes_ucb import BayesUCB
from ocucb.policies.epsilon_greedy import EpsilonGreedy
from ocucb.policies.gittins import Gittins
from ocucb.policies.greedy import Greedy
from ocucb.policies.imed import IMED
from ocucb.policies.klucb import KLUCB
from ocucb.policies.klucb_h_plus import KLUCBHPlus
from ocucb.policies.klucb_plus import KLUCBPlus
from ocucb.policies.klucb_plus_plus import KLUCBPlusPlus
from ocucb.policies.klucb_switch import KLUCBSwitch
from ocucb.policies.moss import MOSS
from ocucb.policies.ocucb import OCUCB
from ocucb.policies.ocucb_n import OCUCBn
from ocucb.policies.policy import Policy
from ocucb.policies.thompson import ThompsonSampling
from ocucb.policies.ucb import UCB
from ocucb.policies.uniform import Uniform

POLICIES: dict[str, type[Policy]] = {
    OCUCBn.name: OCUCBn,
    OCUCB.name: OCUCB,
    AdaUCB.name: AdaUCB,
    UCB.name: UCB,
    KLUCB.name: KLUCB,
    KLUCBPlus.name: KLUCBPlus,
    KLUCBPlusPlus.name: KLUCBPlusPlus,
    KLUCBHPlus.name: KLUCBHPlus,
    KLUCBSwitch.name: KLUCBSwitch,
    MOSS.name: MOSS,
    BayesUCB.name: BayesUCB,
    Gittins.name: Gittins,
    ThompsonSampling.name: ThompsonSampling,
    IMED.name: IMED,
    Greedy.name: Greedy,
    EpsilonGreedy.name: EpsilonGreedy,
    Uniform.name: Uniform,
}


def from_dict(data: Mapping[str, Any]) -> Policy:
    """Return the policy that `Policy.to_dict` described.

    Raises StateError for an unknown name or parameter, ParameterError for a value out of range.
    """
    if not isinstance(data, Mapping) or set(data) != {"name", "parameters"}:
        raise StateError(f'a policy must be {{"name": ..., "parameters": {{...}}}}, got {data!r}')
    name, parameters = data["name"], data["parameters"]
    policy = POLICIES.get(name) if isinstance(name, str) else None
    if policy is None:
        raise StateError(
            f"policy must be one of {', '.join(POLICIES)}, got {name!r}; build a policy of your own in code instead"
        )
    known = [field.name for field in fields(policy)]
    if not isinstance(parameters, Mapping) or not set(parameters) <= set(known):
        raise StateError(f"parameters of {name} must be among {known}, got {parameters!r}")
    with warnings.catch_warnings():  # a lost guarantee was said when the policy was first built
        warnings.simplefilter("ignore", GuaranteeWarning)
        try:
            return policy(**parameters)
        except TypeError as problem:
            raise StateError(f"parameters of {name} are incomplete: {problem}") from None
