// The title, and the best point with the numbers of the whole search.

function tile(name, value, detail = "") {
  return make("div", { class: "tile" }, make("span", { class: "tile-name" }, name),
    make("span", { class: "tile-value" }, value), make("span", { class: "tile-detail" }, detail));
}

function buildHeader() {
  document.getElementById("title").textContent = report.title;
  const algorithm = report.settings[0][1].find(([name]) => name === "algorithm")[1];
  const aims = report.objectives.map(({ name, direction }) => `${direction} ${name}`).join(", ");
  const parts = [`${aims || report.direction} with ${algorithm}`, `${dim} parameter${dim === 1 ? "" : "s"}`];
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
  const asked = (letters) => allRows.filter((row) => trials.number[row] !== null && letters.includes(trials.state[row])).length;
  const given = allRows.filter((row) => trials.number[row] === null).length;
  const tiles = make("div", { class: "tiles" });
  const took = trials.took.filter((s) => s !== null).sort((a, b) => a - b);
  const seen = report.seen < rows ? ` after ${grouped(report.seen)} trials` : "";
  if (report.best) {
    const told = report.best.told === report.best.value ? "" : `; measured value ${text(trials.value[bestRow], 8)}`;
    tiles.append(tile(report.objectives.length ? `best ${report.name}` : "best value", valueText(Number(report.best.value), 8), `${trialName(bestRow)}, exactly ${report.best.value}${told}`));
  } else tiles.append(tile("best value", "none", !rows ? "nothing has been evaluated yet" : count("i") ? "no feasible point has been found yet" : "no evaluation has returned a value yet"));
  if (report.best && report.expected) {
    const [low, high] = report.expected;
    const where = "the best value of the whole space lies";
    const value = Number(report.best.value);
    const near = !report.tol && commonDigits(low, high) > NEAR;
    tiles.append(tile("expected best value", near ? valueText(value, 8) : valueRange(low, high),
      near ? `${where} within ${text(Math.max(high - value, value - low), 2)} of that with 90 %, by the models${seen}` : `${where} there with 90 %, by the models${seen}`));
  }
  const idle = sinceGain(report.tol ?? 0);
  if (idle !== null) tiles.append(tile("since the last gain", grouped(idle), `evaluation${idle === 1 ? "" : "s"}${sinceOf()}`));
  tiles.append(tile("evaluations", grouped(asked("discf")),
    report.budget ? report.cost === null ? `of a budget of ${grouped(report.budget)}` : `cost ${text(report.cost, 4)} of ${grouped(report.budget)} full evaluations` : ""));
  if (report.objectives.length) {
    const values = new Set(report.front.map((row) => report.objectives.map((each) => each.value[row]).join()));
    tiles.append(tile("on the front", grouped(values.size), "no other evaluation is better in everything; equal ones count once"));
  }
  const out = count("o");
  tiles.append(tile("failed", grouped(asked("f")), out ? `and ${out} pending` : ""));
  for (const [letter, words] of [["s", report.stopped], ["c", "evaluated below the top of the fidelity"],
    ["i", "gave a value but violated a constraint"]]) {
    if (asked(letter)) tiles.append(tile(STATES[letter], grouped(asked(letter)), words));
  }
  if (given) tiles.append(tile(STATES.g, grouped(given), "evaluated elsewhere"));
  if (report.gap === "unknown") {
    if (!report.expected) tiles.append(tile("left to gain", "unknown", `the search’s own bound says nothing useful${seen}`));
  } else if (report.gap !== null) tiles.append(tile("left to gain", grouped(text(report.gap, 3)), `at most, by the search’s own bound${seen}`));
  if (report.partition.rejected) {
    tiles.append(tile("rejected", grouped(report.partition.rejected), "cells skipped because of the model’s bounds"));
  }
  if (took.length) {
    tiles.append(tile("time per evaluation", duration(took[Math.floor(took.length / 2)]),
      `median; longest ${duration(took[took.length - 1])}`));
  }
  host.append(tiles);
  if (report.notes.best) host.append(note(report.notes.best));
  if (!report.best) {
    if (report.least) host.append(...leastViolating());
    return;
  }
  const said = (words) => make("span", { class: "range-text" }, words);
  const levels = report.ranges?.levels;
  const within = select("within", (levels ?? []).map((each, k) => [k, grouped(text(each.within, 2))]), Math.min(1, (levels ?? [0]).length - 1));
  const known = levels !== undefined;
  const redrawn = [];
  const [own, others] = ownAndOther(bestRow);
  const lines = own.map((i) => {
    const p = parameters[i];
    const track = make("span", { class: "track" });
    const knob = make("span", { class: "knob" });
    knob.style.left = `${100 * units[i][bestRow]}%`;
    const range = p.options ? `one of ${p.options.length}` : `${fromTo(p.low, p.high)}${grainOf(p)}`;
    const cell = make("td", { class: "close-text" });
    redrawn.push(() => {
      const close = known ? levels[Number(within.value)].of[i] : null;
      track.replaceChildren(...closeBars(i, close), knob);
      cell.textContent = closeText(i, close);
    });
    const value = numberCell(shownParameter(i, bestRow));
    value.title = report.best.params[i];
    return tableRow(p.name, value,
      make("td", {}, make("div", { class: "range" }, track, said(range))), cell);
  });
  const redraw = () => redrawn.forEach((each) => each());
  within.addEventListener("change", redraw);
  redraw();
  lines.push(...measuredAt(bestRow));
  const heading = known ? make("label", {}, "stays within ", within, " of the best") : "";
  host.append(scrolling(table({ class: "best" }, ["parameter", "value", "position in its range", heading], lines)));
  const exact = own.map((i) => `${parameters[i].name} = ${report.best.params[i]}`).join("\n");
  const shortened = own.some((i) => !parameters[i].options && Number(shownParameter(i, bestRow)) !== Number(report.best.params[i]));
  host.append(otherOptions(others, table({ class: "best" }, ["parameter", "exists"], others.map((i) => tableRow(parameters[i].name, make("td", {}, `only with ${parameters[i].when}`))))));
  if (shortened) host.append(make("details", { class: "exact" }, make("summary", {}, "All digits of the best point"), make("pre", {}, exact)));
  const met = report.constrained ? " and every constraint is met" : "";
  if (known) host.append(note(`The bars show where the models are at least 90 % sure that the value stays that close to the best${met} if the other parameters keep their best values. The percentage is the smallest probability over the bar. For errors in several parameters at once, r.robust in Python finds the point that tolerates them best.`));
  if (report.active) host.append(make("h3", {}, "What limits the best point"), ...limitedBy());
  if (report.ranges?.lost) host.append(note(`How far each parameter may move is not shown: the constraint ${report.ranges.lost} is a Python function, which the study does not contain.`));
  const origins = spentOn();
  if (origins) host.append(note(`Evaluations: ${origins}.`));
}

/** A value with the digits that `tol` justifies, or without it with this many digits. */
function valueText(value, digits) {
  if (!report.tol) return grouped(text(value, digits));
  const last = -Math.floor(Math.log10(report.tol));
  return grouped(last >= 0 ? value.toFixed(Math.min(last, 15)) : String(Math.round(value * 10 ** last) / 10 ** last));
}

/** Ends with more leading digits in common than this are hard to tell apart. */
const NEAR = 7;

/** The ends of a range of values. */
function valueRange(low, high) {
  const [a, b] = report.tol ? [low, high].map((end) => valueText(end, 8)) : [fromTo(low, high, 2), ""];
  return !b || a === b ? a : `${a} to ${b}`;
}

/** The number of evaluations since the best value last improved by at least this much; null if it never has. */
function sinceGain(least) {
  if (report.objectives.length) return null;
  let [top, since] = [Infinity, null];
  for (const row of allRows) {
    if (trials.number[row] === null || !"dsif".includes(trials.state[row])) continue;
    const value = trials.state[row] === "d" && trials.value[row] !== null ? sign * trials.value[row] : Infinity;
    if (value < top && !(top - value < least)) [top, since] = [value, 0];
    else if (since !== null) since += 1;
  }
  return since;
}

/** Which gains count; without `tol`, any gain does, and also what would count as one that matters. */
function sinceOf() {
  if (report.tol) return `; gains below ${grouped(text(report.tol))} do not count`;
  const least = report.ranges?.levels?.[0].within;
  const since = least ? sinceGain(least) : null;
  return since === null || since === sinceGain(0) ? "" : `; ${grouped(since)} since gains of ${grouped(text(least))} or more`;
}

/** What holds the best point, with a slider for each limit that could be moved. */
function limitedBy() {
  const failed = report.failed_nearby;
  const nearby = failed === null ? [] : [note(`Failures: ${trialName(failed)} was close to the best point and failed, and the models expect a better value there.`)];
  if (!report.active.length && failed !== null) return nearby;
  if (!report.active.length) return [note("Nothing: the models expect no gain from a wider limit, or from a wider range of a real parameter.")];
  const items = report.active.map(({ limit, price, uncertainty, slack, name }) => make("li", {},
    `limited by ${limit} (price ${grouped(text(price, 3))} ± ${grouped(text(uncertainty, 2))} per unit of ${name}; slack ${text(slack, 2)})`));
  const sliders = report.what_if.map((each, k) => {
    const { steps, now } = each;
    const slider = make("input", { type: "range", id: `what-if-${k}`, min: "0", max: String(steps.length - 1), step: "1" });
    slider.value = String(now);
    const shown = make("output", { for: slider.id, class: "note" });
    const show = () => {
      const { bound, fun, low, high, params } = steps[Number(slider.value)];
      const where = parameters.map((p, i) => [p.name, params[i]]).filter(([, value]) => value !== "").map(([name, value]) => `${name} = ${value}`).join(", ");
      const gain = report.sign * (Number(report.best.value) - fun);
      const change = Number(slider.value) === now ? "" : `, which is ${grouped(text(Math.abs(gain), 3))} ${gain > 0 ? "better" : "worse"} than the best so far,`;
      shown.textContent = `With ${each.name} ${each.upper ? "≤" : "≥"} ${grouped(bound)}${change ? "" : ", as now"}, the models expect ${report.tol ? valueText(fun, 8) : grouped(text(fun, 3 + commonDigits(low, high)))} (${valueRange(low, high)})${change} at ${where}.`;
    };
    slider.addEventListener("input", show);
    show();
    return make("div", { class: "what-if" }, labelled(`Another limit: ${each.name} ${each.upper ? "≤" : "≥"}`, slider), shown);
  });
  return [make("ul", { class: "active" }, ...items), ...nearby,
    note("The price is what the value would gain per unit by which the limit is relaxed, by the models around the best point, with its standard deviation."), ...sliders];
}

/** While nothing is feasible: the evaluation that misses its limits by the least. */
function leastViolating() {
  const { row, by } = report.least;
  const missed = Object.entries(by).map(([limit, amount]) => `${limit} by ${text(amount, 3)}`).join(", ");
  const lines = parameters.map((p, i) => tableRow(p.name, numberCell(shownParameter(i, row) || "–"), make("td", { colspan: "2" })));
  lines.push(...measuredAt(row));
  return [note(`No point is feasible so far. ${trialName(row)[0].toUpperCase()}${trialName(row).slice(1)} violates least; it misses ${missed}.`),
    scrolling(table({ class: "best" }, ["parameter", "value", ""], lines))];
}

/** A line for each number that a trial measured or recorded. */
function measuredAt(row) {
  const line = (name, value, said) => tableRow(name, numberCell(value), make("td", { class: "close-text", colspan: "2" }, said));
  const limited = report.constraints.map(({ name, low, high }, i) => {
    const measured = trials.measured[i][row];
    const ends = [[low, "at least"], [high, "at most"]].filter(([end]) => end !== null);
    return line(name, measured === null ? "–" : text(measured, 6), `constraint, ${ends.map(([end, words]) => `${words} ${text(end)}`).join(" and ")}`);
  });
  const recorded = report.extras.map((name, i) => [name, trials.extras[i][row]]).filter(([, value]) => value !== null);
  return [...limited, ...recorded.map(([name, value]) => line(name, typeof value === "number" ? text(value, 6) : folded(String(value), 40), "recorded"))];
}

/** A range with a smaller share of the track would be hidden by the mark of the best value. */
const NARROW = 0.06;

/** The bars of a parameter’s track in which the value stays close to the best. */
function closeBars(i, close) {
  if (!close) return [];
  const { count: all, options, at } = axes[i];
  const half = all === null ? 0 : 0.5 / all;
  const parts = options ? close[0].map((option) => [at(option) - half, at(option) + half]) : [[at(close[0]) - half, at(close[1]) + half]];
  return parts.map(([from, to]) => {
    const [left, right] = [Math.max(from, 0), Math.min(to, 1)];
    const narrow = right - left < NARROW;
    const bar = make("span", { class: `close${narrow ? " narrow" : ""}` });
    bar.style.left = `${50 * (narrow ? left + right : 2 * left)}%`;
    if (!narrow) bar.style.width = `${100 * (right - left)}%`;
    return bar;
  });
}

function closeText(i, close) {
  if (!close) return "";
  const sure = `${Math.round(100 * close[close.length - 1])} %`;
  if (axes[i].options) return `${close[0].map((option) => parameters[i].options[option]).join(", ")} (${sure})`;
  return `${fromTo(close[0], close[1], 3)} (${sure})`;
}

/** What the search spent its evaluations on, in words; empty if that is not known. */
function spentOn() {
  const counts = new Map();
  trials.origin.forEach((origin, row) => {
    if (origin && trials.number[row] !== null) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  });
  return [...counts].sort((a, b) => b[1] - a[1]).map(([origin, number]) => `${grouped(number)} ${number === 1 ? ORIGIN[origin] ?? ORIGINS[origin] ?? origin : ORIGINS[origin] ?? origin}`).join(", ");
}

/** Which part of a search asks for a point, in words. */
const ORIGINS = { tree: "from the tree", local: "local steps", candidate: "candidates", design: "of the first design", given: "given by you", model: "from the model", random: "at random", repeat: "repeated" };

const ORIGIN = { local: "local step", candidate: "candidate" };
