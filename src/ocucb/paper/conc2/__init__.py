"""How Lemma conc2 is executed; the checks themselves stand in `ocucb.paper.claims.confidence`.

Each O(.) becomes a number that is tried: 50 for (a), 90 for (b), 500 for the tail of α. Over a wide grid two bounds
with all constants decide: one from above for any 1-subgaussian noise, one from below for Gaussian noise. The one from
above is a sum over i, as the statement is, so d = 1 is the worst case and the only one on the grid. Between the bounds,
walks measure the truth, for other d too.
"""
