"""Which policies go with which noise families and memories, and where there are verdicts."""

from __future__ import annotations

import math

from ocucb.errors import ParameterError
from ocucb.memory import Memory
from ocucb.noise import Noise
from ocucb.policies import Policy


def check_suitable(policy: Policy, noise: Noise, memory: Memory | None = None) -> None:
    """Raise one clear line for a policy that makes no sense under a noise family, or either with a memory."""
    if memory is not None and policy.name in ("top-two", "kl-lucb"):
        raise ParameterError(
            f"{policy} looks for a verdict, and with {memory} there is none: what drifts has no one mean; use OCUCBn()"
        )
    if memory is not None and policy.name == "gittins":
        raise ParameterError(
            f"{policy} plans for rewards that are never forgotten; with {memory} use OCUCBn() or MOSS(horizon)"
        )
    rule, family = policy.rule(), noise.family()
    if memory is not None and family.spreads:
        raise ParameterError(f"{noise} cannot forget the spread of rewards; with {memory} use Gaussian(scale)")
    reads_variance = rule.variance_bound is not None
    if memory is not None and reads_variance:
        raise ParameterError(f"{policy} cannot forget the spread of rewards; with {memory} use OCUCBn() or KLUCB()")
    if reads_variance and not family.width < math.inf:
        raise ParameterError(
            f"{policy} needs rewards in a known range, got {noise}; use Bernoulli() or Bounded(low, high), "
            "or another policy such as OCUCBn()"
        )
    if rule.reads_divergence and family.spreads:
        raise ParameterError(
            f"{policy} reads a divergence that all arms share, and under {noise} each arm has its own; "
            "use OCUCBn(), KLUCB() or ThompsonSampling()"
        )


def check_verdicts(memory: Memory | None) -> None:
    """Raise one clear line if there are neither verdicts nor intervals, because something is forgotten."""
    if memory is not None:
        raise ParameterError(
            f"with {memory} there are no verdicts and no intervals: what drifts has no one mean to be sure of"
        )
