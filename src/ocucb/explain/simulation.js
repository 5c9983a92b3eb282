// A run: each policy on the same rewards. The s-th reward of an arm is its mean plus the s-th number of its own stream,
// whoever pulls it and when; so the run up to round t is a function of means and seed, and is played again when they change.

/** Uniform numbers in (0, 1) from a 32-bit seed. */
function uniformStream(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (((z ^ (z >>> 15)) >>> 0) + 0.5) / 4294967296;
  };
}

/** Standard normal numbers, read by their place: the s-th one is the same whenever it is asked for. */
class NormalTape {
  constructor(seed) {
    this.uniform = uniformStream(seed);
    this.numbers = [];
  }

  at(s) {
    while (this.numbers.length <= s) {
      const radius = Math.sqrt(-2 * Math.log(this.uniform()));
      const angle = 2 * Math.PI * this.uniform();
      this.numbers.push(radius * Math.cos(angle), radius * Math.sin(angle));
    }
    return this.numbers[s];
  }
}

/** One policy in the middle of its run. */
class Run {
  constructor(policy, means, tapes, settings) {
    Object.assign(this, { policy, means, tapes, settings });
    this.pulls = means.map(() => 0);
    this.sums = means.map(() => 0);
    this.best = Math.max(...means);
    this.choices = [];
    this.regret = [0];
  }

  get t() {
    return this.choices.length;
  }

  mean(arm) {
    return this.sums[arm] / this.pulls[arm];
  }

  /** The index for the round to come; infinite for an arm that was not pulled yet. */
  index(arm) {
    if (this.pulls[arm] === 0) return Infinity;
    const level = POLICIES[this.policy].level(arm, this.pulls, this.t + 1, this.settings);
    return this.mean(arm) + Math.sqrt((2 * level) / this.pulls[arm]);
  }

  /** The arm of the round to come: the largest index, and of equal ones the first. */
  next() {
    let chosen = 0;
    let largest = -Infinity;
    for (let arm = 0; arm < this.means.length; arm++) {
      const value = this.index(arm);
      if (value > largest) [chosen, largest] = [arm, value];
    }
    return chosen;
  }

  step() {
    const arm = this.next();
    this.sums[arm] += this.means[arm] + this.tapes[arm].at(this.pulls[arm]);
    this.pulls[arm] += 1;
    this.choices.push(arm);
    this.regret.push(this.regret[this.regret.length - 1] + this.best - this.means[arm]);
  }
}

/** All policies beside each other. */
class Race {
  constructor(means, settings) {
    this.means = means;
    this.settings = settings;
    const tapes = means.map((_, arm) => new NormalTape(Math.imul(settings.seed, 7919) + 104729 * arm));
    this.runs = Object.keys(POLICIES).map((policy) => new Run(policy, means, tapes, settings));
  }

  get t() {
    return this.runs[0].t;
  }

  get over() {
    return this.t >= this.settings.horizon;
  }

  advance(rounds) {
    for (let k = 0; k < rounds && !this.over; k++) this.runs.forEach((run) => run.step());
    return this;
  }
}
