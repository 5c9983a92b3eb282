"""The index of OCUCB-n as the paper prints it, from pulls and means: the formula, and nothing that makes it fast."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ocucb.checks import above, within
from ocucb.compiled import Floats
from ocucb.errors import ParameterError


def confidence(pulls: npt.ArrayLike, t: npt.ArrayLike, rho: float = 0.5, *, shrink: bool = False) -> Floats:
    """Return one over the confidence level of each arm in round t.

    B_i(t-1) = max{ e, log t, t log t / Σ_j min{T_i, T_j^ρ T_i^{1-ρ}} },  T = T(t-1)   (below eq. (1))

    Parameters
    ----------
    pulls : T_j(t-1) > 0, the last axis over arms; further axes are further states.
    t : the round about to be played, one for each state.
    shrink : t in place of t log t, as the Discussion proposes; docs/theorem.md has its guarantee.

    >>> confidence([1, 3], t=5, rho=1.0).round(6).tolist()
    [4.023595, 2.718282]
    """
    taken = _pulls(pulls)
    rounds = np.asarray(t, dtype=np.float64)[..., np.newaxis]
    if not (np.isfinite(rounds) & (rounds >= 1.0)).all():
        raise ParameterError(f"t must be 1 or more, got {t!r}; rounds are numbered from 1")
    log = np.log(rounds)
    shared = rounds / shared_pulls(taken, rho)
    return np.asarray(np.maximum(np.maximum(np.e, log), shared if shrink else shared * log))


def index(
    means: npt.ArrayLike,
    pulls: npt.ArrayLike,
    t: npt.ArrayLike,
    eta: float = 1.1,
    rho: float = 0.5,
    *,
    shrink: bool = False,
) -> Floats:
    """Return the index of each arm in round t.

    γ_i(t) = mean_i + √( 2η log(B_i(t-1)) / T_i(t-1) )   (eq. (1))

    Means and pulls after t-1 rounds, shaped as for `confidence`; `shrink` as there.

    >>> index([0.5, 0.25], [1, 1], t=3, eta=2.0).round(6).tolist()
    [2.5, 2.25]
    """
    taken = _pulls(pulls)
    level = np.log(confidence(taken, t, rho, shrink=shrink))
    width = 2.0 * above("eta", eta, 0.0, "Theorem 1 needs more than 1") * level / taken
    return np.asarray(np.asarray(means, dtype=np.float64) + np.sqrt(width))


def shared_pulls(pulls: npt.ArrayLike, rho: float = 0.5) -> Floats:
    """Return the denominator of each arm's confidence.

    Σ_j min{T_i, T_j^ρ T_i^{1-ρ}}   (below eq. (1))

    With the arms in order of pulls, those up to i give T_i^{1-ρ} Σ T_j^ρ, and each later one gives T_i.

    >>> shared_pulls([1.0, 4.0, 9.0], rho=0.5).tolist()
    [3.0, 10.0, 18.0]
    """
    within("rho", rho, 0.0, 1.0, "rho=0.5 is the canonical choice")
    taken = _pulls(pulls)
    order = np.argsort(taken, axis=-1, kind="stable")
    ordered = np.take_along_axis(taken, order, axis=-1)
    later = np.arange(taken.shape[-1] - 1, -1, -1)
    sums = np.cumsum(ordered**rho, axis=-1) * ordered ** (1.0 - rho) + later * ordered
    result = np.empty_like(sums)
    np.put_along_axis(result, order, sums, axis=-1)
    return result


def _pulls(pulls: npt.ArrayLike) -> Floats:
    taken = np.asarray(pulls, dtype=np.float64)
    if taken.ndim == 0 or taken.shape[-1] == 0 or not (np.isfinite(taken) & (taken > 0.0)).all():
        raise ParameterError("pulls must be greater than 0 for every arm; an arm has no index before its first pull")
    return taken
