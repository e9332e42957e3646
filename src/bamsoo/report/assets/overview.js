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
