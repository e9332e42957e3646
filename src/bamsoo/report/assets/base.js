// What the rest stands on: the data, elements made without markup, and one state that all parts watch.

const report = JSON.parse(document.getElementById("data").textContent);
const { parameters, trials, sign, size } = report;
const rows = trials.state.length;
const dim = parameters.length;

/** Values over the largest of them: no sum or difference overflows. NaN: there is none. */
const values = Float64Array.from(trials.value, (v) => (v === null ? NaN : v / size));
const bestRow = report.best ? report.best.row : null;

const STATES = { d: "done", f: "failed", o: "out", g: "given" };

/** An element; strings are only ever text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in element && typeof value !== "string") element[key] = value;
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
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

/** A number to read: `digits` significant ones. */
function text(number, digits = 5) {
  if (number === null || number === undefined || Number.isNaN(number)) return "";
  if (number === 0) return "0";
  const shown = Number(number.toPrecision(digits));
  const magnitude = Math.abs(shown);
  if (magnitude >= 10 ** Math.max(digits, 5) || magnitude < 1e-3) {
    return shown.toExponential().replace("e+", "e");
  }
  return String(shown);
}

/** Digits that numbers between two ends have in common, and that tell them not apart. */
function commonDigits(low, high) {
  const apart = high / 2 - low / 2;
  if (!(apart > 0)) return 0;
  const digits = Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / 2 / apart));
  return Math.min(Math.max(digits, 0), 11);
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 120) return `${text(seconds, 3)} s`;
  if (seconds < 7200) return `${text(seconds / 60, 3)} min`;
  return `${text(seconds / 3600, 3)} h`;
}

function moment(time) {
  return new Date(time * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

function trialName(row) {
  const number = trials.number[row];
  return number === null ? "given point" : `trial ${number}`;
}

/** What is chosen anywhere on the page; `changed` draws all that depends on it, once a frame. */
const state = { scale: "linear", filters: new Map(), focus: null };
const watchers = [];
let due = false;

function watch(redraw) {
  watchers.push(redraw);
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

/** Rows inside every brushed range; a filter is [low, high] of an axis drawn from 0 to 1. */
const selected = new Uint8Array(rows).fill(1);
let selectedCount = rows;

function refilter() {
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

/** Of many rows those that are drawn: the best and an even spread of the rest, in order. */
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
