// The curve of each evaluation that reported its steps; one that was stopped ends in a mark.

const MOST_CURVES = 400;

function buildCurves() {
  const host = body("curves");
  const all = Object.entries(trials.curves).map(([row, curve]) => [Number(row), curve]);
  if (!all.length) return host.append(note("No evaluation has reported a step yet."));
  const kept = new Set(thinned(all.map(([row]) => row), MOST_CURVES));
  const shown = all.filter(([row]) => kept.has(row));
  const expected = new Map(beliefs().filter(([row]) => kept.has(row)).map(([row, mean, deviation]) => [row, [mean, mean - deviation, mean + deviation]]));
  const longest = Math.max(...shown.map(([, curve]) => curve.length));
  const whole = Math.max(longest, ...trials.steps.filter((n) => n !== null));
  const numbers = [...shown.flatMap(([, curve]) => curve), ...[...expected.values()].map(([mean]) => mean * size)].filter((v) => v !== null);
  const y = fittingAxis("value after the step", numbers);
  const x = {
    name: "step",
    ticks: (about) => ticksAt(wholeTicks(1, whole, about), stepAt),
  };
  const stepAt = (step) => (whole > 1 ? (step - 1) / (whole - 1) : 0.5);
  pointChart(host, {
    id: "curves-chart",
    height: 320,
    label: `The values of ${shown.length} evaluations after each of their steps`,
    draw(context, width, height) {
      const { px, py } = frame(context, width, height, x, y, { right: 20 });
      const placed = [];
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
        if (expected.has(row)) drawBelief(context, last, px(stepAt(whole)), ...expected.get(row).map((v) => py(y.at(v * size))));
        if (ended === "s" || ended === "f") {
          context.strokeStyle = ended === "s" ? colours.soft : colours.bad;
          context.lineWidth = 1.5;
          cross(context, ...last, 3);
        } else if (row === bestRow) ring(context, ...last);
        placed.push([row, ...last]);
      }
      return placed;
    },
  });
  host.append(legend([["line", "an evaluation; the better its value, the darker"], ["ring", "the best"],
    ...keyOf("s", "cross soft", "stopped early"), ...(expected.size ? [["belief", "the final value that is believed, with one deviation on each side"]] : []), ...keyOf("f", "cross", "failed")]));
  if (shown.length < all.length) host.append(note(`${shown.length} of ${grouped(all.length)} curves are drawn.`));
}

/** A dotted line from where a curve was stopped to the value that it is believed to end with. */
function drawBelief(context, [x, y], end, mean, low, high) {
  context.lineWidth = 1;
  context.globalAlpha *= 0.7;
  context.setLineDash([2, 3]);
  line(context, x, y, end, mean);
  context.setLineDash([]);
  line(context, end, low, end, high);
  circle(context, end, mean, 2.5);
  context.stroke();
}
