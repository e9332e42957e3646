// Several objectives: each pair of them as a picture, with the front and what the models predict of it.

function buildFront() {
  const host = body("front");
  const { objectives, front } = report;
  if (!objectives.length) return;
  if (!front.length) return host.append(note("No evaluation has given values yet."));
  const pairs = objectives.flatMap((_, i) => objectives.map((__, j) => [i, j])).filter(([i, j]) => i < j);
  const grid = pairs.length > 1 ? make("div", { class: "grid" }) : host;
  if (pairs.length > 1) host.append(grid);
  const onFront = new Set(front);
  const distinct = distinctOf(front);
  state.preferred = null;
  pairs.forEach(([i, j]) => frontPicture(grid, i, j, onFront, pairs.length > 1 ? 280 : 380));
  const away = outside();
  const band = report.predicted ? [["line", "the front that the models predict, with one deviation on each side"]] : [];
  host.append(legend([["front", "on the front: no other evaluation is better in everything"], ["pale", "dominated"], ...infeasibleKey(), ...band]));
  if (away) host.append(note(`The axes show the front and what is near it; ${grouped(away)} evaluation${away === 1 ? " is" : "s are"} further away, and drawn at the edge.`));
  const chosen = make("div", { id: "front-chosen", class: "scroll" });
  if (distinct.length > 1) host.append(...preference(distinct));
  host.append(note("Click on a point to see its parameters here and to mark it in all other pictures."), chosen);
  const show = () => chosen.replaceChildren(...(state.pin === null || state.pin >= rows ? [] : [pinned(state.pin)]));
  watch(show);
}

/** The rows with different values, the first of each. */
function distinctOf(some) {
  const first = new Map();
  for (const row of some) {
    const key = report.objectives.map((each) => each.value[row]).join();
    if (!first.has(key)) first.set(key, row);
  }
  return [...first.values()];
}

/** The values of an objective that its axis shows: those of the front, and what is as near to it as the front is wide. */
function aroundFront({ value, sign: way }) {
  const own = report.front.map((row) => value[row]);
  const known = allRows.filter((row) => value[row] !== null && trials.state[row] !== "i").map((row) => value[row]);
  const [low, high] = [Math.min(...own), Math.max(...own)];
  if (!(high > low)) return known;
  const end = way > 0 ? high + (high - low) : low - (high - low);
  return [...own, ...known.filter((v) => (way > 0 ? v <= end : v >= end))];
}

/** The number of evaluations that are outside of the axes. */
function outside() {
  const ends = report.objectives.map((each) => {
    const numbers = aroundFront(each);
    return [Math.min(...numbers), Math.max(...numbers)];
  });
  return allRows.filter((row) => report.objectives.some(({ value }, i) => value[row] !== null && (value[row] < ends[i][0] || value[row] > ends[i][1]))).length;
}

/** A slider for each objective, which says how good it has to be at least; of what is left, one point is chosen. */
function preference(distinct) {
  const { objectives } = report;
  const sorted = objectives.map(({ value, sign: way }) => [...new Set(distinct.map((row) => value[row]))].sort((a, b) => way * (a - b)));
  const said = make("p", { class: "note", id: "prefer-said", role: "status" });
  const sliders = objectives.map((_, i) => make("input", { type: "range", id: `prefer-${i}`, min: "0", max: String(sorted[i].length - 1), step: "1", value: String(sorted[i].length - 1) }));
  const limits = objectives.map((_, i) => make("output", { for: `prefer-${i}` }));
  const show = (choose) => {
    const ends = sliders.map((slider, i) => sorted[i][Number(slider.value)]);
    limits.forEach((limit, i) => { limit.textContent = grouped(text(ends[i], 5)); });
    const left = distinct.filter((row) => objectives.every(({ value, sign: way }, i) => way * (value[row] - ends[i]) <= 0));
    state.preferred = new Set(left);
    // how far a point is from the best of each objective, in units of the range of the front
    const lack = (row) => Math.max(...objectives.map(({ value }, i) => Math.abs(value[row] - sorted[i][0]) / (Math.abs(sorted[i].at(-1) - sorted[i][0]) || 1)));
    const best = left.reduce((a, row) => (a === null || lack(row) < lack(a) ? row : a), null);
    said.textContent = best === null ? "No point of the front is as good as that in everything."
      : `${left.length} of the ${distinct.length} different points of the front ${left.length === 1 ? "is" : "are"} as good as that; ${trialName(best)} ${left.length === 1 ? "is the one" : "is the most balanced of them"}.`;
    if (!choose) return;
    state.pin = best;
    changed();
  };
  sliders.forEach((slider) => slider.addEventListener("input", () => show(true)));
  show(false);
  return [make("h3", {}, "Choose by preference"),
    make("div", { class: "prefer" }, ...objectives.map(({ name }, i) => make("div", { class: "what-if" }, labelled(`${name} no worse than`, sliders[i]), limits[i]))), said];
}

/** The parameters and values of the chosen trial. */
function pinned(row) {
  const lines = describeTrial(row).map(([name, shown]) => tableRow(name, numberCell(shown)));
  return make("table", { class: "best" }, make("caption", {}, trialName(row)), make("tbody", {}, ...lines));
}

/** An axis that holds these values, with a margin; logarithmic if they are positive and span decades. */
function linearAxis(name, numbers) {
  return fittingAxis(name, numbers, false);
}

function fittingAxis(name, numbers, mayLog = true) {
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const logged = mayLog && spansDecades(low, high);
  const inner = logged ? Math.log : (v) => v;
  const margin = logged ? 0.1 : 0.04 * (high - low || Math.abs(high) || 1);
  const [from, to] = [inner(low) - margin, inner(high) + margin];
  const at = (v) => (logged && v <= 0 ? -1 : (inner(v) - from) / (to - from));
  const ticks = (about) => (logged ? logTicks(Math.exp(from), Math.exp(to), about) : niceTicks(from, to, about));
  return { name: logged ? `${name}, log` : name, at, ticks: (about) => ticksAt(ticks(about), at) };
}

function frontPicture(host, i, j, onFront, height) {
  const [one, other] = [report.objectives[i], report.objectives[j]];
  const shown = distinctOf(allRows.filter((row) => one.value[row] !== null && other.value[row] !== null && !onFront.has(row)).concat(report.front));
  const predicted = report.objectives.length === 2 ? report.predicted : null;
  const [x, y] = [one, other].map((each) => fittingAxis(`${each.name} (${each.direction})`, aroundFront(each)));
  const chart = pointChart(host, {
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
      clip(context, box);
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
      const placed = [];
      for (const row of [...shown].sort((a, b) => onFront.has(a) - onFront.has(b))) {
        const inside = (pixel, low, high) => Math.min(Math.max(pixel, low), high);
        const [far, up] = at([one.value[row], other.value[row]]);
        const [u, v] = [inside(far, box.left, box.right), inside(up, box.top, box.bottom)];
        const good = onFront.has(row);
        const fits = !good || !state.preferred || state.preferred.has(row);
        context.globalAlpha = selected[row] && fits ? 1 : 0.25;
        context.fillStyle = good ? colours.accent : colours.faint;
        context.strokeStyle = colours.warn;
        if (trials.state[row] === "i") square(context, u, v, 3);
        else dot(context, u, v, good ? 4.5 : 3);
        placed.push([row, u, v]);
      }
      context.globalAlpha = 1;
      context.lineWidth = 1;
      return drawFocus(context, placed);
    },
  });
  chart.addEventListener("click", () => {
    state.pin = state.focus;
    changed();
  });
}
