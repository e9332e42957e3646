// The posterior of the model, computed in the page so that any two parameters can be shown.
// Points are in the unit cube; two different options of a choice have the distance 1.

const KERNELS = { // correlations, as functions of the squared distance in length-scales
  SquaredExponential: (r2) => Math.exp(-r2 / 2),
  Matern32: (r2) => {
    const a = Math.sqrt(3 * r2);
    return (1 + a) * Math.exp(-a);
  },
  Matern52: (r2) => {
    const a = Math.sqrt(5 * r2);
    return (1 + a + (5 / 3) * r2) * Math.exp(-a);
  },
  Matern72: (r2) => {
    const a = Math.sqrt(7 * r2);
    return (1 + a * (1 + a * (0.4 + a / 15))) * Math.exp(-a);
  },
};

/** From the GP's units back to a value divided by `size`, where larger values are better. */
const INVERSE = {
  Identity: (y) => y / size,
  Linear: (y, t) => (y * t.scale + t.shift) * (t.size / size),
  Centred: (y, t) => (t.scale === null ? y : Math.sinh(y * t.scale)) * t.unit, // a constraint, in its own units
  Bent: (y, t) => INVERSE.Linear(t.best - t.bend * Math.sinh(-(y * t.scale + t.shift)), t.linear),
};

class Posterior {
  constructor(model) {
    this.model = model;
    const { points, pending, y, lengths, mean, variance, noise, noises, jitter } = model;
    this.points = [...points, ...pending];
    this.existing = this.points.map(existing);
    const t = this.points.length;
    this.s = Math.sqrt(variance);
    this.inverse = lengths.map((length) => 1 / length);
    this.kernel = KERNELS[model.kernel];
    this.L = new Float64Array(t * t);
    this.z = new Float64Array(t); // 0 for a pending point
    for (let i = 0; i < t; i += 1) {
      const row = this.correlations(this.points[i], i);
      let pivot = 1 + (i < noises.length ? noises[i] : noise) / variance + jitter;
      let residual = i < y.length ? (y[i] - mean) / this.s : 0;
      for (let j = 0; j < i; j += 1) {
        const l = this.solved(row, j);
        pivot -= l * l;
        residual -= l * this.z[j];
      }
      const diagonal = Math.sqrt(Math.max(pivot, jitter));
      this.L[i * t + i] = diagonal;
      if (i < y.length) this.z[i] = residual / diagonal;
      for (let j = 0; j < i; j += 1) this.L[i * t + j] = row[j];
    }
  }

  /** The correlations of a point with the first `count` points of the model. */
  correlations(x, count) {
    const found = new Float64Array(count);
    const there = existing(x);
    for (let i = 0; i < count; i += 1) {
      let r2 = 0;
      for (let d = 0; d < dim; d += 1) {
        const apart = this.apart(d, x[d], this.points[i][d], there[d], this.existing[i][d]) * this.inverse[d];
        r2 += apart * apart;
      }
      found[i] = this.kernel(r2);
    }
    return found;
  }

  /** The distance of two points along an axis. An axis that exists only with some options is bent to
   * a semicircle of its own length; points for which it does not exist are at the circle's centre. */
  apart(d, u, v, hasU, hasV) {
    const { options } = axes[d];
    if (!hasU || !hasV) return hasU === hasV ? 0 : options ? 1 : 1 / Math.PI;
    if (options) return axes[d].value(u) === axes[d].value(v) ? 0 : 1;
    return parameters[d].condition ? (2 / Math.PI) * Math.sin((u - v) * (Math.PI / 2)) : u - v;
  }

  /** Element j of L^-1 row, stored in `row`, which already has the elements before j. */
  solved(row, j) {
    const t = this.z.length;
    let sum = row[j];
    for (let m = 0, at = j * t; m < j; m += 1, at += 1) sum -= this.L[at] * row[m];
    row[j] = sum / this.L[j * t + j];
    return row[j];
  }

  /** Mean and deviation at a point of the unit cube, in the GP's units. */
  at(x) {
    const t = this.z.length;
    const row = this.correlations(x, t);
    let mean = 0;
    let rest = 1;
    for (let j = 0; j < t; j += 1) {
      const v = this.solved(row, j);
      mean += v * this.z[j];
      rest -= v * v;
    }
    return [this.model.mean + this.s * mean, this.s * Math.sqrt(Math.max(rest, 0))];
  }

  /** Only the mean, which needs no triangular solve. */
  mean(x) {
    const t = this.z.length;
    if (!this.alpha) { // L' alpha = z
      this.alpha = Float64Array.from(this.z);
      for (let i = t - 1; i >= 0; i -= 1) {
        this.alpha[i] /= this.L[i * t + i];
        for (let j = 0; j < i; j += 1) this.alpha[j] -= this.L[i * t + j] * this.alpha[i];
      }
    }
    const row = this.correlations(x, t);
    return this.model.mean + this.s * row.reduce((sum, k, i) => sum + k * this.alpha[i], 0);
  }

  /** Convert from the GP's units to a value divided by `size`. */
  value(y) {
    const { transform } = this.model;
    return -sign * INVERSE[transform.kind](y, transform);
  }

  /** The low end, the median and the high end of a band of `width` deviations to each side. */
  band(x, width) {
    const [mu, sigma] = this.at(x);
    const ends = [this.value(mu - width * sigma), this.value(mu + width * sigma)];
    return [Math.min(...ends), this.value(mu), Math.max(...ends)];
  }
}

let fittedPosterior = null;
let fittedLimits = { of: null, models: [] };

/** The models of the measured constraints, each with its name. */
function limitPosteriors() {
  if (fittedLimits.of !== report.limits) { // a live page gets new ones
    fittedLimits = { of: report.limits, models: report.limits.map((model) => [model.name, new Posterior(model)]) };
  }
  return fittedLimits.models;
}

function posterior() {
  if (report.model.reason) return null;
  if (fittedPosterior === null || fittedPosterior.model !== report.model) {
    fittedPosterior = new Posterior(report.model);
  }
  return fittedPosterior;
}
