"""To be written."""

from ocucb.paper.claim import Check

CHECKS: tuple[Check, ...] = ()
