// The three policies. A level L makes an index: mean + sqrt(2 L / T), for rewards of standard deviation 1.
// t is the round to come, T the pulls of an arm before it, K the number of arms, n the horizon.

const POLICIES = {
  ocucb: {
    name: "OCUCB-n",
    note: "needs no horizon",
    level: (arm, pulls, t, { eta, rho }) => {
      const x = (t * Math.log(t)) / (pulls[arm] * effectiveArms(arm, pulls, rho));
      return eta * Math.log(Math.max(Math.E, Math.log(t), x));
    },
  },
  ucb: {
    name: "UCB",
    note: "needs no horizon",
    level: (arm, pulls, t) => Math.log(t),
  },
  moss: {
    name: "MOSS",
    note: "must know the horizon",
    level: (arm, pulls, t, { horizon }) => 2 * Math.max(0, Math.log(horizon / (pulls.length * pulls[arm]))),
  },
};

/** How many arms have been pulled about as often as this one, or more: from 1 to K. */
function effectiveArms(arm, pulls, rho) {
  return pulls.reduce((sum, other) => sum + Math.min(1, Math.pow(other / pulls[arm], rho)), 0);
}
