// Axes: the position of a value, from 0 to 1, and the labels.

/** Round numbers between two ends. */
function niceTicks(low, high, about) {
  const span = high - low;
  if (!(span > 0 && span < Infinity)) return [low, high];
  const power = 10 ** Math.floor(Math.log10(span / about));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => span / s <= about) || 10 * power;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i <= Math.floor(high / step + 1e-9); i += 1) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

function logTicks(low, high, about) {
  const from = Math.ceil(Math.log10(low) - 1e-9);
  const to = Math.floor(Math.log10(high) + 1e-9);
  if (to - from < 1) return niceTicks(low, high, about).filter((tick) => tick > 0);
  const step = Math.ceil((to - from + 1) / about);
  const ticks = [];
  for (let e = from; e <= to; e += step) ticks.push(Number(`1e${e}`));
  return ticks;
}

/** A parameter's axis, scaled like the unit cube, so that cells, points and the model agree. */
function parameterAxis(index) {
  const p = parameters[index];
  if (p.kind === "Choice") {
    const count = p.options.length;
    return {
      name: p.name,
      count,
      nth: (i) => i,
      options: true,
      at: (i) => (i + 0.5) / count,
      value: (u) => Math.min(Math.floor(u * count), count - 1),
      show: (i) => p.options[i],
      ticks: () => p.options.map((option, i) => ({ at: (i + 0.5) / count, label: option })),
    };
  }
  const margin = p.step === null ? 0 : p.step / 2;
  const [low, high] = [p.low - margin, p.high + margin];
  const logged = p.log && high > low * (1 + 1e-8);
  const [start, end] = logged ? [Math.log(low), Math.log(high)] : [low / 2, high / 2];
  const inner = (v) => (logged ? Math.log(v) : v / 2);
  const middle = (v) => (inner(v - margin) + inner(v + margin)) / 2;
  const at = (v) => Math.min(Math.max((middle(v) - start) / (end - start), 0), 1);
  const value = (u) => {
    const x = start + u * (end - start);
    const v = logged ? Math.exp(x) : 2 * x;
    const nearest = p.step === null ? v : p.low + p.step * Math.round((v - p.low) / p.step);
    return Math.min(Math.max(nearest, p.low), p.high);
  };
  const common = commonDigits(p.low, p.high);
  const ticks = (about = 5) => {
    const all = logged ? logTicks(p.low, p.high, about) : niceTicks(p.low, p.high, about);
    const kept = p.kind === "Int" ? all.filter(Number.isInteger) : all;
    return kept.map((v) => ({ at: at(v), label: text(v, 5 + common) }));
  };
  return {
    name: p.name + (logged ? " (log)" : ""),
    count: p.step === null ? null : Math.round((p.high - p.low) / p.step) + 1,
    nth: (i) => p.low + i * p.step,
    options: false,
    at,
    value,
    show: (v) => text(v, 6 + common),
    ticks,
  };
}

let axes = [];
/** The position of each row on each axis; NaN if the parameter does not exist with the row’s options. */
let units = [];
let finite = [];
let smallest = Infinity;
let largest = -Infinity;
/** The best feasible measured value; under noise, it may not be the value of the best row. */
let bestTold = Infinity;
/** The scales on which the values can be drawn, as [value, name]. */
let scales = [];

function loadScales() {
  axes = parameters.map((_, i) => parameterAxis(i));
  units = axes.map((axis, i) => Float64Array.from(trials.params[i] || [], (v) => (v === null ? NaN : axis.at(v))));
  finite = Array.from(values).filter((v) => !Number.isNaN(v));
  smallest = finite.reduce((a, b) => Math.min(a, b), Infinity);
  largest = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  const allowed = Array.from(values).filter((v, row) => !Number.isNaN(v) && trials.state[row] !== "i");
  bestTold = sign * (allowed.length ? allowed : finite).reduce((a, v) => Math.min(a, sign * v), Infinity);
  scales = [["linear", "linear"]];
  if (smallest > 0 && largest > smallest) scales.push(["log", "log"]);
  if (largest > smallest) scales.push(["near", "stretched near the best"]);
  if (!used.has("scale")) state.scale = smallest > 0 && largest / smallest > 100 ? "log" : "linear";
  if (!scales.some(([value]) => value === state.scale)) state.scale = "linear";
  refreshScale();
}

/** Which parameters exist at a point of the unit cube. */
function existing(at) {
  const there = [];
  parameters.forEach(({ condition }, d) => {
    there[d] = !condition || (there[condition.axis] && condition.options.includes(axes[condition.axis].value(at[condition.axis])));
  });
  return there;
}

/** A row's point in the unit cube, with the middle for every axis that does not exist for it. */
function pointOf(row) {
  return axes.map((_, d) => (Number.isNaN(units[d][row]) ? parameters[d].middle : units[d][row]));
}

/** The axis of the values on the chosen scale, with a margin at both ends. */
function valueScale(low = smallest, high = largest) {
  const inner = innerScale(low, high);
  const shift = (tick) => ({ ...tick, at: MARGIN + (1 - 2 * MARGIN) * tick.at });
  return {
    at: (v) => MARGIN + (1 - 2 * MARGIN) * inner.at(v),
    value: (t) => inner.value((t - MARGIN) / (1 - 2 * MARGIN)),
    ticks: (about) => inner.ticks(about).map(shift).filter(({ at }) => at >= 0 && at <= 1),
  };
}

const MARGIN = 0.035;

/** Maps values, divided by `size`, to positions from 0 (the lowest) to 1 (the highest). */
function innerScale(low, high) {
  if (low > high) return flatScale(0);
  if (low === high) return flatScale(low);
  if (state.scale === "log") {
    const [a, b] = [Math.log(low), Math.log(high)];
    return {
      at: (v) => (v > 0 ? (Math.log(v) - a) / (b - a) : -1),
      value: (t) => Math.exp(a + t * (b - a)),
      ticks: (about = 5) => logTicks(low * size, high * size, about)
        .map((v) => ({ at: (Math.log(v / size) - a) / (b - a), label: text(v) })),
    };
  }
  if (state.scale === "near") return sign > 0 ? nearScale(low - bestTold, high - bestTold) : nearScale(bestTold - high, bestTold - low);
  const spread = high - low;
  return {
    at: (v) => (v - low) / spread,
    value: (t) => low + t * spread,
    ticks: (about = 5) => niceTicks(low * size, high * size, about)
      .map((v) => ({ at: (v / size - low) / spread, label: text(v, 5 + commonDigits(low, high)) })),
  };
}

function flatScale(level) {
  return {
    at: (v) => (v === level ? 0.5 : v > level ? 1 : 0),
    value: () => level,
    ticks: () => (rows && report.best ? [{ at: 0.5, label: text(level * size) }] : []),
  };
}

/** Linear near the best value, logarithmic far from it; labels are distances from the best.
 * `nearest` is negative where an infeasible value is better than the best feasible one. */
function nearScale(nearest, spread) {
  const distances = finite.map((v) => sign * (v - bestTold)).filter((d) => d > 0).sort((a, b) => a - b);
  const bend = Math.max(distances[Math.floor(distances.length / 20)] ?? 0, 1e-12 * (spread - nearest));
  const [begin, end] = [Math.asinh(nearest / bend), Math.asinh(spread / bend)];
  const outward = (t) => (sign > 0 ? t : 1 - t);
  const place = (d) => outward((Math.asinh(d / bend) - begin) / (end - begin));
  return {
    at: (v) => place(sign * (v - bestTold)),
    value: (t) => bestTold + sign * bend * Math.sinh(begin + outward(t) * (end - begin)),
    ticks: (about = 5) => {
      const from = Math.floor(Math.log10(bend * size));
      const to = Math.floor(Math.log10(spread * size));
      const step = Math.max(1, Math.ceil((to - from + 1) / about));
      const ticks = [{ at: place(0), label: "best" }];
      for (let e = to; e >= from; e -= step) {
        const d = Number(`1e${e}`);
        const at = place(d / size);
        if (Math.abs(at - place(0)) > 0.1) {
          ticks.push({ at, label: `${sign > 0 ? "+" : "-"}${text(d)}` });
        }
      }
      return ticks;
    },
  };
}

/** The scale of the value axis. */
let currentScale = null;

function refreshScale() {
  currentScale = valueScale();
}

/** The position of a row on an axis; axes 0 to dim - 1 are the parameters, axis dim is the value. */
function axisAt(axis, row) {
  return axis < dim ? units[axis][row] : currentScale.at(values[row]);
}

function axisName(axis) {
  return axis < dim ? parameters[axis].name : report.name ?? "value";
}

function axisShow(axis, at) {
  return axis < dim ? axes[axis].show(axes[axis].value(at)) : text(currentScale.value(at) * size);
}

/** How good a value is, from 0 (the worst) to 1 (the best feasible one). */
function goodness(value) {
  const [worst, best] = [currentScale.at(sign > 0 ? largest : smallest), currentScale.at(bestTold)];
  return worst === best ? 0.5 : Math.min(Math.max((worst - currentScale.at(value)) / (worst - best), 0), 1);
}
