// The title, and the best point with the numbers of the whole search.

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
  tiles.append(tile("evaluations", grouped(evaluated),
    report.budget ? report.cost === null ? `of a budget of ${grouped(report.budget)}` : `cost ${text(report.cost, 4)} of ${grouped(report.budget)} full evaluations` : ""));
  if (report.objectives.length) tiles.append(tile("on the front", grouped(report.front.length), "no other evaluation is better in everything"));
  const out = count("o");
  tiles.append(tile("failed", grouped(count("f")), out ? `and ${out} pending` : ""));
  for (const [letter, words] of [["s", "ended early because they could not win"], ["c", "evaluated below the top of the fidelity"],
    ["i", "gave a value but violated a constraint"], ["g", "evaluated elsewhere"]]) {
    if (count(letter)) tiles.append(tile(STATES[letter], grouped(count(letter)), words));
  }
  const seen = report.seen < rows ? ` after ${grouped(report.seen)} trials` : "";
  if (report.gap === "unknown") tiles.append(tile("left to gain", "unknown", `the model has no useful bound${seen}`));
  else if (report.gap !== null) tiles.append(tile("left to gain", text(report.gap, 3), `at most, by the model’s bound${seen}`));
  if (report.partition.rejected) {
    tiles.append(tile("rejected", grouped(report.partition.rejected), "cells skipped because of the model’s bounds"));
  }
  if (took.length) {
    tiles.append(tile("time per evaluation", duration(took[Math.floor(took.length / 2)]),
      `median; longest ${duration(took[took.length - 1])}`));
  }
  host.append(tiles);
  if (report.notes.best) host.append(note(report.notes.best));
  if (!report.best) return;
  const said = (words) => make("span", { class: "range-text" }, words);
  const lines = parameters.map((p, i) => {
    if (report.best.params[i] === null) {
      return tableRow(p.name, numberCell("–"), make("td", {}, said(`only with ${p.when}`)), make("td"));
    }
    const close = report.ranges ? report.ranges.of[i] : null;
    const track = make("span", { class: "track" }, ...closeBars(i, close));
    const knob = make("span", { class: "knob" });
    knob.style.left = `${100 * units[i][bestRow]}%`;
    const range = p.kind === "Choice" ? `one of ${p.options.length}` : `${text(p.low)} to ${text(p.high)}${grainOf(p)}`;
    track.append(knob);
    return tableRow(p.name, numberCell(report.best.params[i]),
      make("td", {}, make("div", { class: "range" }, track, said(range))), make("td", { class: "close-text" }, closeText(i, close)));
  });
  report.constraints.forEach((name, i) => {
    const measured = trials.measured[i][bestRow];
    lines.push(tableRow(name, numberCell(measured === null ? "–" : text(measured, 8)), make("td", {}, said("constraint, at most 0")), make("td")));
  });
  const within = report.ranges ? `stays within ${text(report.ranges.within, 2)} of the best` : "";
  host.append(scrolling(table({ class: "best" }, ["parameter", "value", "position in its range", within], lines)));
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
  return [...counts].sort((a, b) => b[1] - a[1]).map(([origin, number]) => `${grouped(number)} ${ORIGINS[origin] ?? origin}`).join(", ");
}

/** Which part of a search asks for a point, in words. */
const ORIGINS = { tree: "from the tree", local: "local steps", candidate: "candidates", design: "of the first design", given: "given by you", model: "from the model", random: "at random", repeat: "repeated" };
