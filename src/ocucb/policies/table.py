"""The table of policies: every one of the package by its name, and those registered later."""

from __future__ import annotations

from ocucb.policies.ada_ucb import AdaUCB
from ocucb.policies.bayes_ucb import BayesUCB
from ocucb.policies.epsilon_greedy import EpsilonGreedy
from ocucb.policies.epsilon_thompson import EpsilonThompson
from ocucb.policies.exp_ts import ExpTS
from ocucb.policies.exp_ts_plus import ExpTSPlus
from ocucb.policies.gittins import Gittins
from ocucb.policies.greedy import Greedy
from ocucb.policies.imed import IMED
from ocucb.policies.kllucb import KLLUCB
from ocucb.policies.klucb import KLUCB
from ocucb.policies.klucb_h_plus import KLUCBHPlus
from ocucb.policies.klucb_plus import KLUCBPlus
from ocucb.policies.klucb_plus_plus import KLUCBPlusPlus
from ocucb.policies.klucb_switch import KLUCBSwitch
from ocucb.policies.maillard import MaillardSampling
from ocucb.policies.moss import MOSS
from ocucb.policies.moss_anytime import MOSSAnytime
from ocucb.policies.ocucb import OCUCB
from ocucb.policies.ocucb_n import OCUCBn
from ocucb.policies.policy import Policy
from ocucb.policies.thompson import ThompsonSampling
from ocucb.policies.top_two import TopTwo
from ocucb.policies.ucb import UCB
from ocucb.policies.ucb_tuned import UCBTuned
from ocucb.policies.ucb_v import UCBV
from ocucb.policies.uniform import Uniform
from ocucb.registry import Registry

POLICIES: Registry[Policy] = Registry("policy", "policy", Policy, ("formula", "source"))
for policy in (
    OCUCBn,
    OCUCB,
    AdaUCB,
    UCB,
    UCBV,
    UCBTuned,
    KLUCB,
    KLUCBPlus,
    KLUCBPlusPlus,
    KLUCBHPlus,
    KLUCBSwitch,
    MOSS,
    MOSSAnytime,
    BayesUCB,
    Gittins,
    ThompsonSampling,
    EpsilonThompson,
    ExpTS,
    ExpTSPlus,
    MaillardSampling,
    IMED,
    TopTwo,
    KLLUCB,
    Greedy,
    EpsilonGreedy,
    Uniform,
):
    POLICIES.register(policy)
