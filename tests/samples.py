"""One or more samples of every policy and every noise family, for tests that run over the whole table."""

from __future__ import annotations

import dataclasses
import math
import warnings

import ocucb

HORIZON = 400

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ocucb.GuaranteeWarning)
    POLICY_SAMPLES: list[ocucb.Policy] = [
        ocucb.OCUCBn(),
        ocucb.OCUCBn(eta=2.0, rho=0.0),
        ocucb.OCUCBn(eta=1.5, rho=0.75),
        ocucb.OCUCBn(eta=1.0, rho=1.0),
        ocucb.OCUCBn(rho=0.7, shrink="t"),
        ocucb.OCUCBn(shrink="log-plus"),
        ocucb.OCUCBn(shrink="all"),
        ocucb.OCUCBn(eta="annealed"),
        ocucb.OCUCBn(eta="annealed", shrink="log-plus"),
        ocucb.KLUCBPlus(),
        ocucb.KLUCB(),
        ocucb.KLUCB(c=3.0),
        ocucb.UCB(),
        ocucb.UCB(alpha="asymptotic"),
        ocucb.OCUCB(HORIZON),
        ocucb.MOSS(HORIZON),
        ocucb.MOSSAnytime(),
        ocucb.MOSSAnytime(alpha=0.5),
        ocucb.KLUCBHPlus(HORIZON),
        ocucb.KLUCBPlusPlus(HORIZON),
        ocucb.KLUCBSwitch(HORIZON),
        ocucb.AdaUCB(),
        ocucb.AdaUCB(HORIZON),
        ocucb.BayesUCB(),
        ocucb.BayesUCB(HORIZON, c=2.0),
        ocucb.Gittins(HORIZON),
        ocucb.Gittins(HORIZON, approximate=True),
        ocucb.ThompsonSampling(),
        ocucb.EpsilonThompson(),
        ocucb.EpsilonThompson(0.4),
        ocucb.ExpTS(),
        ocucb.ExpTSPlus(),
        ocucb.MaillardSampling(),
        ocucb.MaillardSampling(subtracted=1),
        ocucb.IMED(),
        ocucb.TopTwo(),
        ocucb.TopTwo(beta=0.3),
        ocucb.KLLUCB(),
        ocucb.Uniform(),
        ocucb.Greedy(),
        ocucb.EpsilonGreedy(0.2),
    ]

# They read the variance of rewards, and so need a known range; the tests of tests/policies/test_variance_policies.py,
# and those that pair policies with noises they suit, run over them.
VARIANCE_SAMPLES: list[ocucb.Policy] = [ocucb.UCBV(), ocucb.UCBV(zeta=2.0, c=1.5), ocucb.UCBTuned()]

NOISE_SAMPLES: list[ocucb.Noise] = [
    ocucb.Gaussian(),
    ocucb.Gaussian(0.25),
    ocucb.Bernoulli(),
    ocucb.Bounded(-1.0, 3.0),
    ocucb.Poisson(),
    ocucb.Exponential(),
    ocucb.GaussianUnknownScale(),
]

RANDOM = ("thompson-sampling", "uniform", "epsilon-greedy")


def in_reference(policy: ocucb.Policy) -> bool:
    """Return whether the naive reference knows the policy: it has no random numbers and no Gittins table."""
    return policy.name not in RANDOM and policy != ocucb.Gittins(HORIZON)


def suits(policy: ocucb.Policy, noise: ocucb.Noise) -> bool:
    """Return whether the policy makes sense under the noise."""
    if policy.rule().variance_bound is not None:
        return noise.family().width < math.inf
    return not (policy.rule().reads_divergence and noise.family().spreads)


def with_horizon(policy: ocucb.Policy, horizon: int) -> ocucb.Policy:
    """Return the policy made for another horizon, if it has one."""
    if getattr(policy, "horizon", None) is None:
        return policy
    return type(policy)(**{**dataclasses.asdict(policy), "horizon": horizon})
