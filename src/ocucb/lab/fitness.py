"""Which policies of the lab, with a memory or on a fleet, go with which noise families."""

from __future__ import annotations

from ocucb.lab.fleet import Fleet, check_fleet
from ocucb.lab.remembering import Remembering
from ocucb.noise import Noise
from ocucb.policies import Policy
from ocucb.suitability import check_suitable


def check_fit(policy: Policy, noise: Noise) -> None:
    """Raise one clear line for a policy that makes no sense under a noise family, with its memory or on its fleet."""
    if isinstance(policy, Fleet):
        check_fleet(policy, noise)
        check_suitable(policy.policy, noise)
    elif isinstance(policy, Remembering):
        check_suitable(policy.policy, noise, policy.memory)
    else:
        check_suitable(policy, noise)
