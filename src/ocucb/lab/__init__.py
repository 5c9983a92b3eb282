"""The lab: regret experiments with honest error bars."""
