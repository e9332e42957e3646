// The best point, convergence, each parameter against the value, and which parameters matter.

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

/** The row that slices go through: the best, or if none is feasible the one that violates least. */
function centreRow() {
  if (bestRow !== null) return bestRow;
  const violation = (row) => trials.measured.reduce((sum, column) => sum + (column[row] === null ? Infinity : Math.max(column[row], 0)), 0);
  return withValue.reduce((least, row) => (violation(row) < violation(least) ? row : least), withValue[0]);
}

function count(letter) {
  return trials.state.split(letter).length - 1;
}

function tile(name, value, detail = "") {
  return make("div", { class: "tile" }, make("span", { class: "tile-name" }, name),
    make("span", { class: "tile-value" }, value), make("span", { class: "tile-detail" }, detail));
}

function buildHeader() {
  document.getElementById("title").textContent = report.title;
  const algorithm = report.settings[0][1].find(([name]) => name === "algorithm")[1];
  const parts = [`${report.direction} with ${algorithm}`, `${dim} parameter${dim === 1 ? "" : "s"}`];
  if (report.created) parts.push(`started ${moment(report.created)}`);
  if (!report.live) parts.push(`as of ${moment(report.made)}`);
  document.getElementById("subtitle").textContent = parts.join(" · ");
  const nav = document.getElementById("nav");
  for (const section of document.querySelectorAll("main section")) {
    const short = { parameters: "Parameters", importance: "Importance", slices: "Model",
      partition: "Partition", parallel: "Parallel", settings: "Settings", best: "Best", curves: "Steps" }[section.id];
    nav.append(make("a", { href: `#${section.id}` }, short || section.querySelector("h2").textContent));
  }
}

function buildBest() {
  const host = body("best");
  const evaluated = count("d") + count("i") + count("s") + count("c") + trials.number.filter((n, i) => n !== null && trials.state[i] === "f").length;
  const tiles = make("div", { class: "tiles" });
  const took = trials.took.filter((s) => s !== null).sort((a, b) => a - b);
  if (report.best) {
    const told = report.best.told === report.best.value ? "" : `; measured value ${text(trials.value[bestRow], 8)}`;
    tiles.append(tile(report.objectives.length ? `best ${report.name}` : "best value", text(Number(report.best.value), 8), `${trialName(bestRow)}, exactly ${report.best.value}${told}`));
  } else tiles.append(tile("best value", "none", !rows ? "nothing has been evaluated yet" : count("i") ? "no feasible point has been found yet" : "no evaluation has returned a value yet"));
  tiles.append(tile("evaluations", evaluated.toLocaleString("en"),
    report.budget ? report.cost === null ? `of a budget of ${report.budget.toLocaleString("en")}` : `cost ${text(report.cost, 4)} of ${report.budget.toLocaleString("en")} full evaluations` : ""));
  if (report.objectives.length) tiles.append(tile("on the front", report.front.length.toLocaleString("en"), "no other evaluation is better in everything"));
  const given = count("g");
  const out = count("o");
  tiles.append(tile("failed", count("f").toLocaleString("en"), out ? `and ${out} pending` : ""));
  if (count("s")) tiles.append(tile("stopped", count("s").toLocaleString("en"), "ended early because they could not win"));
  if (count("c")) tiles.append(tile("cheap", count("c").toLocaleString("en"), "evaluated below the top of the fidelity"));
  if (count("i")) tiles.append(tile("infeasible", count("i").toLocaleString("en"), "gave a value but violated a constraint"));
  if (given) tiles.append(tile("given", given.toLocaleString("en"), "evaluated elsewhere"));
  const seen = report.seen < rows ? ` after ${report.seen.toLocaleString("en")} trials` : "";
  if (report.gap === "unknown") tiles.append(tile("left to gain", "unknown", `the model has no useful bound${seen}`));
  else if (report.gap !== null) tiles.append(tile("left to gain", text(report.gap, 3), `at most, by the model’s bound${seen}`));
  if (report.partition.rejected) {
    tiles.append(tile("rejected", report.partition.rejected.toLocaleString("en"), "cells skipped because of the model’s bounds"));
  }
  if (took.length) {
    tiles.append(tile("time per evaluation", duration(took[Math.floor(took.length / 2)]),
      `median; longest ${duration(took[took.length - 1])}`));
  }
  host.append(tiles);
  if (report.notes.best) host.append(note(report.notes.best));
  if (!report.best) return;
  const table = make("table", { class: "best" });
  table.append(make("thead", {}, make("tr", {}, ...["parameter", "value", "position in its range", report.ranges ? `stays within ${text(report.ranges.within, 2)} of the best` : ""]
    .map((name) => make("th", { scope: "col" }, name)))));
  const rowsOf = make("tbody");
  parameters.forEach((p, i) => {
    if (report.best.params[i] === null) {
      rowsOf.append(make("tr", {}, make("th", { scope: "row" }, p.name), make("td", { class: "number" }, "–"),
        make("td", {}, make("span", { class: "range-text" }, `only with ${p.when}`)), make("td")));
      return;
    }
    const close = report.ranges ? report.ranges.of[i] : null;
    const track = make("span", { class: "track" }, ...closeBars(i, close));
    const knob = make("span", { class: "knob" });
    knob.style.left = `${100 * units[i][bestRow]}%`;
    const range = p.kind === "Choice" ? `one of ${p.options.length}` : `${text(p.low)} to ${text(p.high)}${p.log ? ", log" : ""}${p.step && !(p.kind === "Int" && p.step === 1) ? `, in steps of ${p.step}` : ""}`;
    rowsOf.append(make("tr", {}, make("th", { scope: "row" }, p.name),
      make("td", { class: "number" }, report.best.params[i]),
      make("td", {}, make("div", { class: "range" }, track,
        make("span", { class: "range-text" }, range))), make("td", { class: "close-text" }, closeText(i, close))));
    track.append(knob);
  });
  report.constraints.forEach((name, i) => {
    const measured = trials.measured[i][bestRow];
    rowsOf.append(make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "number" }, measured === null ? "–" : text(measured, 8)),
      make("td", {}, make("span", { class: "range-text" }, "constraint, at most 0")), make("td")));
  });
  table.append(rowsOf);
  host.append(make("div", { class: "scroll" }, table));
  if (report.ranges) host.append(note("The bars show where the model expects the value to stay that close to the best if the other parameters keep their best values; the percentage is the probability, on average over the bar, that it does."));
  const origins = spentOn();
  if (origins) host.append(note(`Evaluations: ${origins}.`));
}

/** The bars of a parameter’s track in which the value stays close to the best. */
function closeBars(i, close) {
  if (!close) return [];
  const { count: all, options, at } = axes[i];
  const half = all === null ? 0 : 0.5 / all;
  const parts = options ? close[0].map((option) => [at(option) - half, at(option) + half]) : [[at(close[0]) - half, at(close[1]) + half]];
  return parts.map(([from, to]) => {
    const bar = make("span", { class: "close" });
    bar.style.left = `${100 * Math.max(from, 0)}%`;
    bar.style.width = `${100 * (Math.min(to, 1) - Math.max(from, 0))}%`;
    return bar;
  });
}

function closeText(i, close) {
  if (!close) return "";
  const sure = `${Math.round(100 * close[close.length - 1])} %`;
  if (axes[i].options) return `${close[0].map((option) => parameters[i].options[option]).join(", ")} (${sure})`;
  const [low, high] = [text(close[0], 4), text(close[1], 4)];
  return `${low === high ? low : `${low} to ${high}`} (${sure})`;
}

/** What the search spent its evaluations on, in words; empty if that is not known. */
function spentOn() {
  const counts = new Map();
  trials.origin.forEach((origin, row) => {
    if (origin && trials.number[row] !== null) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  });
  return [...counts].sort((a, b) => b[1] - a[1]).map(([origin, number]) => `${number.toLocaleString("en")} ${ORIGINS[origin] ?? origin}`).join(", ");
}

/** Which part of a search asks for a point, in words. */
const ORIGINS = { tree: "from the tree", local: "local steps", candidate: "candidates", design: "of the first design", given: "given by you", model: "from the model", random: "at random", repeat: "repeated" };

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

function drawFocus(context, placed) {
  const marked = state.focus ?? state.pin;
  if (marked === null) return;
  const found = placed.find(([row]) => row === marked);
  if (!found) return;
  context.strokeStyle = colours.ink;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(found[1], found[2], 6, 0, 2 * Math.PI);
  context.stroke();
}

function buildConvergence() {
  const host = body("convergence");
  if (!rows) {
    host.append(note("No trial has been started yet."));
    return;
  }
  const xAxis = {
    name: trials.number.includes(null) ? "position in the study, including given points" : "trial",
    ticks: (about) => niceTicks(0, rows - 1, about).filter(Number.isInteger)
      .map((row) => ({ at: (row + 0.5) / rows, label: String(row) })),
  };
  let placed = [];
  const chart = canvas(host, {
    id: "convergence-chart",
    height: 320,
    label: `Values of ${withValue.length} evaluations in order, and the best so far`,
    draw(context, width, height) {
      const missing = thinned(withoutValue, MOST_POINTS);
      const { px, py, box } = frame(context, width, height, xAxis, yAxis(), { bottom: missing.length ? 56 : 40 });
      const x = (row) => px((row + 0.5) / rows);
      const y = (value) => py(currentScale.at(value));
      context.strokeStyle = colours.accent;
      context.lineWidth = 2;
      context.beginPath();
      let best = NaN;
      for (const row of withValue) {
        if (trials.state[row] === "i") continue;
        if (Number.isNaN(best)) context.moveTo(x(row), y(values[row]));
        if (!(sign * values[row] >= sign * best)) {
          if (!Number.isNaN(best)) context.lineTo(x(row), y(best));
          best = values[row];
          context.lineTo(x(row), y(best));
        }
      }
      if (!Number.isNaN(best)) context.lineTo(px(1), y(best));
      context.stroke();
      context.lineWidth = 1;
      placed = drawPoints(context, drawnPoints, (row) => [x(row), y(values[row])]);
      const rug = box.bottom + 26;
      for (const row of missing) {
        const failed = trials.state[row] === "f";
        const stopped = "sc".includes(trials.state[row]);
        context.strokeStyle = failed ? colours.bad : stopped ? colours.soft : colours.warn;
        context.lineWidth = 1.5;
        if (failed) cross(context, x(row), rug, 3);
        else if (stopped) line(context, x(row) - 3, rug, x(row) + 3, rug);
        else {
          diamond(context, x(row), rug, 4);
          context.stroke();
        }
        placed.push([row, x(row), rug]);
      }
      if (bestRow !== null) ring(context, x(bestRow), y(values[bestRow]));
      drawFocus(context, placed);
    },
  });
  chart.redraw.onFocus = true;
  hoverable(chart, () => placed);
  host.append(legend([["line", report.notes.best ? "best measured value so far" : "best so far"], ["dot", "a value"], ["ring", "the best"],
    ...infeasibleKey(), ...(count("f") ? [["cross", "failed"]] : []), ...(count("s") ? [["dash", "stopped early"]] : []), ...(count("c") ? [["dash", "below the top"]] : []), ...(count("o") ? [["diamond", "pending"]] : [])]));
  if (drawnPoints.length < withValue.length) {
    host.append(note(`${drawnPoints.length.toLocaleString("en")} of ${withValue.length.toLocaleString("en")} points are drawn here and below: half of them are the best ones, the other half is spread evenly over the rest. The line and the table include all points.`));
  }
}

/** The mark of infeasible values, for a legend, where there are any. */
function infeasibleKey() {
  return count("i") ? [["square", "a value that violates a constraint"]] : [];
}

/** The legend of a chart, from pairs [mark, words]. */
function legend(pairs) {
  return make("p", { class: "legend" }, ...pairs.map(([kind, words]) => make("span", { class: "key" },
    make("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), words)));
}

function buildParameters() {
  const host = body("parameters");
  if (!withValue.length) {
    host.append(note("There are no values to draw yet."));
    return;
  }
  const grid = make("div", { class: "grid" });
  host.append(grid);
  if (count("i")) host.append(legend([...(bestRow === null ? [] : [["dot", "a feasible value"], ["ring", "the best"]]), ...infeasibleKey()]));
  axes.forEach((axis, i) => {
    let placed = [];
    const chart = canvas(grid, {
      id: `parameter-${i}`,
      height: 210,
      label: `Value against ${axis.name}`,
      draw(context, width, height) {
        const { px, py } = frame(context, width, height, axis, yAxis(""), { left: 52 });
        placed = drawPoints(context, drawnPoints, (row) => [
          px(units[i][row] + (axis.options ? spread(row) / axis.count : 0)),
          py(currentScale.at(values[row])),
        ]);
        const best = placed.find(([row]) => row === bestRow);
        if (best) ring(context, best[1], best[2]);
        drawFocus(context, placed);
      },
    });
    chart.redraw.onFocus = true;
    hoverable(chart, () => placed);
  });
}

/** A sideways shift that separates the points of one option; the same for a row each time. */
function spread(row) {
  return ((row * 0.618034) % 1 - 0.5) * 0.6;
}

function buildImportance() {
  const host = body("importance");
  const { reason, importance } = report.model;
  if (reason) {
    host.append(note(`${reason} Importance cannot be estimated yet.`));
    return;
  }
  const shares = importance.map((share, i) => [i, share]).sort((a, b) => b[1] - a[1]);
  host.append(note("The share of the variance of the model’s predictions, over the whole space, that involves the parameter (the total Sobol’ index). A joint effect of several parameters counts for each of them, so the shares may sum to more than 100 %. A parameter that exists only with some options has no effect elsewhere."));
  const list = make("table", { class: "importance" }, make("caption", { class: "hidden" }, "Importance of each parameter"));
  list.append(make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "parameter"),
    make("th", { scope: "col", class: "wide" }, "share of variance"),
    make("th", { scope: "col", class: "number" }, "swing"))));
  const rowsOf = make("tbody");
  for (const [i, share] of shares) {
    const bar = make("span", { class: "bar-fill" });
    bar.style.width = `${100 * share}%`;
    rowsOf.append(make("tr", {}, make("th", { scope: "row" }, parameters[i].name),
      make("td", {}, make("div", { class: "bar-row" }, make("span", { class: "bar-track" }, bar),
        make("span", { class: "bar-text" }, `${text(100 * share, 2)} %`))),
      make("td", { class: "number" }, Number.isNaN(units[i][centreRow()]) ? "–" : text(swing(i) * size, 3))));
  }
  list.append(rowsOf);
  host.append(make("div", { class: "scroll" }, list));
  const few = withValue.length < 10 * dim;
  host.append(note(`Swing: the difference between the largest and the smallest value that the model predicts along the parameter through ${bestRow === null ? trialName(centreRow()) : "the best point"}. ${few ? `With ${withValue.length} values for ${dim} parameters, treat both as rough estimates.` : ""}`));
}

/** The largest minus the smallest median along a parameter, through the best point. */
function swing(i) {
  const x = pointOf(centreRow());
  let [low, high] = [Infinity, -Infinity];
  for (const u of gridOf(axes[i], 41)) {
    x[i] = u;
    const value = posterior().value(posterior().mean(x));
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high - low;
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

// Several objectives: each pair of them as a picture, with the front and what the models predict of it.

function buildFront() {
  const host = body("front");
  const { objectives, front } = report;
  if (!objectives.length) return;
  if (!front.length) {
    host.append(note("No evaluation has given values yet."));
    return;
  }
  const pairs = objectives.flatMap((_, i) => objectives.map((__, j) => [i, j])).filter(([i, j]) => i < j);
  const grid = pairs.length > 1 ? make("div", { class: "grid" }) : host;
  if (pairs.length > 1) host.append(grid);
  const onFront = new Set(front);
  pairs.forEach(([i, j]) => frontPicture(grid, i, j, onFront, pairs.length > 1 ? 280 : 380));
  const band = report.predicted ? [["line", "the front that the models predict, with one deviation on each side"]] : [];
  host.append(legend([["front", "on the front: no other evaluation is better in everything"], ["pale", "dominated"], ...band]));
  const chosen = make("div", { id: "front-chosen", class: "scroll" });
  host.append(note("Click on a point to see its parameters here and to mark it in all other pictures."), chosen);
  const show = () => chosen.replaceChildren(...(state.pin === null || state.pin >= rows ? [] : [pinned(state.pin)]));
  watch(show);
}

/** The parameters and values of the chosen trial. */
function pinned(row) {
  const lines = describeTrial(row).map(([name, shown]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "number" }, shown)));
  return make("table", { class: "best" }, make("caption", {}, trialName(row)), make("tbody", {}, ...lines));
}

/** A linear axis that holds these values, with a margin. */
function plainAxis(name, numbers) {
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const margin = 0.04 * (high - low || Math.abs(high) || 1);
  const [from, to] = [low - margin, high + margin];
  return {
    name,
    at: (v) => (v - from) / (to - from),
    ticks: (about) => niceTicks(from, to, about).map((v) => ({ at: (v - from) / (to - from), label: text(v) })),
  };
}

/** A logarithmic axis if all values are positive and span decades, else a linear one. */
function fittingAxis(name, numbers) {
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return low > 0 && high > 50 * low ? logAxis(`${name}, log`, numbers) : plainAxis(name, numbers);
}

/** A logarithmic axis that holds these values. */
function logAxis(name, numbers) {
  const [from, to] = [Math.min(...numbers), Math.max(...numbers)].map((v, i) => Math.log(v) + (i ? 0.1 : -0.1));
  return {
    name,
    at: (v) => (v > 0 ? (Math.log(v) - from) / (to - from) : -1),
    ticks: (about) => logTicks(Math.exp(from), Math.exp(to), about).map((v) => ({ at: (Math.log(v) - from) / (to - from), label: text(v) })),
  };
}

function frontPicture(host, i, j, onFront, height) {
  const [one, other] = [report.objectives[i], report.objectives[j]];
  const shown = allRows.filter((row) => one.value[row] !== null && other.value[row] !== null);
  const predicted = report.objectives.length === 2 ? report.predicted : null;
  const [x, y] = [one, other].map((each) => fittingAxis(`${each.name} (${each.direction})`, shown.map((row) => each.value[row])));
  let placed = [];
  const chart = canvas(host, {
    id: `front-${i}-${j}`,
    height,
    label: `${other.name} against ${one.name}: ${report.front.length} evaluations are on the front`,
    draw(context, width, tall) {
      const { px, py, box } = frame(context, width, tall, x, y);
      const at = ([a, b]) => [px(x.at(a)), py(y.at(b))];
      const stairs = (points, first) => points.forEach((point, k) => {
        const [u, v] = at(point);
        if (k) context.lineTo(u, at(points[k - 1])[1]);
        if (k || !first) context.lineTo(u, v);
        else context.moveTo(u, v);
      });
      context.save();
      context.beginPath();
      context.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
      context.clip();
      if (predicted) {
        context.fillStyle = colours.accent;
        context.globalAlpha = 0.15;
        context.beginPath();
        stairs(predicted.better, true);
        stairs([...predicted.worse].reverse(), false);
        context.fill();
        context.globalAlpha = 1;
        context.strokeStyle = colours.accent;
        context.lineWidth = 1.5;
        context.beginPath();
        stairs(predicted.mean, true);
        context.stroke();
      }
      context.restore();
      placed = [];
      for (const row of [...shown].sort((a, b) => onFront.has(a) - onFront.has(b))) {
        const [u, v] = at([one.value[row], other.value[row]]);
        const good = onFront.has(row);
        context.globalAlpha = selected[row] ? 1 : 0.2;
        context.fillStyle = good ? colours.accent : colours.faint;
        context.strokeStyle = colours.warn;
        if (trials.state[row] === "i") square(context, u, v, 3);
        else dot(context, u, v, good ? 4.5 : 3);
        placed.push([row, u, v]);
      }
      context.globalAlpha = 1;
      context.lineWidth = 1;
      drawFocus(context, placed);
    },
  });
  chart.redraw.onFocus = true;
  hoverable(chart, () => placed);
  chart.addEventListener("click", () => {
    state.pin = state.focus;
    changed();
  });
}

// The curve of each evaluation that reported its steps; one that was stopped ends in a mark.

const MOST_CURVES = 400;

function buildCurves() {
  const host = body("curves");
  const all = Object.entries(trials.curves).map(([row, curve]) => [Number(row), curve]);
  if (!all.length) {
    host.append(note("No evaluation has reported a step yet."));
    return;
  }
  const kept = new Set(thinned(all.map(([row]) => row), MOST_CURVES));
  const shown = all.filter(([row]) => kept.has(row));
  const longest = Math.max(...shown.map(([, curve]) => curve.length));
  const numbers = shown.flatMap(([, curve]) => curve).filter((v) => v !== null);
  const y = fittingAxis("value after the step", numbers);
  const x = {
    name: "step",
    ticks: (about) => niceTicks(1, longest, about).filter(Number.isInteger).map((v) => ({ at: stepAt(v), label: String(v) })),
  };
  const stepAt = (step) => (longest > 1 ? (step - 1) / (longest - 1) : 0.5);
  let placed = [];
  const chart = canvas(host, {
    id: "curves-chart",
    height: 320,
    label: `The values of ${shown.length} evaluations after each of their steps`,
    draw(context, width, height) {
      const { px, py } = frame(context, width, height, x, y, { right: 20 });
      placed = [];
      const order = [...shown].sort(([a], [b]) => (a === state.focus || a === state.pin) - (b === state.focus || b === state.pin));
      for (const [row, curve] of order) {
        const marked = row === (state.focus ?? state.pin);
        const ended = trials.state[row];
        context.strokeStyle = marked ? colours.ink : Number.isNaN(values[row]) ? colours.faint : colour(goodness(values[row]));
        context.globalAlpha = marked ? 1 : selected[row] ? 0.65 : 0.15;
        context.lineWidth = marked ? 2.5 : row === bestRow ? 2.2 : 1.2;
        context.beginPath();
        let last = null;
        curve.forEach((v, k) => {
          if (v === null) return;
          const at = [px(stepAt(k + 1)), py(y.at(v))];
          if (last) context.lineTo(...at);
          else context.moveTo(...at);
          last = at;
        });
        context.stroke();
        if (!last) continue;
        if (ended === "s" || ended === "f") {
          context.strokeStyle = ended === "s" ? colours.soft : colours.bad;
          context.lineWidth = 1.5;
          cross(context, ...last, 3);
        } else if (row === bestRow) ring(context, ...last);
        placed.push([row, ...last]);
      }
      context.globalAlpha = 1;
      context.lineWidth = 1;
    },
  });
  chart.redraw.onFocus = true;
  hoverable(chart, () => placed);
  host.append(legend([["line", "an evaluation; the better its value, the darker"], ["ring", "the best"],
    ...(count("s") ? [["cross soft", "stopped early"]] : []), ...(count("f") ? [["cross", "failed"]] : [])]));
  if (shown.length < all.length) host.append(note(`${shown.length} of ${all.length.toLocaleString("en")} curves are drawn.`));
}

// Parallel coordinates: drag along an axis to select a range, which then applies to the whole page.

const MOST_LINES = 1500;

function buildParallel() {
  const host = body("parallel");
  if (!withValue.length) {
    host.append(note("There are no values to draw yet."));
    return;
  }
  let shown = thinned(withValue, MOST_LINES);
  const spreadOf = (axis, row) => (axis < dim && axes[axis].options ? (spread(row) * 0.6) / axes[axis].count : 0);
  const height = dim > 9 ? 420 : 360;
  const box = { left: 44, top: dim > 9 ? 92 : 40, bottom: height - 18 };
  let width = 0;
  const ax = (axis) => box.left + (axis / Math.max(dim, 1)) * (width - box.left - 64);
  const ay = (at) => box.bottom - at * (box.bottom - box.top);
  const path = (context, row) => {
    context.beginPath();
    let [pen, alone] = [false, false]; // a line has gaps at axes that do not exist for its trial
    for (let axis = 0; axis <= dim; axis += 1) {
      const y = ay(axisAt(axis, row) + spreadOf(axis, row));
      if (Number.isNaN(y)) {
        if (alone) context.lineTo(ax(axis - 1) + 4, ay(axisAt(axis - 1, row) + spreadOf(axis - 1, row)));
        [pen, alone] = [false, false];
        continue;
      }
      if (pen) context.lineTo(ax(axis), y);
      else context.moveTo(ax(axis) - (axis ? 4 : 0), y);
      if (!pen) context.lineTo(ax(axis), y);
      [pen, alone] = [true, !pen];
    }
    context.stroke();
  };

  const stack = make("div", { class: "stack" });
  const scroll = make("div", { class: "scroll" }, stack);
  host.append(note("Drag along an axis to select the trials in that range, in all charts and in the table. Click the axis to clear the selection."), scroll);
  if (count("i")) host.append(note("Dotted grey lines are trials that violate a constraint."));
  const minWidth = Math.max(320, 54 * (dim + 1));
  const base = canvas(stack, {
    id: "parallel-chart",
    height,
    minWidth,
    label: `Parallel coordinates of ${shown.length} trials over ${dim} parameters and the value`,
    draw(context, w) {
      width = w;
      shown = thinned(withValue, MOST_LINES);
      const feasible = (row) => Number(trials.state[row] !== "i"); // the best on top
      const ordered = [...shown].reverse().sort((a, b) => feasible(a) - feasible(b) || compareValues(b, a));
      context.lineWidth = 1;
      for (const pass of [0, 1]) {
        for (const row of ordered) {
          if (selected[row] !== pass) continue;
          context.globalAlpha = pass ? (shown.length > 400 ? 0.4 : 0.65) : 0.12;
          const infeasible = trials.state[row] === "i";
          context.strokeStyle = pass && !infeasible ? colour(goodness(values[row])) : colours.faint;
          context.setLineDash(infeasible ? [2, 4] : []);
          path(context, row);
        }
      }
      context.setLineDash([]);
      context.globalAlpha = 1;
      if (selected[bestRow]) {
        context.strokeStyle = colours.warn;
        context.lineWidth = 2.5;
        path(context, bestRow);
      }
      drawAxes(context);
    },
  });
  base.removeAttribute("tabindex");
  const overlay = canvas(stack, {
    id: "parallel-overlay",
    height,
    minWidth,
    label: "Hover over a line to see its trial, or drag along an axis to select a range",
    draw(context) {
      const row = hovered;
      if (row === null) return;
      context.lineWidth = 3;
      context.strokeStyle = colours.ink;
      path(context, row);
      context.fillStyle = colours.ink;
      for (let axis = 0; axis <= dim; axis += 1) {
        dot(context, ax(axis), ay(axisAt(axis, row) + spreadOf(axis, row)), 3.5);
      }
    },
  });
  overlay.classList.add("over");
  const chips = make("div", { class: "chips", id: "brushes" });
  const counted = make("p", { class: "note", id: "brushed", role: "status" });
  host.append(chips, counted, brushForm());
  const thin = note("");
  host.append(thin);

  function drawAxes(context) {
    const gap = ax(1) - ax(0);
    for (let axis = 0; axis <= dim; axis += 1) {
      const x = ax(axis);
      context.strokeStyle = colours.soft;
      context.lineWidth = 1;
      line(context, x, box.top, x, box.bottom);
      context.textAlign = "center";
      context.textBaseline = "alphabetic";
      context.fillStyle = colours.ink;
      context.font = `600 ${context.font.replace(/^(\d+ )?/, "")}`;
      if (dim > 9) { // slanted, because there is no room otherwise
        context.save();
        context.translate(x, box.top - 14);
        context.rotate(-0.6);
        context.textAlign = "left";
        context.fillText(fitted(context, axisName(axis), axis < dim - 1 ? 124 : 66), 0, 0);
        context.restore();
      } else context.fillText(fitted(context, axisName(axis), axis ? gap - 8 : box.left * 2 - 6), x, box.top - 20);
      context.font = context.font.replace(/^(bold|\d+) /, "");
      const ticks = axis < dim ? axes[axis].ticks(dim > 9 ? 3 : 5) : currentScale.ticks(6);
      context.textAlign = "left";
      context.textBaseline = "middle";
      ticks.forEach((tick, i) => {
        if (tick.at < 0 || tick.at > 1) return;
        if (ticks.length > 12 && i % Math.ceil(ticks.length / 12)) return;
        line(context, x - 3, ay(tick.at), x + 3, ay(tick.at));
        const label = fitted(context, tick.label, Math.min(gap - 14, 70));
        context.lineWidth = 3;
        context.strokeStyle = colours.card;
        context.strokeText(label, x + 6, ay(tick.at));
        context.fillStyle = colours.ink;
        context.fillText(label, x + 6, ay(tick.at));
        context.lineWidth = 1;
        context.strokeStyle = colours.soft;
      });
      const brushed = dragging && dragging.axis === axis ? dragging.range : state.filters.get(axis);
      if (brushed) {
        const [low, high] = brushed;
        context.fillStyle = colours.accent;
        context.globalAlpha = 0.3;
        context.fillRect(x - 9, ay(high), 18, Math.max(ay(low) - ay(high), 2));
        context.globalAlpha = 1;
        context.strokeStyle = colours.accent;
        context.strokeRect(x - 9, ay(high), 18, Math.max(ay(low) - ay(high), 2));
      }
    }
  }

  let hovered = null;
  let dragging = null;

  const where = (event) => {
    const at = overlay.getBoundingClientRect();
    return [event.clientX - at.left, event.clientY - at.top];
  };
  const axisNear = (x) => {
    const axis = Math.round(((x - box.left) / (width - box.left - 64)) * dim);
    return axis >= 0 && axis <= dim && Math.abs(ax(axis) - x) < 14 ? axis : null;
  };
  const unit = (y) => Math.min(Math.max((box.bottom - y) / (box.bottom - box.top), 0), 1);

  function lineUnder(x, y) {
    const between = Math.min(Math.max(Math.floor(((x - box.left) / (width - box.left - 64)) * dim), 0), dim - 1);
    const share = (x - ax(between)) / (ax(between + 1) - ax(between));
    let found = null;
    let nearest = 8;
    for (const row of shown) {
      if (!selected[row]) continue;
      const a = ay(axisAt(between, row) + spreadOf(between, row));
      const b = ay(axisAt(between + 1, row) + spreadOf(between + 1, row));
      const distance = Math.abs(a + share * (b - a) - y);
      if (distance < nearest) [nearest, found] = [distance, row];
    }
    return found;
  }

  function hover(row, x, y) {
    hovered = row;
    overlay.redraw();
    if (row === null) hideTip();
    else showTip(trialName(row), describeTrial(row), x, y);
  }

  overlay.addEventListener("pointerdown", (event) => {
    const [x, y] = where(event);
    const axis = axisNear(x);
    if (axis === null || event.pointerType === "touch") return;
    dragging = { axis, from: unit(y), range: [unit(y), unit(y)] };
    overlay.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  overlay.addEventListener("pointermove", (event) => {
    const [x, y] = where(event);
    if (!dragging) {
      overlay.style.cursor = axisNear(x) === null ? "default" : "crosshair";
      hover(lineUnder(x, y), event.clientX, event.clientY);
      return;
    }
    const here = unit(y);
    dragging.range = [Math.min(here, dragging.from), Math.max(here, dragging.from)];
    hover(null);
    base.redraw();
  });
  overlay.addEventListener("pointerup", () => {
    if (!dragging) return;
    const { axis, range } = dragging;
    dragging = null;
    setBrush(axis, range[1] - range[0] < 0.01 ? null : range);
  });
  overlay.addEventListener("pointercancel", () => {
    dragging = null;
    base.redraw();
  });
  overlay.addEventListener("pointerleave", () => hover(null));
  overlay.addEventListener("blur", () => hover(null));
  overlay.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    const ranked = shown.filter((row) => selected[row]).sort(compareValues);
    if (!step || !ranked.length) return;
    event.preventDefault();
    const place = hovered === null ? (step > 0 ? 0 : -1) : ranked.indexOf(hovered) + step;
    const row = ranked[(place + ranked.length) % ranked.length];
    const at = overlay.getBoundingClientRect();
    hover(row, at.left + 20, at.top + 20);
    say(`${trialName(row)}: ${describeTrial(row).map((pair) => pair.join(" ")).join(", ")}`);
  });

  watch(() => {
    thin.textContent = shown.length < withValue.length
      ? `${shown.length.toLocaleString("en")} of ${withValue.length.toLocaleString("en")} lines are drawn: half of them are the best ones, the other half is spread evenly over the rest.` : "";
    chips.replaceChildren();
    for (const [axis, [low, high]] of state.filters) {
      const words = `${axisName(axis)}: ${axisShow(axis, low)} to ${axisShow(axis, high)}`;
      const chip = make("button", { type: "button", class: "chip", "aria-label": `Clear the selection ${words}` }, words, make("span", { "aria-hidden": "true" }, " ×"));
      chip.addEventListener("click", () => setBrush(axis, null));
      chips.append(chip);
    }
    counted.textContent = state.filters.size
      ? `${selectedCount.toLocaleString("en")} of ${rows.toLocaleString("en")} trials are in the selected ranges.`
      : "No range is selected.";
  });
}

function setBrush(axis, range) {
  if (range === null) state.filters.delete(axis);
  else state.filters.set(axis, range);
  changed();
}

/** A form that does the same as dragging, by keyboard and with exact numbers. */
function brushForm() {
  const names = Array.from({ length: dim + 1 }, (_, axis) => [axis, axisName(axis)]);
  const axis = select("brush-axis", names, dim);
  const from = make("input", { id: "brush-from", type: "text", inputmode: "decimal", size: "9" });
  const to = make("input", { id: "brush-to", type: "text", inputmode: "decimal", size: "9" });
  const form = make("form", { class: "inline", id: "brush-form" }, labelled("Keep", axis), labelled("from", from),
    labelled("to", to), make("button", { type: "submit" }, "Keep"));
  const place = (written, otherwise) => {
    const index = Number(axis.value);
    if (!written.trim()) return otherwise;
    if (index < dim && axes[index].options) {
      const option = parameters[index].options.indexOf(written.trim());
      return option < 0 ? NaN : (option + otherwise) / axes[index].count;
    }
    const number = Number(written);
    return index < dim ? axes[index].at(number) : currentScale.at(number / size);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const ends = [place(from.value, 0), place(to.value, 1)];
    const bad = ends.some(Number.isNaN);
    [from, to].forEach((input, i) => input.setAttribute("aria-invalid", String(Number.isNaN(ends[i]))));
    if (bad) say("That value is not on this axis.");
    else setBrush(Number(axis.value), [Math.min(...ends) - 1e-9, Math.max(...ends) + 1e-9]);
  });
  return form;
}

// The cells of the tree in two dimensions, as they were at any trial.

const EVALUATED = "1";
const REJECTED = "2";
const PENDING = "3";
const FAILED = "4";
const WORDS = { 0: "a new", [EVALUATED]: "an evaluated", [REJECTED]: "a rejected", [PENDING]: "a pending", [FAILED]: "a failed" };

/** Corners, centres and first children of all cells, from the list of splits. */
function growTree({ root, cut, axis, parts, points, k, marks }) {
  const nodes = marks.status.length;
  const low = new Float64Array(nodes * dim);
  const high = new Float64Array(nodes * dim).fill(1, 0, dim);
  const centre = new Float64Array(nodes * dim);
  const child = new Int32Array(nodes).fill(0x7fffffff);
  centre.set(root);
  let next = 1;
  cut.forEach((parent, i) => {
    const d = axis[i];
    const from = low[parent * dim + d];
    const side = high[parent * dim + d] - from;
    const equal = (j) => from + (side * j) / k;
    const edges = parts ? [from, ...parts[i][0], from + side] : Array.from({ length: k + 1 }, (_, j) => equal(j));
    const centres = parts ? parts[i][1] : Array.from({ length: k }, (_, j) => equal(j + 0.5));
    child[parent] = next;
    for (let j = 0; j < centres.length && next < nodes; j += 1, next += 1) {
      low.copyWithin(next * dim, parent * dim, (parent + 1) * dim);
      high.copyWithin(next * dim, parent * dim, (parent + 1) * dim);
      centre.copyWithin(next * dim, parent * dim, (parent + 1) * dim);
      low[next * dim + d] = edges[j];
      high[next * dim + d] = edges[j + 1];
      centre[next * dim + d] = centres[j];
      if (points) centre.set(points[next - 1], next * dim);
    }
  });
  return { nodes, low, high, centre, child };
}

function buildPartition() {
  const host = body("partition");
  const given = report.partition;
  if (given.reason) {
    host.append(note(given.reason));
    if (given.ended) host.append(note(given.ended));
    return;
  }
  const tree = growTree(given);
  const last = given.sizes.length - 1;
  const names = parameters.map((p, i) => [i, p.name]);
  const x = select("partition-x", names, 0);
  const y = select("partition-y", names, Math.min(1, dim - 1));
  const cells = select("partition-cells", [["slice", "through the best point"], ["all", "all, overlaid"]], "slice");
  const slider = make("input", { id: "partition-trial", type: "range", min: "0", max: String(last), value: String(last) });
  const shownTrial = make("output", { id: "partition-now", for: "partition-trial" });
  const play = make("button", { type: "button", id: "partition-play" }, "▶ Play");
  const controls = make("div", { class: "controls-row" }, labelled("Horizontal", x), labelled("Vertical", y));
  if (dim > 2) controls.append(labelled("Cells", cells));
  host.append(controls, make("div", { class: "controls-row" }, play, make("label", { class: "grow" }, "Up to trial ", slider), shownTrial));
  const counts = make("p", { class: "note", id: "partition-count" });
  let placed = [];

  const rowOf = new Map();
  trials.number.forEach((number, row) => rowOf.set(number, row));
  const trialOf = (node) => {
    const row = given.marks.row[node];
    return row < 0 ? -1 : trials.number[row];
  };

  /** The status of a cell at the time of a trial. */
  function standing(node, now) {
    const status = given.marks.status[node];
    if (status === REJECTED) return REJECTED;
    return status !== "0" && trialOf(node) <= now ? status : "0";
  }

  function inSlice(node, across, up) {
    for (let d = 0; d < dim; d += 1) {
      if (d === across || d === up || bestRow === null) continue;
      const at = units[d][bestRow];
      if (at < tree.low[node * dim + d] || at > tree.high[node * dim + d]) return false;
    }
    return true;
  }

  /** The value that the model expects at a cell’s centre, computed once per cell. */
  const expected = new Float64Array(tree.nodes).fill(NaN);
  const believes = (node) => {
    if (Number.isNaN(expected[node]) && posterior()) {
      const centre = tree.centre.subarray(node * dim, (node + 1) * dim);
      expected[node] = posterior().value(posterior().mean(centre));
    }
    return expected[node];
  };

  let cellUnder = () => {};
  const chart = canvas(host, {
    id: "partition-chart",
    height: 480,
    label: "Cells of the partition, with centres that were evaluated, rejected, failed or are pending",
    draw(context, width, height) {
      const [across, up] = [Number(x.value), Number(y.value)];
      const step = Number(slider.value);
      const now = given.first + step;
      const there = Math.min(given.sizes[step], tree.nodes);
      const flat = across === up;
      const { px, py } = frame(context, width, height, axes[across], flat ? { name: "", ticks: () => [] } : axes[up], { grid: false });
      const slice = dim > 2 && cells.value === "slice";
      const leaves = [];
      for (let node = 0; node < there; node += 1) {
        if (tree.child[node] < there) continue;
        if (!slice || inSlice(node, across, up)) leaves.push(node);
      }
      const rectangle = (node) => {
        const [a, b] = [px(tree.low[node * dim + across]), px(tree.high[node * dim + across])];
        const [c, d] = flat ? [py(0), py(1)] : [py(tree.low[node * dim + up]), py(tree.high[node * dim + up])];
        return [a, d, b - a, c - d];
      };
      const overlapping = dim > 2 && !slice;
      const stand = leaves.map((node) => standing(node, now));
      leaves.forEach((node, i) => {
        const row = given.marks.row[node];
        const valued = stand[i] === EVALUATED && row >= 0;
        const level = valued ? values[row] : stand[i] === REJECTED ? believes(node) : NaN;
        context.globalAlpha = overlapping ? 0.06 : valued ? 0.8 : 0.3;
        context.fillStyle = Number.isNaN(level) ? colours.cell : colour(goodness(level));
        context.fillRect(...rectangle(node));
      });
      context.globalAlpha = overlapping ? 0.25 : 0.7;
      context.strokeStyle = colours.faint;
      context.lineWidth = leaves.length > 1500 ? 0.4 : 0.8;
      leaves.forEach((node) => context.strokeRect(...rectangle(node)));
      context.globalAlpha = 1;
      placed = [];
      cellUnder = (cx, cy, event) => {
        const place = leaves.findIndex((node) => {
          const [left, top, w, h] = rectangle(node);
          return cx >= left && cx <= left + w && cy >= top && cy <= top + h;
        });
        if (place < 0 || overlapping) return;
        const node = leaves[place];
        const range = (d) => `${axes[d].show(axes[d].value(tree.low[node * dim + d] + 1e-12))} to ${axes[d].show(axes[d].value(tree.high[node * dim + d] - 1e-12))}`;
        const pairs = [across, ...(flat ? [] : [up])].map((d) => [parameters[d].name, range(d)]);
        if (posterior()) pairs.push(["the model expects", text(believes(node) * size)]);
        showTip(`${WORDS[stand[place]]} cell`, pairs, event.clientX, event.clientY);
      };
      const tally = { 0: 0, 1: 0, 2: 0, 3: 0, 4: 0 };
      const inCells = new Set();
      const radius = leaves.length > 1500 ? 1.5 : 2.8;
      leaves.forEach((node, i) => {
        const status = stand[i];
        tally[status] += 1;
        if (status === "0") return;
        const [cx, cy] = [px(tree.centre[node * dim + across]), flat ? py(0.5) : py(tree.centre[node * dim + up])];
        mark(context, status, cx, cy, radius);
        const row = given.marks.row[node];
        if (row >= 0) {
          inCells.add(row);
          placed.push([row, cx, cy]);
        }
      });
      context.globalAlpha = 0.55;
      for (let row = 0; row < rows; row += 1) { // evaluated points that are not centres of these cells
        if (inCells.has(row) || Number.isNaN(values[row]) || !(trials.number[row] <= now)) continue;
        if (slice && !near(row, across, up)) continue;
        const [cx, cy] = [px(units[across][row]), flat ? py(0.5) : py(units[up][row])];
        context.fillStyle = colours.ink;
        dot(context, cx, cy, radius * 0.6);
        placed.push([row, cx, cy]);
      }
      context.globalAlpha = 1;
      if (bestRow !== null && !(trials.number[bestRow] > now)) {
        ring(context, px(units[across][bestRow]), flat ? py(0.5) : py(units[up][bestRow]));
      }
      drawFocus(context, placed);
      shownTrial.textContent = String(now);
      counts.textContent = `${leaves.length.toLocaleString("en")} cells${slice ? " that contain the best point’s other parameters" : ""}: the centres of ${tally[EVALUATED]} are evaluated, ${tally[REJECTED]} rejected, ${tally[PENDING]} pending, ${tally[FAILED]} failed${tally[0] ? `, ${tally[0]} not considered yet` : ""}.`;
    },
  });

  /** Whether a trial is close to the best point in the other dimensions. */
  function near(row, across, up) {
    for (let d = 0; d < dim; d += 1) {
      if (d !== across && d !== up && Math.abs(units[d][row] - units[d][bestRow]) > 0.02) return false;
    }
    return true;
  }

  function mark(context, status, cx, cy, radius) {
    context.lineWidth = 1.5;
    if (status === EVALUATED) {
      context.fillStyle = colours.ink;
      dot(context, cx, cy, radius);
    } else if (status === REJECTED) {
      context.strokeStyle = colours.soft;
      context.beginPath();
      context.arc(cx, cy, radius, 0, 2 * Math.PI);
      context.stroke();
    } else if (status === PENDING) {
      context.fillStyle = colours.warn;
      diamond(context, cx, cy, radius + 2);
      context.fill();
    } else {
      context.strokeStyle = colours.bad;
      cross(context, cx, cy, radius);
    }
  }

  chart.redraw.onFocus = true;
  hoverable(chart, () => placed, (cx, cy, event) => cellUnder(cx, cy, event));
  host.append(legend([["cell", "cell, coloured by its value, or more faintly by the value that the model now expects"], ["ink", "evaluated"],
    ["circle", "rejected by the model’s bound"], ["diamond", "pending"], ["cross", "failed"], ["ring", "the best"]]), counts);
  if (given.ended) {
    host.append(note(`The partition is known up to trial ${given.first + last}: from there on, this version of bamsoo would have chosen other points. ${given.ended}`));
  } else if (given.first) {
    host.append(note(`The search was restarted at trial ${given.first}; this is the partition since then.`));
  }
  if (report.notes.partition) host.append(note(report.notes.partition));

  [x, y, cells].forEach((control) => control.addEventListener("change", chart.redraw));
  slider.addEventListener("input", chart.redraw);
  let playing = null;
  const stop = () => {
    cancelAnimationFrame(playing);
    playing = null;
    play.textContent = "▶ Play";
  };
  play.addEventListener("click", () => {
    if (playing !== null) {
      stop();
      return;
    }
    play.textContent = "❚❚ Pause";
    const from = Number(slider.value) >= last ? 0 : Number(slider.value);
    const length = Math.min(9000, 150 * (last - from + 1));
    let begun = null;
    const tick = (time) => {
      begun = begun ?? time;
      const share = Math.min((time - begun) / length, 1);
      slider.value = String(Math.round(from + share * (last - from)));
      chart.redraw();
      if (share < 1) playing = requestAnimationFrame(tick);
      else stop();
    };
    playing = requestAnimationFrame(tick);
  });
}

// The model's predictions along each parameter, and over any two, through a trial that can be chosen.

function buildSlices() {
  const host = body("slices");
  if (report.model.reason) {
    host.append(note(report.model.reason));
    return;
  }
  const model = posterior();
  host.append(note(`${report.model.says} The line is the median, and the band contains 95 % of the probability${report.model.noise > 0 ? " for the function itself, without measurement noise" : ""}.`));
  if (report.notes.model) host.append(note(report.notes.model));
  const options = withValue.filter((row) => trials.number[row] !== null);
  const through = make("input", { id: "slice-through", type: "number", min: "0", max: String(rows - 1), step: "1",
    value: String(trials.number[centreRow()] ?? "") });
  let centre = centreRow();
  const back = make("button", { type: "button" }, bestRow === null ? "Least violation" : "Best trial");
  host.append(make("div", { class: "controls-row" }, labelled("Slices through trial", through), back));
  const grid = make("div", { class: "grid" });
  host.append(grid);
  if (report.limits.length) {
    host.append(legend([["shaded", "where the model expects a constraint to be violated"], ["dashed", `where it expects the constraint to be 0 (${report.limits.map((limit) => limit.name).join(", ")})`]]));
  }

  const places = axes.map((axis) => gridOf(axis, slicePlaces()));
  let bands = [];
  let zeros = [];
  const compute = () => {
    zeros = places.map((along, i) => {
      const at = pointOf(centre);
      return limitPosteriors().map(([name, limit]) => [name, along.map((u) => {
        at[i] = u;
        return limit.mean(at); // the transform keeps the sign, so <= 0 means that it is met
      })]);
    });
    bands = places.map((along, i) => {
      const at = pointOf(centre);
      return along.map((u) => {
        at[i] = u;
        return model.band(at, 1.96);
      });
    });
  };
  compute();
  axes.forEach((axis, i) => {
    canvas(grid, {
      id: `slice-${i}`,
      height: 210,
      label: `The model along ${axis.name}`,
      draw(context, width, height) {
        if (Number.isNaN(units[i][centre])) drawAbsent(context, width, height, axis, centre);
        else drawSlice(context, width, height, axis, places[i], bands[i], [units[i][centre], values[centre]], sliceScale(bands), zeros[i]);
      },
    }).removeAttribute("tabindex");
  });

  const go = (row) => {
    centre = row;
    compute();
    changed();
  };
  through.addEventListener("change", () => {
    const row = options.find((each) => trials.number[each] === Number(through.value));
    through.setAttribute("aria-invalid", String(row === undefined));
    if (row === undefined) say("That trial has no value.");
    else go(row);
  });
  back.addEventListener("click", () => {
    used.delete("slice-through"); // so that a live page follows the best trial again
    through.value = String(trials.number[centreRow()] ?? "");
    through.setAttribute("aria-invalid", "false");
    go(centreRow());
  });

  if (dim < 2) return;
  const names = parameters.map((p, i) => [i, p.name]);
  const ranked = report.model.importance.map((share, i) => [share, i]).sort((a, b) => b[0] - a[0]).map(([, i]) => i);
  const x = select("heat-x", names, Math.min(ranked[0], ranked[1]));
  const y = select("heat-y", names, Math.max(ranked[0], ranked[1]));
  const what = select("heat-what", [["mean", "expected value"], ["sigma", "uncertainty (half the 68 % band)"]], "mean");
  host.append(make("h3", {}, "Two parameters"), make("div", { class: "controls-row" }, labelled("Horizontal", x), labelled("Vertical", y), labelled("Show", what)));
  const said = make("p", { class: "note", id: "heat-said" });
  let placed = [];
  const heat = canvas(host, {
    id: "heat",
    height: 440,
    label: "Map of the model over two parameters",
    draw(context, width, height) {
      placed = drawHeat(context, width, height, Number(x.value), Number(y.value), what.value, centre, said);
    },
  });
  hoverable(heat, () => placed);
  host.append(said);
  [x, y, what].forEach((control) => control.addEventListener("change", heat.redraw));
}

/** The number of positions along a slice: as many as a model of this size can compute in a moment. */
function slicePlaces() {
  return Math.max(15, Math.min(61, Math.floor(4e8 / (dim * posterior().points.length ** 2))));
}

/** The number of positions along each side of the map; the mean is cheaper than the uncertainty. */
function heatPlaces(what) {
  return what === "mean" ? 60 : Math.max(15, Math.min(60, Math.floor(2e4 / posterior().points.length)));
}

/** The scale of the values, extended to include the medians unless they are far outside. */
function sliceScale(bands) {
  const medians = bands.flat().map((band) => band[1]);
  const room = 2 * (largest - smallest);
  const low = Math.max(medians.reduce((a, b) => Math.min(a, b), smallest), smallest - room);
  const high = Math.min(medians.reduce((a, b) => Math.max(a, b), largest), largest + room);
  return valueScale(state.scale === "linear" ? low : smallest, high);
}

/** Shade where each constraint is expected to be violated, and draw its zero line with its name.
 * Options have no order, so there is no zero line between two of them. */
function drawZeros(context, box, x, zeros, options) {
  const half = options ? (box.right - box.left) / (2 * options) : 0;
  zeros.forEach(([name, means], which) => {
    const crossing = (j) => x(j - 1) + (x(j) - x(j - 1)) * (means[j - 1] / (means[j - 1] - means[j]));
    const crosses = (j) => j > 0 && j < means.length && (means[j] > 0) !== (means[j - 1] > 0);
    const label = (left, align) => {
      context.fillStyle = colours.soft;
      context.textAlign = align;
      context.textBaseline = "top";
      context.fillText(fitted(context, name, 90), left, box.top + 2 + 12 * (which % 6));
    };
    for (let j = 0; j < means.length; j += 1) {
      const edge = (i, end) => (options ? x(j) + end * half : crosses(i) ? crossing(i) : i <= 0 || i >= means.length ? x(j) : (x(i - 1) + x(i)) / 2);
      if (means[j] > 0) {
        const [left, right] = [edge(j, -1), edge(j + 1, 1)];
        context.globalAlpha = 0.12;
        context.fillStyle = colours.bad;
        context.fillRect(left, box.top, right - left, box.bottom - box.top);
        context.globalAlpha = 1;
        if (options) label(x(j), "center");
      }
      if (!options && crosses(j)) {
        const zero = crossing(j);
        context.strokeStyle = colours.bad;
        context.setLineDash([4, 3]);
        line(context, zero, box.top, zero, box.bottom);
        context.setLineDash([]);
        const room = context.measureText(name).width + 6;
        if (zero + room > box.right) label(zero - 3, "right");
        else label(zero + 3, "left");
      }
    }
  });
}

function drawSlice(context, width, height, axis, places, bands, [at, value], scale, zeros) {
  const { px, py, box } = frame(context, width, height, axis, yAxis("", scale), { left: 52 });
  const x = (j) => px(places[j]);
  const y = (v) => py(Math.min(Math.max(scale.at(v), -2), 3));
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  context.clip();
  drawZeros(context, box, x, zeros, axis.options ? axis.count : 0);
  context.fillStyle = colours.accent;
  context.strokeStyle = colours.accent;
  if (axis.options) {
    context.lineWidth = 2;
    bands.forEach(([low, median, high], j) => {
      context.globalAlpha = 0.25;
      context.fillRect(x(j) - 8, y(high), 16, Math.max(y(low) - y(high), 2));
      context.globalAlpha = 1;
      line(context, x(j) - 10, y(median), x(j) + 10, y(median));
    });
  } else {
    context.globalAlpha = 0.22;
    context.beginPath();
    bands.forEach((band, j) => context.lineTo(x(j), y(band[2])));
    for (let j = bands.length - 1; j >= 0; j -= 1) context.lineTo(x(j), y(bands[j][0]));
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = 2;
    context.beginPath();
    bands.forEach((band, j) => context.lineTo(x(j), y(band[1])));
    context.stroke();
  }
  context.restore();
  context.lineWidth = 1;
  ring(context, px(at), y(value));
}

/** An empty chart, for a parameter that does not exist with the options of the trial. */
function drawAbsent(context, width, height, axis, row) {
  const { box } = frame(context, width, height, axis, yAxis("", currentScale), { left: 52 });
  context.fillStyle = colours.soft;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const said = fitted(context, `not in ${trialName(row)}`, box.right - box.left - 8);
  context.fillText(said, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
}

let lastHeat = { key: "", model: null, found: [] };
let lastZeros = { key: "", limits: null, found: [] };

/** What the models of the constraints expect over the map, kept as the map's values are. */
function heatZeros(across, up, centre, xs, ys) {
  const key = [across, up, centre].join();
  if (lastZeros.key === key && lastZeros.limits === report.limits) return lastZeros.found;
  const at = pointOf(centre);
  const found = limitPosteriors().map(([, limit]) => ys.map((v) => xs.map((u) => {
    at[across] = u;
    at[up] = v;
    return limit.mean(at);
  })));
  lastZeros = { key, limits: report.limits, found };
  return found;
}

/** Veil the part of the map where a constraint is expected to be violated. */
function veilHeat(context, px, py, xAxis, yAxisOf, xs, ys, found) {
  const fine = xAxis.count === null && yAxisOf.count === null ? 4 : 1; // pixels between two places
  const refined = (places) => Array.from({ length: fine * (places.length - 1) + 1 }, (_, i) => i / fine);
  const between = (means, s, t) => { // linear between places
    const [i, j] = [Math.floor(s), Math.floor(t)];
    const along = (row) => row[i] + (s - i ? (s - i) * (row[i + 1] - row[i]) : 0);
    return along(means[j]) + (t - j ? (t - j) * (along(means[j + 1]) - along(means[j])) : 0);
  };
  const [across, up] = [refined(xs), refined(ys)];
  const violated = (i, j) => found.some((means) => between(means, across[i], up[j]) > 0);
  context.globalAlpha = 0.45;
  const places = fine === 1 ? [xs, ys] : [across, up];
  fillHeat(context, px, py, xAxis, yAxisOf, ...places, (i, j) => (violated(i, j) ? colours.card : "transparent"));
  context.globalAlpha = 1;
}

/** The lines along which a constraint is expected to be 0. */
function drawHeatZeros(context, px, py, xs, ys, found) {
  context.strokeStyle = colours.bad;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const means of found) {
    for (let j = 0; j + 1 < ys.length; j += 1) {
      for (let i = 0; i + 1 < xs.length; i += 1) {
        const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
        const ends = [];
        corners.forEach(([a, b], n) => { // where the mean is 0 on the sides of this square
          const [c, d] = corners[(n + 1) % 4];
          const [from, to] = [means[b][a], means[d][c]];
          if ((from > 0) === (to > 0)) return;
          const share = from / (from - to);
          ends.push([px(xs[a] + share * (xs[c] - xs[a])), py(ys[b] + share * (ys[d] - ys[b]))]);
        });
        for (let n = 0; n + 1 < ends.length; n += 2) {
          context.moveTo(...ends[n]);
          context.lineTo(...ends[n + 1]);
        }
      }
    }
  }
  context.stroke();
  context.lineWidth = 1;
}

/** The map’s values, cached until something else is shown. */
function heatValues(across, up, what, centre, xs, ys) {
  const key = [across, up, what, centre, size].join();
  if (lastHeat.key === key && lastHeat.model === report.model) return lastHeat.found;
  const at = pointOf(centre);
  const found = ys.map((v) => xs.map((u) => {
    at[across] = u;
    at[up] = v;
    if (what === "mean") return posterior().value(posterior().mean(at));
    const [low, , high] = posterior().band(at, 1);
    return (high - low) / 2;
  }));
  lastHeat = { key, model: report.model, found };
  return found;
}

/** Fill the map: smoothly along two continuous axes, in blocks where one is discrete. */
function fillHeat(context, px, py, xAxis, yAxisOf, xs, ys, tint) {
  if (xAxis.count === null && yAxisOf.count === null) {
    const small = make("canvas", { width: xs.length, height: ys.length });
    const pixels = small.getContext("2d");
    ys.forEach((_, j) => xs.forEach((__, i) => {
      pixels.fillStyle = tint(i, j);
      pixels.fillRect(i, ys.length - 1 - j, 1, 1);
    }));
    context.imageSmoothingQuality = "high"; // half a pixel is cut off, so that the grid ends with the axes
    context.drawImage(small, 0.5, 0.5, xs.length - 1, ys.length - 1, px(0), py(1), px(1) - px(0), py(0) - py(1));
    return;
  }
  const edges = (places) => [0, ...places.slice(1).map((p, i) => (p + places[i]) / 2), 1];
  const [ex, ey] = [edges(xs), edges(ys)];
  ys.forEach((_, j) => xs.forEach((__, i) => {
    context.fillStyle = tint(i, j);
    const [a, b] = [ex[i], ex[i + 1]].map((u) => Math.round(px(u))); // whole pixels leave no seams
    const [c, d] = [ey[j + 1], ey[j]].map((u) => Math.round(py(u)));
    context.fillRect(a, c, b - a, d - c);
  }));
}

/** A sentence about those parameters that do not exist with the options of the trial. */
function absentOf(chosen, row) {
  const absent = chosen.filter((d) => Number.isNaN(units[d][row])).map((d) => `${parameters[d].name} exists only with ${parameters[d].when}.`);
  return absent.length ? ` ${absent.join(" ")}` : "";
}

function drawHeat(context, width, height, across, up, what, centre, said) {
  const [xAxis, yAxisOf] = [axes[across], axes[up]];
  if (across === up) {
    frame(context, width, height, xAxis, { name: "", ticks: () => [] }, { right: 96 });
    said.textContent = "Choose two different parameters.";
    return [];
  }
  const xs = gridOf(xAxis, heatPlaces(what));
  const ys = gridOf(yAxisOf, heatPlaces(what));
  const found = heatValues(across, up, what, centre, xs, ys);
  const flat = found.flat();
  let [least, most] = [flat.reduce((a, b) => Math.min(a, b)), flat.reduce((a, b) => Math.max(a, b))];
  const shade = what === "mean" && state.scale !== "linear" ? (v) => currentScale.at(v) : (v) => v;
  const [from, to] = [shade(least), shade(most)];
  const share = (v) => (to > from ? (shade(v) - from) / (to - from) : 0.5);
  const tint = (v) => colour(what === "mean" && sign > 0 ? 1 - share(v) : share(v));
  const { px, py, box } = frame(context, width, height, xAxis, yAxisOf, { right: 96 });
  fillHeat(context, px, py, xAxis, yAxisOf, xs, ys, (i, j) => tint(found[j][i]));
  if (report.limits.length) {
    const places = [gridOf(xAxis, heatPlaces("mean")), gridOf(yAxisOf, heatPlaces("mean"))];
    const zeros = heatZeros(across, up, centre, ...places);
    veilHeat(context, px, py, xAxis, yAxisOf, ...places, zeros);
    if (xAxis.count === null && yAxisOf.count === null) drawHeatZeros(context, px, py, ...places, zeros);
  }
  // the key
  const left = box.right + 14;
  for (let i = 0; i < 64; i += 1) {
    const part = (i + 0.5) / 64;
    context.fillStyle = colour(what === "mean" && sign > 0 ? 1 - part : part);
    const h = (box.bottom - box.top) / 64;
    context.fillRect(left, box.bottom - (i + 1) * h, 12, h + 1);
  }
  context.fillStyle = colours.soft;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const keyed = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    let [a, b] = [least, most];
    for (let n = 0; n < 60; n += 1) { // bisection for the value at this position of the key
      const middle = (a + b) / 2;
      if (share(middle) < part) a = middle;
      else b = middle;
    }
    return [part, part === 0 ? least : part === 1 ? most : (a + b) / 2];
  });
  for (const [part, value] of keyed) {
    context.fillText(text(value * size, 3), left + 17, box.bottom - part * (box.bottom - box.top));
  }
  const placed = [];
  for (const row of drawnPoints) {
    const [x, y] = [px(units[across][row]), py(units[up][row])];
    if (Number.isNaN(x) || Number.isNaN(y)) continue;
    context.fillStyle = colours.card;
    context.strokeStyle = colours.warn;
    if (trials.state[row] === "i") {
      context.fillRect(x - 3, y - 3, 6, 6);
      square(context, x, y, 2.5);
    } else dot(context, x, y, 2.6);
    context.fillStyle = colours.ink;
    if (trials.state[row] !== "i") dot(context, x, y, 1.6);
    placed.push([row, x, y]);
  }
  ring(context, px(units[across][centre]), py(units[up][centre]));
  said.textContent = `${what === "mean" ? "Expected value" : "Uncertainty"} from ${text(least * size)} to ${text(most * size)} over ${parameters[across].name} and ${parameters[up].name}, with the others as in ${trialName(centre)}.${report.limits.length ? " The faded part is where the model expects a constraint to be violated." : ""}${absentOf([across, up], centre)}`;
  return placed;
}

// The table of trials, page by page; it can be sorted by any column and filtered by text, state and range.

const PAGE = 50;

function buildTable() {
  const host = body("trials");
  if (!rows) {
    host.append(note("No trial has been started yet."));
    return;
  }
  const columns = [
    { name: "trial", key: (row) => trials.number[row] ?? -1, cell: (row) => (trials.number[row] === null ? "–" : String(trials.number[row])), number: true },
    ...(report.objectives.length ? report.objectives.map(({ name, value }) => ({ name, key: (row) => value[row] ?? NaN, cell: (row) => text(value[row], 8), number: true }))
      : [{ name: "value", key: (row) => values[row], cell: (row) => text(trials.value[row], 8 + commonDigits(smallest, largest)), number: true }]),
    ...(report.objectives.length ? [{ name: "front", key: (row) => (report.front.includes(row) ? "yes" : ""), cell: (row) => (report.front.includes(row) ? "yes" : "") }] : []),
    { name: "state", key: (row) => STATES[trials.state[row]], cell: (row) => STATES[trials.state[row]] },
    ...report.constraints.map((name, i) => ({
      name,
      key: (row) => trials.measured[i][row] ?? NaN,
      cell: (row) => text(trials.measured[i][row]),
      number: true,
    })),
    ...parameters.map((p, i) => ({
      name: p.name,
      key: (row) => trials.params[i][row] ?? NaN,
      cell: (row) => (trials.params[i][row] === null ? "" : axes[i].show(trials.params[i][row])),
      number: p.kind !== "Choice",
    })),
    ...report.extras.map((name, i) => {
      const number = trials.extras[i].some((each) => typeof each === "number");
      const shown = (each) => (typeof each === "number" ? text(each) : each === null ? "" : String(each));
      return {
        name,
        key: (row) => (number ? (typeof trials.extras[i][row] === "number" ? trials.extras[i][row] : NaN) : shown(trials.extras[i][row])),
        cell: (row) => shown(trials.extras[i][row]),
        number,
      };
    }),
    ...(trials.origin.some((each) => each) ? [{ name: "origin", key: (row) => trials.origin[row] ?? "", cell: (row) => trials.origin[row] ?? "" }] : []),
    { name: "took", key: (row) => trials.took[row] ?? NaN, cell: (row) => duration(trials.took[row]), number: true },
  ];
  if (report.messages.length) {
    columns.push({ name: "message", key: messageOf, cell: messageOf, message: true });
  }
  const order = { column: 0, down: false };
  let page = 0;
  const search = make("input", { id: "table-search", type: "search", placeholder: "text in any column" });
  const which = select("table-state", [["", "all"], ...["d", "s", "c", "i", "f", "o", "g"].filter(count).map((s) => [s, STATES[s]])], "");
  const brushed = make("input", { id: "table-brushed", type: "checkbox", checked: true });
  host.append(make("div", { class: "controls-row" }, labelled("Filter", search), labelled("State", which),
    make("label", {}, brushed, " only selected ranges")));
  const head = make("tr");
  const lines = make("tbody");
  const counted = make("p", { class: "note", id: "table-count", role: "status" });
  const buttons = columns.map((column, i) => {
    const button = make("button", { type: "button", class: "sort" }, column.name);
    const cell = make("th", { scope: "col", class: column.number ? "number" : "" }, button);
    button.addEventListener("click", () => {
      order.down = order.column === i ? !order.down : false;
      order.column = i;
      page = 0;
      fill();
    });
    head.append(cell);
    return cell;
  });
  const table = make("table", { id: "table", class: "trials" }, make("caption", { class: "hidden" }, "Every trial"), make("thead", {}, head), lines);
  const before = make("button", { type: "button", id: "table-before" }, "← Previous");
  const after = make("button", { type: "button", id: "table-after" }, "Next →");
  host.append(make("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Table of trials" }, table),
    make("div", { class: "controls-row" }, before, after, counted));
  if (report.notes.messages) host.append(note(report.notes.messages));

  function messageOf(row) {
    return row in trials.message ? report.messages[trials.message[row]] : "";
  }

  /** Empty and unknown keys come last in either direction. */
  function compare(a, b) {
    const { key } = columns[order.column];
    const [x, y] = [key(a), key(b)];
    const [noX, noY] = [Number.isNaN(x) || x === "", Number.isNaN(y) || y === ""];
    if (noX || noY) return noX - noY || a - b;
    const found = x < y ? -1 : Number(x > y);
    return (order.down ? -found : found) || a - b;
  }

  let texts = [];
  let textsOf = trials;

  function textOf(row) {
    if (textsOf !== trials) [texts, textsOf] = [[], trials]; // new data: rows may have changed
    texts[row] ??= columns.map((column) => column.cell(row)).join("\n").toLowerCase();
    return texts[row];
  }

  function matching() {
    const words = search.value.trim().toLowerCase();
    return allRows.filter((row) => (!which.value || trials.state[row] === which.value)
      && (!brushed.checked || selected[row])
      && (!words || textOf(row).includes(words)));
  }

  function fill() {
    const found = matching().sort(compare);
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(page, pages - 1);
    buttons.forEach((cell, i) => {
      cell.setAttribute("aria-sort", i !== order.column ? "none" : order.down ? "descending" : "ascending");
    });
    lines.replaceChildren(...found.slice(page * PAGE, (page + 1) * PAGE).map(tableRow));
    counted.textContent = found.length
      ? `${(page * PAGE + 1).toLocaleString("en")} to ${Math.min((page + 1) * PAGE, found.length).toLocaleString("en")} of ${found.length.toLocaleString("en")} trials`
      : "No trial matches the filter.";
    before.disabled = page === 0;
    after.disabled = page === pages - 1;
  }

  function tableRow(row) {
    const line = make("tr", { class: `${STATES[trials.state[row]]}${row === bestRow ? " is-best" : ""}` });
    if (trials.asked[row] !== null) line.title = `asked ${moment(trials.start + trials.asked[row])}`;
    columns.forEach((column) => {
      const shown = column.cell(row);
      const cell = make("td", { class: column.number ? "number" : column.message ? "message" : "" });
      if (column.message && shown.length > 90) {
        cell.append(make("details", {}, make("summary", {}, `${shown.slice(0, 90)}…`), make("pre", {}, shown)));
      } else if (column.name === "state" && !column.number) {
        cell.append(make("span", { class: `badge ${shown}` }, shown));
      } else cell.append(shown);
      line.append(cell);
    });
    return line;
  }

  const again = () => {
    page = 0;
    fill();
  };
  search.addEventListener("input", again);
  which.addEventListener("change", again);
  brushed.addEventListener("change", again);
  before.addEventListener("click", () => { page -= 1; fill(); });
  after.addEventListener("click", () => { page += 1; fill(); });
  watch(fill);
}

function buildSettings() {
  const host = body("settings");
  const groups = make("div", { class: "groups" });
  for (const [name, pairs] of report.settings) {
    const list = make("dl");
    pairs.forEach(([key, value]) => list.append(make("dt", {}, key), make("dd", {}, value)));
    groups.append(make("div", {}, make("h3", {}, name), list));
  }
  const list = make("dl");
  parameters.forEach((p) => {
    const range = p.kind === "Choice" ? `one of ${p.options.join(", ")}` : `${p.kind === "Int" ? "integer, " : ""}${p.low} to ${p.high}${p.log ? ", log" : ""}${p.step && !(p.kind === "Int" && p.step === 1) ? `, in steps of ${p.step}` : ""}`;
    list.append(make("dt", {}, p.name), make("dd", {}, p.when ? `${range}; only with ${p.when}` : range));
  });
  groups.append(make("div", {}, make("h3", {}, "Space"), list));
  host.append(groups);
}

// The controls of the whole page, and its parts; an error in one part does not affect the others.

const scaleSelect = document.getElementById("scale");

function offerScales() {
  scaleSelect.replaceChildren(...scales.map(([value, name]) => make("option", { value }, name)));
  scaleSelect.value = state.scale;
  scaleSelect.disabled = scales.length === 1;
}

scaleSelect.addEventListener("change", () => {
  state.scale = scaleSelect.value;
  state.filters.delete(dim); // its ends are positions on the old scale
  refreshScale();
  changed();
});

const objectiveSelect = document.getElementById("objective");

function offerObjectives() {
  const { objectives } = everything;
  objectiveSelect.closest("label").hidden = !objectives.length;
  objectiveSelect.replaceChildren(...objectives.map(({ name, direction }, i) => make("option", { value: String(i) }, `${name} (${direction})`)));
  objectiveSelect.value = String(state.objective);
}

objectiveSelect.addEventListener("change", () => {
  state.objective = Number(objectiveSelect.value);
  state.filters.delete(dim); // its ends are positions on the scale of the other objective
  load(everything);
  offerScales();
  fillParts();
  changed();
});

const themeSelect = document.getElementById("theme");
themeSelect.addEventListener("change", () => {
  if (themeSelect.value) document.documentElement.dataset.theme = themeSelect.value;
  else delete document.documentElement.dataset.theme;
  refreshTheme();
  changed();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  refreshTheme();
  changed();
});
addEventListener("scroll", hideTip, { passive: true });
addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});

for (const type of ["change", "input"]) {
  document.addEventListener(type, ({ target: { id, value, checked } }) => {
    if (id) used.set(id, { type, value, checked });
  });
}

const first = JSON.parse(document.getElementById("data").textContent);

let parts = {};

function fillParts() {
  for (const [section, fill] of Object.entries(parts)) build(section, fill);
}

/** Show this data; `more` maps further sections to the functions that fill them. */
function start(data, more = {}) {
  load(data);
  refreshTheme();
  offerScales();
  offerObjectives();
  if (!report.objectives.length) document.getElementById("front").remove();
  const stepwise = Object.keys(trials.curves ?? {}).length > 0 || report.stepwise;
  if (!stepwise) document.getElementById("curves").remove();
  buildHeader();
  parts = { best: buildBest, ...(report.objectives.length ? { front: buildFront } : {}), ...more, convergence: buildConvergence, ...(stepwise ? { curves: buildCurves } : {}), parallel: buildParallel,
    parameters: buildParameters, importance: buildImportance, slices: buildSlices,
    partition: buildPartition, trials: buildTable, settings: buildSettings };
  fillParts();
  changed();
  requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.ready = "yes"; }));
}

/** The page's own computations, for the tests. */
window.bamsooReport = {
  get report() { return report; },
  get axes() { return axes; },
  get scale() { return currentScale; },
  get values() { return { smallest, bestTold, largest }; },
  get best() { return bestRow; },
  posterior,
  limitPosteriors,
  goodness,
  swing,
  pointOf,
  state,
  selectedCount: () => selectedCount,
};
