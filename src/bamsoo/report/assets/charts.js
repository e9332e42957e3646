// Charts on canvas, sharp on any screen, and redrawn when the theme, the width or the state changes.

const ramps = {
  light: ["#c8e020", "#75d054", "#2fb47c", "#21918c", "#2c728e", "#3b528b", "#472d7b", "#440154"],
  dark: ["#443a83", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"],
};
let colours = {};
let ramp = [];

function refreshTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "soft", "faint", "line", "card", "accent", "bad", "warn", "cell"]) {
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
  const stops = ramps[style.getPropertyValue("--theme").trim()] || ramps.light;
  const rgb = stops.map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
  ramp = Array.from({ length: 64 }, (_, i) => {
    const at = (i / 63) * (rgb.length - 1);
    const stop = Math.min(Math.floor(at), rgb.length - 2);
    const mixed = rgb[stop].map((c, j) => Math.round(c + (at - stop) * (rgb[stop + 1][j] - c)));
    return `rgb(${mixed.join(",")})`;
  });
}

/** The colour of a goodness from 0 to 1; the best stands out most from the background. */
function colour(good) {
  return ramp[Math.round(Math.min(Math.max(good, 0), 1) * 63)];
}

/** A canvas in `host`; `draw(context, width, height)` is called whenever it has to be redrawn. */
function canvas(host, { id, height, label, draw }) {
  const element = make("canvas", { id, role: "img", "aria-label": label, tabindex: "0" });
  element.style.height = `${height}px`;
  host.append(element);
  const redraw = () => {
    const width = element.clientWidth;
    if (!width) return;
    const ratio = window.devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    const context = element.getContext("2d");
    context.scale(ratio, ratio);
    context.font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
    draw(context, width, height);
  };
  let known = 0;
  new ResizeObserver(() => {
    if (element.clientWidth !== known) {
      known = element.clientWidth;
      redraw();
    }
  }).observe(element);
  watch(redraw);
  element.redraw = redraw;
  return element;
}

/** The words of a text in lines of at most `room` pixels, if no word is wider. */
function wrapped(context, label, room) {
  const lines = [];
  for (const word of label.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length && context.measureText(longer).width <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** A chart whose `draw` returns its points, [[row, x, y], …]; it is redrawn when another trial is marked. */
function pointChart(host, { draw, ...more }, otherwise) {
  let placed = [];
  const chart = canvas(host, {
    ...more,
    draw(...context) {
      placed = draw(...context);
    },
  });
  chart.redraw.onFocus = true;
  hoverable(chart, () => placed, otherwise);
  return chart;
}

/** The text shortened to `room` pixels, in its middle, since names often differ at the end. */
function fitted(context, label, room) {
  const short = (kept) => (kept >= label.length ? label
    : `${label.slice(0, Math.ceil(kept / 2))}…${label.slice(label.length - Math.floor(kept / 2))}`);
  let kept = Math.min(label.length, 80);
  while (kept > 1 && context.measureText(short(kept)).width > room) kept -= 1;
  return short(kept);
}

/** An axis without ticks and name. */
const NO_AXIS = { name: "", ticks: () => ({ offset: "", marks: [] }) };

const SLANT = -0.55; // the angle of the names of options where there is no room for them side by side

function widest(context, marks) {
  return marks.reduce((most, { label }) => Math.max(most, context.measureText(label).width), 0);
}

function onAxis({ at }) {
  return at >= -1e-6 && at <= 1 + 1e-6;
}

/** Draw grid, ticks and names; returns the functions that map 0..1 to pixels. The margin on the left is
 * as wide as the labels need, and at least `left`. */
function frame(context, width, height, x, y, { left = 40, bottom = 40, top = 12, right = 14, grid = true } = {}) {
  const upright = y.ticks(Math.max(2, Math.floor((height - top - bottom) / 34)));
  const yTicks = roomy(upright.marks, height - top - bottom, 13).filter(onAxis);
  const fittedTo = y.options ? 0.3 * width : Infinity;
  const margin = Math.max(left, Math.min(widest(context, yTicks), fittedTo) + (y.name ? 28 : 12));
  const across = width - margin - right;
  const level = x.ticks(Math.max(2, Math.floor(across / 64)));
  let xTicks = level.marks.filter(onAxis);
  const room = across / Math.max(xTicks.length, 1) - 6;
  const slanted = x.options && widest(context, xTicks) > room;
  if (x.options) xTicks = roomy(xTicks, across, 14);
  else xTicks = roomy(xTicks, across, widest(context, xTicks) + 8);
  const longest = slanted ? Math.min(widest(context, xTicks), 104) : 0;
  const low = bottom + (slanted ? Math.ceil(longest * Math.sin(-SLANT)) : 0) + (level.offset ? 12 : 0);
  const box = { left: margin, top: top + (upright.offset ? 10 : 0), right: width - right, bottom: height - low };
  const px = (t) => box.left + t * (box.right - box.left);
  const py = (t) => box.bottom - t * (box.bottom - box.top);
  context.lineWidth = 1;
  context.strokeStyle = colours.line;
  context.fillStyle = colours.soft;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of yTicks) {
    const at = Math.round(py(tick.at)) + 0.5;
    if (grid) line(context, box.left, at, box.right, at);
    context.fillText(y.options ? fitted(context, tick.label, fittedTo) : tick.label, box.left - 7, at);
  }
  if (upright.offset) {
    context.textAlign = "left";
    context.fillText(upright.offset, y.name ? 18 : 2, box.top - 12);
  }
  context.textBaseline = "top";
  context.textAlign = slanted ? "right" : "center";
  for (const tick of xTicks) {
    const at = Math.round(px(tick.at)) + 0.5;
    if (grid && !x.options) line(context, at, box.top, at, box.bottom);
    context.save();
    context.translate(at + (slanted ? 4 : 0), box.bottom + 6);
    if (slanted) context.rotate(SLANT);
    // near the right edge a label moves inwards, so that none of its digits are lost
    const over = slanted ? 0 : Math.max(at + context.measureText(tick.label).width / 2 - width + 1, 0);
    const label = slanted ? fitted(context, tick.label, Math.min(longest, at / Math.cos(SLANT))) : tick.label;
    context.fillText(label, -over, 0);
    context.restore();
  }
  context.textAlign = "center";
  if (level.offset) context.fillText(level.offset, box.right - context.measureText(level.offset).width / 2, box.bottom + 19);
  context.fillStyle = colours.ink;
  if (x.name) {
    const name = fitted(context, x.name, box.right - box.left);
    context.fillText(name, (box.left + box.right) / 2, height - 15);
  }
  if (y.name) {
    context.save();
    context.translate(4, (box.top + box.bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(fitted(context, y.name, box.bottom - box.top), 0, 0);
    context.restore();
  }
  return { px, py, box };
}

/** Draw only inside the box, until `context.restore()`. */
function clip(context, box) {
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  context.clip();
}

/** Every n-th tick, with n so large that each has `least` pixels. */
function roomy(ticks, length, least) {
  const step = Math.max(1, Math.ceil((ticks.length * least) / Math.max(length, 1)));
  return ticks.filter((_, i) => i % step === 0);
}

function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

function circle(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
}

function dot(context, x, y, radius) {
  circle(context, x, y, radius);
  context.fill();
}

function cross(context, x, y, radius) {
  line(context, x - radius, y - radius, x + radius, y + radius);
  line(context, x - radius, y + radius, x + radius, y - radius);
}

function square(context, x, y, radius) {
  context.strokeRect(x - radius, y - radius, 2 * radius, 2 * radius);
}

function diamond(context, x, y, radius) {
  context.beginPath();
  context.moveTo(x, y - radius);
  context.lineTo(x + radius, y);
  context.lineTo(x, y + radius);
  context.lineTo(x - radius, y);
  context.closePath();
}

/** The ring around the best point. */
function ring(context, x, y) {
  context.lineWidth = 2;
  for (const [colour, radius] of [[colours.card, 7.5], [colours.warn, 6]]) {
    context.strokeStyle = colour;
    circle(context, x, y, radius);
    context.stroke();
  }
  context.lineWidth = 1;
}

// --- the tooltip of the trial under the pointer

const tip = document.getElementById("tip");

function showTip(title, pairs, x, y) {
  tip.replaceChildren(make("strong", {}, title));
  for (const [name, value] of pairs) {
    tip.append(make("div", {}, make("span", {}, name), make("span", {}, value)));
  }
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 16 + width > innerWidth ? x - width - 16 : x + 16;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 12, innerHeight - height - 4))}px`;
}

function hideTip() {
  tip.hidden = true;
}

function describeTrial(row) {
  const value = trials.value[row];
  const pairs = report.objectives.length
    ? report.objectives.map((each) => [each.name, each.value[row] === null ? STATES[trials.state[row]] : grouped(text(each.value[row], 8))])
    : [["value", value === null ? STATES[trials.state[row]] : grouped(text(value, 8))]];
  if (trials.state[row] === "s") {
    if (lastValue(row) !== null) pairs.push(["last value", `${text(lastValue(row), 6)} after step ${trials.steps[row]}`]);
    const known = report.believed?.[row];
    if (known) pairs.push(["believed", `${text(known[0], 4)} ± ${text(known[1], 2)}`]);
  }
  report.constraints.forEach((limited, i) => {
    const measured = trials.measured[i][row];
    if (measured !== null) pairs.push([limited.name, `${grouped(text(measured))}${excess(limited, measured) > 0 ? ", violated" : ""}`]);
  });
  parameters.forEach((p, i) => {
    if (trials.params[i][row] !== null) pairs.push([p.name, axes[i].show(trials.params[i][row])]);
  });
  report.extras.forEach((name, i) => {
    const extra = trials.extras[i][row];
    if (extra !== null) pairs.push([name, typeof extra === "number" ? text(extra) : String(extra)]);
  });
  if (pairs.length > 14) {
    const more = pairs.length - 13;
    pairs.splice(13, pairs.length, ["…", `${more} more`]);
  }
  const message = messageOf(row);
  if (message) pairs.push(["message", message.length > 160 ? `${message.slice(0, 160)}…` : message]);
  return pairs;
}

function sayTrial(row) {
  say(`${trialName(row)}: ${describeTrial(row).map((pair) => pair.join(" ")).join(", ")}`);
}

function focusTrial(row, x, y) {
  if (row === null) hideTip();
  else showTip(trialName(row), describeTrial(row), x, y);
  if (row === state.focus) return;
  state.focus = row;
  watchers.filter((redraw) => redraw.onFocus).forEach((redraw) => redraw());
}

/** Make the points of a chart, [[row, x, y], …], reachable by pointer and arrow keys.
 * Where the pointer is on no point, `otherwise(x, y, event)` is called. */
function hoverable(element, points, otherwise = () => {}) {
  const over = (event) => {
    const at = element.getBoundingClientRect();
    const [x, y] = [event.clientX - at.left, event.clientY - at.top];
    let found = null;
    let nearest = 12 * 12;
    for (const [row, px, py] of points()) {
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < nearest) [nearest, found] = [distance, row];
    }
    focusTrial(found, event.clientX, event.clientY);
    if (found === null) otherwise(x, y, event);
  };
  element.addEventListener("pointermove", over);
  element.addEventListener("pointerdown", over);
  element.addEventListener("pointerleave", () => focusTrial(null));
  element.addEventListener("blur", () => focusTrial(null));
  let place = -1;
  element.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const all = points();
    if (!step || !all.length) return;
    event.preventDefault();
    place = (Math.max(place, step < 0 ? 0 : -1) + step + all.length) % all.length;
    const [row, px, py] = all[place];
    const at = element.getBoundingClientRect();
    focusTrial(row, at.left + px, at.top + py);
    sayTrial(row);
  });
}

// --- what several charts draw: points, the one that is marked, and the legend

/** A value axis for `frame`. */
function yAxis(name = axisName(dim), scale = currentScale) {
  return { name, ticks: scale.ticks };
}

/** Draw rows as points, faintly if they are outside the selected ranges; returns their positions.
 * An infeasible value gets a mark of its own, because its colour would say that it is good. */
function drawPoints(context, shown, place) {
  const placed = [];
  context.strokeStyle = colours.warn;
  context.lineWidth = 1.3;
  const radius = shown.length > 1000 ? 2 : 3;
  for (const pass of [0, 1]) {
    for (const row of shown) {
      if (selected[row] !== pass) continue;
      const [x, y] = place(row);
      if (Number.isNaN(x)) continue; // the parameter does not exist for this trial
      context.globalAlpha = pass ? 0.9 : 0.25;
      context.fillStyle = pass ? colour(goodness(values[row])) : colours.faint;
      if (trials.state[row] === "i") square(context, x, y, radius);
      else dot(context, x, y, radius);
      placed.push([row, x, y]);
    }
  }
  context.globalAlpha = 1;
  context.lineWidth = 1;
  return placed;
}

/** Mark the trial under the pointer, or the chosen one; returns the points. */
function drawFocus(context, placed) {
  const found = placed.find(([row]) => row === (state.focus ?? state.pin));
  if (found) {
    context.strokeStyle = colours.ink;
    context.lineWidth = 2;
    circle(context, found[1], found[2], 6);
    context.stroke();
  }
  return placed;
}

/** A sideways shift that separates the points of one option; the same for a row each time. */
function spread(row) {
  return ((row * 0.618034) % 1 - 0.5) * 0.6;
}

/** A mark and its words for a legend, if there are trials in that state. */
function keyOf(letter, mark, words) {
  return count(letter) ? [[mark, words]] : [];
}

function infeasibleKey() {
  return keyOf("i", "square", "a value that violates a constraint");
}

/** The legend of a chart, from pairs [mark, words]. */
function legend(pairs) {
  return make("p", { class: "legend" }, ...pairs.map(([kind, words]) => make("span", { class: "key" },
    make("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), words)));
}
