"""ocucb: the anytime Optimally Confident UCB algorithm and its family.

>>> import ocucb
>>> bandit = ocucb.Bandit(ocucb.OCUCBn(), arms=["red", "green", "blue"])
>>> arm = bandit.choose()
>>> bandit.learn(arm, 0.7)
"""

from ocucb.bandit import Bandit, Explanation
from ocucb.compiled import kernel as level
from ocucb.errors import (
    ArmError,
    GuaranteeWarning,
    HorizonError,
    OcucbError,
    ParameterError,
    RewardError,
    StateError,
)
from ocucb.noise import Bernoulli, Bounded, Exponential, Gaussian, Noise, Poisson
from ocucb.policies import (
    IMED,
    KLUCB,
    MOSS,
    OCUCB,
    UCB,
    AdaUCB,
    BayesUCB,
    EpsilonGreedy,
    Gittins,
    Greedy,
    KLUCBHPlus,
    KLUCBPlus,
    KLUCBPlusPlus,
    KLUCBSwitch,
    LevelPolicy,
    OCUCBn,
    Policy,
    ThompsonSampling,
    Uniform,
)

__version__ = "0.1.0"

__all__ = [
    "IMED",
    "KLUCB",
    "MOSS",
    "OCUCB",
    "UCB",
    "AdaUCB",
    "ArmError",
    "Bandit",
    "BayesUCB",
    "Bernoulli",
    "Bounded",
    "EpsilonGreedy",
    "Explanation",
    "Exponential",
    "Gaussian",
    "Gittins",
    "Greedy",
    "GuaranteeWarning",
    "HorizonError",
    "KLUCBHPlus",
    "KLUCBPlus",
    "KLUCBPlusPlus",
    "KLUCBSwitch",
    "LevelPolicy",
    "Noise",
    "OCUCBn",
    "OcucbError",
    "ParameterError",
    "Poisson",
    "Policy",
    "RewardError",
    "StateError",
    "ThompsonSampling",
    "Uniform",
    "level",
]
