"""Policies: one file for each, named as in its paper, and a table of them all."""

from ocucb.policies.ada_ucb import AdaUCB
from ocucb.policies.bayes_ucb import BayesUCB
from ocucb.policies.custom import LevelPolicy
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
from ocucb.policies.policy import Policy, Rule, Trend
from ocucb.policies.table import POLICIES, from_dict
from ocucb.policies.thompson import ThompsonSampling
from ocucb.policies.ucb import UCB
from ocucb.policies.uniform import Uniform

__all__ = [
    "IMED",
    "KLUCB",
    "MOSS",
    "OCUCB",
    "POLICIES",
    "UCB",
    "AdaUCB",
    "BayesUCB",
    "EpsilonGreedy",
    "Gittins",
    "Greedy",
    "KLUCBHPlus",
    "KLUCBPlus",
    "KLUCBPlusPlus",
    "KLUCBSwitch",
    "LevelPolicy",
    "OCUCBn",
    "Policy",
    "Rule",
    "ThompsonSampling",
    "Trend",
    "Uniform",
    "from_dict",
]
