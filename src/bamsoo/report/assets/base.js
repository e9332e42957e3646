// The basis of the other scripts: the data, functions that make elements, and the state that all parts share.

/** All data; `report` is the same, seen from the chosen objective. */
let everything = null;
let report = null;
let parameters = [];
let trials = null;
let sign = 1;
let size = 1;
let rows = 0;
let dim = 0;
/** Values divided by the largest of them, so that no sum or difference overflows; NaN without a value. */
let values = new Float64Array(0);
let bestRow = null;

/** Take the data that the page shows; a live page calls this for each update. */
function load(data) {
  if (!data.objectives?.[state.objective]) state.objective = 0;
  const chosen = data.objectives?.[state.objective];
  everything = data;
  report = chosen ? { ...data, ...chosen, trials: { ...data.trials, value: chosen.value, curves: chosen.curves } } : data;
  ({ parameters, trials, sign, size } = report);
  rows = trials.state.length;
  dim = parameters.length;
  values = Float64Array.from(trials.value, (v) => (v === null ? NaN : v / size));
  bestRow = report.best ? report.best.row : null;
  loadScales();
  loadRows();
}

const MOST_POINTS = 3000;
let allRows = [];
let withValue = [];
let withoutValue = [];
let drawnPoints = [];

function loadRows() {
  allRows = Array.from({ length: rows }, (_, row) => row);
  withValue = allRows.filter((row) => !Number.isNaN(values[row]));
  withoutValue = allRows.filter((row) => Number.isNaN(values[row]));
  drawnPoints = thinned(withValue, MOST_POINTS);
}

/** By how much a measured number misses its limits; 0 if it meets them. */
function excess(limited, measured) {
  return Math.max(limited.high === null ? 0 : measured - limited.high, limited.low === null ? 0 : limited.low - measured, 0);
}

/** The row that slices go through: the best, or if none is feasible the one that violates least. */
function centreRow() {
  if (bestRow !== null) return bestRow;
  const missed = (column, i, row) => (column[row] === null ? Infinity : excess(report.constraints[i], column[row]));
  const violation = (row) => trials.measured.reduce((sum, column, i) => sum + missed(column, i, row), 0);
  return withValue.reduce((least, row) => (violation(row) < violation(least) ? row : least), withValue[0]);
}

function count(letter) {
  return trials.state.split(letter).length - 1;
}

const STATES = { d: "done", f: "failed", o: "pending", g: "given", i: "infeasible", s: "stopped", c: "cheap" };

/** Make an element; strings are always inserted as text, never as markup. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in element && typeof value !== "string") element[key] = value;
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** A table with a name for each column; `lines` are its rows. A name may be given with a class. */
function table(attributes, names, lines, caption = "") {
  const heads = names.map((name) => [name].flat()).map(([name, kind = ""]) => make("th", { scope: "col", class: kind }, name));
  return make("table", attributes, ...(caption ? [make("caption", { class: "hidden" }, caption)] : []),
    make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...lines));
}

/** A row of a table: its name, and its cells. */
function tableRow(name, ...cells) {
  return make("tr", {}, make("th", { scope: "row" }, name), ...cells);
}

function numberCell(shown) {
  return make("td", { class: "number" }, shown);
}

/** A text that can be unfolded if it is longer than this many characters. */
function folded(words, most) {
  return words.length > most ? make("details", {}, make("summary", {}, `${words.slice(0, most)}…`), make("pre", {}, words)) : words;
}

/** A wide table or chart, which may be moved sideways. */
function scrolling(element) {
  return make("div", { class: "scroll" }, element);
}

function body(section) {
  return document.querySelector(`#${section} .body`);
}

function note(text) {
  return make("p", { class: "note" }, text);
}

function labelled(text, control) {
  return make("label", {}, `${text} `, control);
}

function select(id, options, chosen) {
  const element = make("select", { id });
  options.forEach(([value, text]) => element.append(make("option", { value: String(value) }, text)));
  element.value = String(chosen);
  return element;
}

function trialName(row) {
  const number = trials.number[row];
  return number === null ? "given point" : `trial ${number}`;
}

/** A parameter of a trial as text; empty if it does not exist with the trial’s options. */
function shownParameter(i, row) {
  const value = trials.params[i][row];
  return value === null ? "" : axes[i].show(value);
}

/** What is believed about the values of stopped trials, as rows with a mean and a deviation. */
function beliefs() {
  return Object.entries(report.believed ?? {}).map(([row, [mean, deviation]]) => [Number(row), mean / size, deviation / size]);
}

/** The value after the last step that a trial has reported, of objective i; null if there is none. */
function lastValue(row, i = null) {
  const { curves } = i === null ? trials : report.objectives[i];
  return curves[row]?.at(-1) ?? null;
}

/** Why a trial failed; empty if that is not known. */
function messageOf(row) {
  return row in trials.message ? report.messages[trials.message[row]] : "";
}

/** What is chosen anywhere on the page; `changed` redraws everything that depends on it, once per frame. */
const state = { scale: "linear", filters: new Map(), focus: null, pin: null, objective: 0 };
let watchers = [];
let due = false;

function watch(redraw) {
  redraw.section = building;
  watchers.push(redraw);
}

/** The section that is being built; its watchers are removed when it is built again. */
let building = null;
/** Controls that have been used, by id, with the event that they respond to. */
const used = new Map();

/** Fill a section of the page, again if need be, and restore its controls as they were left. */
function build(section, fill) {
  building = section;
  watchers = watchers.filter((redraw) => redraw.section !== section);
  const focused = body(section).contains(document.activeElement) ? document.activeElement.id : "";
  body(section).replaceChildren();
  try {
    fill();
    for (const [id, event] of used) {
      const control = body(section).querySelector(`#${id}`);
      if (control) restore(control, event);
    }
  } catch (error) {
    body(section).append(note(`This part could not be drawn: ${error}`));
    console.error(error);
  }
  building = null;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function restore(control, { type, value, checked }) {
  control.value = value;
  if (checked !== undefined) control.checked = checked;
  control.dispatchEvent(new Event(type));
}

function changed() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    refilter();
    watchers.forEach((redraw) => redraw());
  });
}

/** Rows inside all selected ranges; a filter is the range [low, high] of an axis from 0 to 1. */
let selected = new Uint8Array(0);
let selectedCount = 0;

function refilter() {
  if (selected.length !== rows) selected = new Uint8Array(rows);
  selectedCount = 0;
  for (let row = 0; row < rows; row += 1) {
    let inside = 1;
    for (const [axis, [low, high]] of state.filters) {
      const at = axisAt(axis, row);
      if (!(at >= low && at <= high)) inside = 0;
    }
    selected[row] = inside;
    selectedCount += inside;
  }
}

/** At most `most` of the rows, in order: half of them are the best, the others are spread evenly. */
function thinned(all, most) {
  if (all.length <= most) return all;
  const ranked = [...all].sort((a, b) => compareValues(a, b));
  const half = Math.floor(most / 2);
  const kept = new Set(ranked.slice(0, half));
  const step = (all.length - 1) / (most - half - 1);
  for (let i = 0; i < most - half; i += 1) kept.add(all[Math.round(i * step)]);
  return all.filter((row) => kept.has(row));
}

function compareValues(a, b) {
  const [x, y] = [sign * values[a], sign * values[b]];
  if (Number.isNaN(x)) return Number.isNaN(y) ? 0 : 1;
  return Number.isNaN(y) ? -1 : x - y;
}

function say(message) {
  document.getElementById("said").textContent = message;
}

// Axes: the position of a value, from 0 to 1, and the labels.

/** A parameter's axis, scaled like the unit cube, so that cells, points and the model agree. */
function parameterAxis(index) {
  const p = parameters[index];
  if (p.options) {
    const count = p.options.length;
    return {
      name: p.name,
      count,
      nth: (i) => i,
      options: true,
      ordered: p.ordered,
      at: (i) => (i + 0.5) / count,
      value: (u) => Math.min(Math.floor(u * count), count - 1),
      show: (i) => p.options[i],
      ticks: () => ({ offset: "", marks: p.options.map((option, i) => ({ at: (i + 0.5) / count, label: option })) }),
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
    const all = (logged ? logTicks : p.whole ? wholeTicks : niceTicks)(p.low, p.high, about);
    return ticksAt(p.whole ? all.filter(Number.isInteger) : all, at);
  };
  return {
    name: p.name + (logged ? " (log)" : ""),
    count: p.step === null ? null : Math.round((p.high - p.low) / p.step) + 1,
    nth: (i) => p.low + i * p.step,
    options: false,
    ordered: true,
    at,
    value,
    show: (v) => text(v, 6 + common),
    ticks,
  };
}

/** How the numbers of a parameter are spaced, if not evenly and without gaps. */
function grainOf({ whole, log, step }) {
  return `${log ? ", log" : ""}${step && !(whole && step === 1) ? `, in steps of ${step}` : ""}`;
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
  finite = [...values, ...beliefs().map(([, mean]) => mean)].filter((v) => !Number.isNaN(v));
  smallest = finite.reduce((a, b) => Math.min(a, b), Infinity);
  largest = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  const allowed = Array.from(values).filter((v, row) => !Number.isNaN(v) && trials.state[row] !== "i");
  bestTold = sign * (allowed.length ? allowed : finite).reduce((a, v) => Math.min(a, sign * v), Infinity);
  scales = [["linear", "linear"]];
  if (smallest > 0 && largest > smallest) scales.push(["log", "log"]);
  if (largest > smallest) scales.push(["near", "stretched near the best"]);
  if (!used.has("scale")) state.scale = spansDecades(smallest, largest) ? "log" : "linear";
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

/** The parameters that exist with the options of a row, and those of other options, by index. */
function ownAndOther(row = centreRow()) {
  const there = (i) => row === undefined || !Number.isNaN(units[i][row]);
  const all = [...axes.keys()];
  return [all.filter(there), all.filter((i) => !there(i))];
}

/** Where parameters of other options are shown, folded away; null if there are none. */
function otherOptions(others, ...content) {
  const names = others.map((i) => parameters[i].name).join(", ");
  return others.length ? make("details", { class: "others" }, make("summary", {}, `Parameters of other options: ${names}`), ...content) : "";
}

/** Positions along an axis at which to compute: all values of a short discrete axis, else evenly spaced. */
function gridOf(axis, most) {
  if (axis.count !== null && axis.count <= most) {
    return Array.from({ length: axis.count }, (_, i) => axis.at(axis.nth(i)));
  }
  return Array.from({ length: most }, (_, i) => {
    const u = i / (most - 1);
    return axis.count === null ? u : axis.at(axis.value(u));
  });
}

/** The axis of the values on the chosen scale, with a margin at both ends. */
function valueScale(low = smallest, high = largest) {
  const inner = innerScale(low, high);
  const shift = ({ offset, marks }) => ({ offset, marks: marks.map((tick) => ({ ...tick, at: MARGIN + (1 - 2 * MARGIN) * tick.at })).filter(({ at }) => at >= 0 && at <= 1) });
  return {
    at: (v) => MARGIN + (1 - 2 * MARGIN) * inner.at(v),
    value: (t) => inner.value((t - MARGIN) / (1 - 2 * MARGIN)),
    ticks: (about) => shift(inner.ticks(about)),
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
      ticks: (about = 5) => ticksAt(logTicks(low * size, high * size, about), (v) => (Math.log(v / size) - a) / (b - a)),
    };
  }
  if (state.scale === "near") return sign > 0 ? nearScale(low - bestTold, high - bestTold) : nearScale(bestTold - high, bestTold - low);
  return evenScale(low, high);
}

/** The same on a linear scale. */
function evenScale(low, high) {
  if (!(low < high)) return flatScale(low);
  const spread = high - low;
  return {
    at: (v) => (v - low) / spread,
    value: (t) => low + t * spread,
    ticks: (about = 5) => ticksAt(niceTicks(low * size, high * size, about), (v) => (v / size - low) / spread),
  };
}

function flatScale(level) {
  return {
    at: (v) => (v === level ? 0.5 : v > level ? 1 : 0),
    value: () => level,
    ticks: () => ({ offset: "", marks: rows && report.best ? [{ at: 0.5, label: grouped(text(level * size, 8)) }] : [] }),
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
      return { offset: "", marks: ticks };
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
  Shifted: (y, t) => INVERSE[t.of.kind](y, t.of) + t.origin, // a measured number, in its own units
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
    const { ordered } = axes[d];
    if (!hasU || !hasV) return hasU === hasV ? 0 : ordered ? 1 / Math.PI : 1;
    if (!ordered) return axes[d].value(u) === axes[d].value(v) ? 0 : 1;
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

/** The model of a measured number, in the number’s own units. */
class NumberPosterior extends Posterior {
  value(y) {
    const { transform } = this.model;
    return INVERSE[transform.kind](y, transform);
  }
}

let fittedNumbers = { of: null, models: new Map() };

/** The models of the measured numbers by name; each is computed when it is first shown. */
function numberPosterior(name) {
  if (fittedNumbers.of !== report.numbers) fittedNumbers = { of: report.numbers, models: new Map() };
  if (!fittedNumbers.models.has(name)) {
    fittedNumbers.models.set(name, new NumberPosterior(report.numbers.find((each) => each.name === name)));
  }
  return fittedNumbers.models.get(name);
}

/** The measured numbers of a name, by row. */
function numberColumn(name) {
  const constraint = report.constraints.findIndex((each) => each.name === name);
  return constraint >= 0 ? trials.measured[constraint] : trials.extras[report.extras.indexOf(name)];
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
