// The model's predictions along each parameter, and over any two, through a trial that can be chosen.

function buildSlices() {
  const host = body("slices");
  if (report.model.reason) return host.append(note(report.model.reason));
  const model = posterior();
  host.append(note(`${report.model.says} The line is the median, and the band contains 95 % of the probability${report.model.noise > 0 ? " for the function itself, without measurement noise" : ""}.`));
  if (report.notes.model) host.append(note(report.notes.model));
  const options = withValue.filter((row) => trials.number[row] !== null);
  const through = make("input", { id: "slice-through", type: "number", min: "0", max: String(rows - 1), step: "1",
    value: String(trials.number[centreRow()] ?? "") });
  let centre = centreRow();
  const back = make("button", { type: "button" }, bestRow === null ? "Least violation" : "Best trial");
  const shown = select("slice-what", [["", report.name ?? "value"], ...report.numbers.map(({ name }) => [name, name])], "");
  host.append(make("div", { class: "controls-row" }, labelled("Slices through trial", through), back,
    ...(report.numbers.length ? [labelled("of", shown)] : [])));
  const grid = make("div", { class: "grid" });
  const absent = note("");
  host.append(grid, absent);
  if (report.limits.length) {
    host.append(legend([["shaded", "where the model expects a constraint to be violated"], ["dashed", `where it expects the constraint to be at its limit (${report.limits.map((limit) => limit.name).join(", ")})`]]));
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
    const of = shown.value ? numberPosterior(shown.value) : model;
    bands = places.map((along, i) => {
      const at = pointOf(centre);
      return along.map((u) => {
        at[i] = u;
        return of.band(at, 1.96);
      });
    });
  };
  const here = () => (shown.value ? numberColumn(shown.value)[centre] : values[centre]);
  compute();
  const panels = axes.map((axis, i) => {
    const panel = canvas(grid, {
      id: `slice-${i}`,
      height: 210,
      label: `The model along ${axis.name}`,
      draw(context, width, height) {
        drawSlice(context, width, height, axis, places[i], bands[i], [units[i][centre], here()], shown.value ? numberScale(bands, here()) : sliceScale(bands), zeros[i], shown.value);
      },
    });
    panel.removeAttribute("tabindex");
    return panel;
  });
  /** Only the parameters that exist for the trial have a panel; the others are named. */
  const arrange = () => {
    const [own, others] = ownAndOther(centre);
    panels.forEach((panel, i) => { panel.hidden = !own.includes(i); });
    absent.textContent = others.length ? `Not with the options of ${trialName(centre)}: ${others.map((i) => parameters[i].name).join(", ")}.` : "";
  };
  arrange();

  const go = (row) => {
    centre = row;
    compute();
    arrange();
    changed();
  };
  shown.addEventListener("change", () => go(centre));
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
  const there = ownAndOther(centre)[0];
  // First those that exist there, then those with an order: a map over options is hard to read.
  const rank = (i) => 2 * Number(there.includes(i)) + Number(!parameters[i].options) + report.model.importance[i];
  const ranked = [...axes.keys()].sort((a, b) => rank(b) - rank(a)); // shares are at most 1
  const x = select("heat-x", names, Math.min(ranked[0], ranked[1]));
  const y = select("heat-y", names, Math.max(ranked[0], ranked[1]));
  const what = select("heat-what", [["mean", "expected value"], ["sigma", "uncertainty (half the 68 % band)"],
    ...report.numbers.map(({ name }) => [`number:${name}`, name])], "mean");
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
  return what !== "sigma" ? 60 : Math.max(15, Math.min(60, Math.floor(2e4 / posterior().points.length)));
}

/** The scale of the values, extended to include the medians unless they are far outside. */
function sliceScale(bands) {
  const medians = bands.flat().map((band) => band[1]);
  const room = 2 * (largest - smallest);
  const low = Math.max(medians.reduce((a, b) => Math.min(a, b), smallest), smallest - room);
  const high = Math.min(medians.reduce((a, b) => Math.max(a, b), largest), largest + room);
  return valueScale(state.scale === "linear" ? low : smallest, high);
}

/** A linear scale for the predictions of a measured number. */
function numberScale(bands, here) {
  const all = [...bands.flat().map((band) => band[1]), ...(Number.isFinite(here) ? [here] : [])];
  const [low, high] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  const spread = high > low ? high - low : Math.abs(low) || 1;
  const [from, to] = [low - 0.08 * spread, high + 0.08 * spread];
  const at = (v) => (v - from) / (to - from);
  return { at, ticks: (about) => ticksAt(niceTicks(from, to, about ?? 5), at) };
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

function drawSlice(context, width, height, axis, places, bands, [at, value], scale, zeros, name) {
  const { px, py, box } = frame(context, width, height, axis, yAxis(name, scale));
  const x = (j) => px(places[j]);
  const y = (v) => py(Math.min(Math.max(scale.at(v), -2), 3));
  clip(context, box);
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
  if (Number.isFinite(value)) ring(context, px(at), y(value));
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

/** The lines along which a constraint is expected to be at its limit. */
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

/** The map’s values, NaN where a parameter does not exist; cached until something else is shown. */
function heatValues(across, up, what, centre, xs, ys) {
  const key = [across, up, what, centre, size].join();
  if (lastHeat.key === key && lastHeat.model === report.model) return lastHeat.found;
  const at = pointOf(centre);
  const of = what.startsWith("number:") ? numberPosterior(what.slice(7)) : null;
  const found = ys.map((v) => xs.map((u) => {
    at[across] = u;
    at[up] = v;
    const there = existing(at);
    if (!there[across] || !there[up]) return NaN;
    if (of) return of.value(of.mean(at)) / size;
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

/** A sentence about those parameters that do not exist everywhere. */
function existsOnly(chosen) {
  return chosen.filter((d) => parameters[d].when).map((d) => `${parameters[d].name} exists only with ${parameters[d].when}`).join("; ");
}

/** Say in the largest empty part of a map why it is empty. */
function explainGap(context, box, xs, ys, found, words) {
  const longest = (empty) => { // the longest run of empty columns or rows, as its ends from 0 to 1
    let [best, start] = [[0, 0], 0];
    for (let i = 0; i <= empty.length; i += 1) {
      if (empty[i]) continue;
      if (i - start > best[1] - best[0]) best = [start, i];
      start = i + 1;
    }
    return best.map((end) => end / empty.length);
  };
  const across = longest(xs.map((_, i) => found.every((row) => Number.isNaN(row[i]))));
  const up = longest(found.map((row) => row.every(Number.isNaN)));
  const [w, h] = [box.right - box.left, box.bottom - box.top];
  const upright = across[1] > across[0];
  context.fillStyle = colours.soft;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const place = upright ? [box.left + (w * (across[0] + across[1])) / 2, box.top + h / 2] : [box.left + w / 2, box.bottom - (h * (up[0] + up[1])) / 2];
  const room = upright ? w * (across[1] - across[0]) - 8 : w - 8;
  const lines = words.split("; ").flatMap((line) => wrapped(context, line, room));
  lines.forEach((line, i) => context.fillText(fitted(context, line, room), place[0], place[1] + 15 * (i - (lines.length - 1) / 2)));
}

/** The scale of the colours of expected values: that of the values, from the least to the largest one. */
function heatScale(least, most) {
  return innerScale(state.scale === "log" ? Math.max(least, smallest) : least, most);
}

function drawHeat(context, width, height, across, up, what, centre, said) {
  const [xAxis, yAxisOf] = [axes[across], axes[up]];
  if (across === up) {
    frame(context, width, height, xAxis, NO_AXIS);
    said.textContent = "Choose two different parameters.";
    return [];
  }
  const xs = gridOf(xAxis, heatPlaces(what));
  const ys = gridOf(yAxisOf, heatPlaces(what));
  const found = heatValues(across, up, what, centre, xs, ys);
  const flat = found.flat().filter((v) => !Number.isNaN(v));
  const [least, most] = [flat.reduce((a, b) => Math.min(a, b), Infinity), flat.reduce((a, b) => Math.max(a, b), -Infinity)];
  const shades = what === "mean" ? heatScale(least, most) : evenScale(least, most);
  const tint = (v) => (Number.isNaN(v) ? colours.cell : colour(what === "mean" && sign > 0 ? 1 - shades.at(v) : shades.at(v)));
  const keyed = shades.ticks(6);
  const right = 14 + 12 + 5 + Math.max(widest(context, keyed.marks), context.measureText(keyed.offset).width - 17) + 4;
  const { px, py, box } = frame(context, width, height, xAxis, yAxisOf, { right, top: keyed.offset ? 22 : 12 });
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
  for (const { at, label } of keyed.marks) context.fillText(label, left + 17, box.bottom - at * (box.bottom - box.top));
  if (keyed.offset) context.fillText(keyed.offset, left, box.top - 8);
  const words = existsOnly([across, up]);
  if (flat.length < xs.length * ys.length) explainGap(context, box, xs, ys, found, words);
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
  const title = what === "mean" ? "Expected value" : what === "sigma" ? "Uncertainty" : `Expected ${what.slice(7)}`;
  const range = flat.length ? ` from ${fromTo(least * size, most * size)}` : "";
  said.textContent = `${title}${range} over ${parameters[across].name} and ${parameters[up].name}, with the others as in ${trialName(centre)}.${report.limits.length ? " The faded part is where the model expects a constraint to be violated." : ""}${words ? ` ${words}.` : ""}`;
  return placed;
}
