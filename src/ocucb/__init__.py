"""ocucb: the anytime Optimally Confident UCB algorithm and its family.

>>> import ocucb
>>> bandit = ocucb.Bandit(ocucb.OCUCBn(), arms=["red", "green", "blue"])
>>> arm = bandit.choose()
>>> bandit.learn(arm, 0.7)
"""

from ocucb.arm_statistics import ArmStatistics, Choice, Statistics
from ocucb.bandit import Bandit
from ocucb.compiled import kernel as level
from ocucb.confidence_sequences import Intervals
from ocucb.errors import (
    ArmError,
    GuaranteeWarning,
    HorizonError,
    OcucbError,
    ParameterError,
    RewardError,
    StateError,
)
from ocucb.memory import Discount, Restart, Window
from ocucb.noise import Bernoulli, Bounded, Exponential, Gaussian, GaussianUnknownScale, Noise, Poisson
from ocucb.policies import (
    IMED,
    KLLUCB,
    KLUCB,
    MOSS,
    OCUCB,
    UCB,
    UCBV,
    AdaUCB,
    BayesUCB,
    EpsilonGreedy,
    EpsilonThompson,
    ExpTS,
    ExpTSPlus,
    Gittins,
    Greedy,
    KLUCBHPlus,
    KLUCBPlus,
    KLUCBPlusPlus,
    KLUCBSwitch,
    LevelPolicy,
    MaillardSampling,
    MOSSAnytime,
    OCUCBn,
    Policy,
    ThompsonSampling,
    TopTwo,
    UCBTuned,
    Uniform,
)
from ocucb.registry import register
from ocucb.verdict import Verdict

__version__ = "0.1.0"

__all__ = [
    "IMED",
    "KLLUCB",
    "KLUCB",
    "MOSS",
    "OCUCB",
    "UCB",
    "UCBV",
    "AdaUCB",
    "ArmError",
    "ArmStatistics",
    "Bandit",
    "BayesUCB",
    "Bernoulli",
    "Bounded",
    "Choice",
    "Discount",
    "EpsilonGreedy",
    "EpsilonThompson",
    "ExpTS",
    "ExpTSPlus",
    "Exponential",
    "Gaussian",
    "GaussianUnknownScale",
    "Gittins",
    "Greedy",
    "GuaranteeWarning",
    "HorizonError",
    "Intervals",
    "KLUCBHPlus",
    "KLUCBPlus",
    "KLUCBPlusPlus",
    "KLUCBSwitch",
    "LevelPolicy",
    "MOSSAnytime",
    "MaillardSampling",
    "Noise",
    "OCUCBn",
    "OcucbError",
    "ParameterError",
    "Poisson",
    "Policy",
    "Restart",
    "RewardError",
    "StateError",
    "Statistics",
    "ThompsonSampling",
    "TopTwo",
    "UCBTuned",
    "Uniform",
    "Verdict",
    "Window",
    "level",
    "register",
]
