// The posterior of the model, computed here so that it can be looked at along any two parameters.
// Points are in the unit cube; two different options of a choice are 1 apart.

class Posterior {
  constructor(model) {
    this.model = model;
    const { points, y, lengths, mean, variance, nugget } = model;
    const t = points.length;
    this.s = Math.sqrt(variance);
    this.inverse = lengths.map((length) => 1 / length);
    this.L = new Float64Array(t * t);
    this.z = new Float64Array(t);
    for (let i = 0; i < t; i += 1) {
      const row = this.correlations(points[i], i);
      let pivot = 1 + nugget + 1e-12;
      let residual = (y[i] - mean) / this.s;
      for (let j = 0; j < i; j += 1) {
        const l = this.solved(row, j);
        pivot -= l * l;
        residual -= l * this.z[j];
      }
      const diagonal = Math.sqrt(Math.max(pivot, 1e-12));
      this.L[i * t + i] = diagonal;
      this.z[i] = residual / diagonal;
      for (let j = 0; j < i; j += 1) this.L[i * t + j] = row[j];
    }
  }

  /** Matérn 5/2 between a point and the first `count` of the model's, over the variance. */
  correlations(x, count) {
    const { points } = this.model;
    const found = new Float64Array(count);
    for (let i = 0; i < count; i += 1) {
      let r2 = 0;
      for (let d = 0; d < dim; d += 1) {
        const apart = this.apart(d, x[d], points[i][d]) * this.inverse[d];
        r2 += apart * apart;
      }
      const a = Math.sqrt(5 * r2);
      found[i] = (1 + a + (5 / 3) * r2) * Math.exp(-a);
    }
    return found;
  }

  apart(d, u, v) {
    if (!axes[d].options) return u - v;
    return axes[d].value(u) === axes[d].value(v) ? 0 : 1;
  }

  /** Element j of L^-1 row; those before j are in `row` already, and j joins them. */
  solved(row, j) {
    const t = this.z.length;
    let sum = row[j];
    for (let m = 0, at = j * t; m < j; m += 1, at += 1) sum -= this.L[at] * row[m];
    row[j] = sum / this.L[j * t + j];
    return row[j];
  }

  /** Mean and deviation at a point of the unit cube, as the GP sees values. */
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

  /** The mean alone, which needs no solve. */
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

  /** What the GP sees, back as a value over `size`. */
  value(y) {
    const { bend, shift, scale } = this.model.warp;
    const inner = y * scale + shift;
    return bestValue + sign * (bend === null ? inner : bend * Math.sinh(inner));
  }

  /** Median and the ends of the band `width` deviations wide, low first, as values over `size`. */
  band(x, width) {
    const [mu, sigma] = this.at(x);
    const ends = [this.value(mu - width * sigma), this.value(mu + width * sigma)];
    return [Math.min(...ends), this.value(mu), Math.max(...ends)];
  }
}

let fittedPosterior = null;

function posterior() {
  if (fittedPosterior === null && !report.model.reason) fittedPosterior = new Posterior(report.model);
  return fittedPosterior;
}
