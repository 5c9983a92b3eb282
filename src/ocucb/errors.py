"""Every exception and warning of ocucb, in one tree.

    OcucbError
    ├── ParameterError (ValueError)    a policy, noise family or bandit built with values out of range
    ├── ArmError (LookupError)         an unknown, retired or duplicate arm
    ├── RewardError (ValueError)       a reward that is not finite or outside the noise family's range
    ├── HorizonError (RuntimeError)    a policy made for n rounds was asked for round n + 1
    └── StateError (ValueError)        a saved bandit that is truncated, foreign, newer or inconsistent

    GuaranteeWarning (UserWarning)     legal parameters for which a theorem no longer holds

Each message says what was expected, what came, and what to do.
"""


class OcucbError(Exception):
    """Base of every error that ocucb raises on purpose."""


class ParameterError(OcucbError, ValueError):
    """A value given at construction is out of range."""


class ArmError(OcucbError, LookupError):
    """An arm is unknown, retired, or already there."""


class RewardError(OcucbError, ValueError):
    """A reward is not finite, or cannot come from the noise family."""


class HorizonError(OcucbError, RuntimeError):
    """A policy made for a known horizon was asked to play past it."""


class StateError(OcucbError, ValueError):
    """A saved bandit cannot be read."""


class GuaranteeWarning(UserWarning):
    """The parameters are legal, but a theorem that covers the policy does not cover them."""
