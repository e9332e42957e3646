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
  report = chosen ? { ...data, ...chosen, trials: { ...data.trials, value: chosen.value } } : data;
  ({ parameters, trials, sign, size } = report);
  rows = trials.state.length;
  dim = parameters.length;
  values = Float64Array.from(trials.value, (v) => (v === null ? NaN : v / size));
  bestRow = report.best ? report.best.row : null;
  loadScales();
  loadRows();
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

/** A number as text, with this many significant digits. */
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

/** The number of leading digits that all numbers between two ends have in common. */
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
