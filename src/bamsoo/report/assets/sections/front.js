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
  const shown = allRows.filter((row) => one.value[row] !== null && other.value[row] !== null);
  const predicted = report.objectives.length === 2 ? report.predicted : null;
  const [x, y] = [one, other].map((each) => fittingAxis(`${each.name} (${each.direction})`, shown.map((row) => each.value[row])));
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
      return drawFocus(context, placed);
    },
  });
  chart.addEventListener("click", () => {
    state.pin = state.focus;
    changed();
  });
}
