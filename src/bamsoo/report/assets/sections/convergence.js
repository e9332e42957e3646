// All values in the order of their evaluation, and the best so far.

function buildConvergence() {
  const host = body("convergence");
  if (!rows) return host.append(note("No trial has been started yet."));
  const xAxis = {
    name: trials.number.includes(null) ? "position in the study, including given points" : "trial",
    ticks: (about) => ticksAt(wholeTicks(0, rows - 1, about), (row) => (row + 0.5) / rows),
  };
  pointChart(host, {
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
      const placed = drawPoints(context, drawnPoints, (row) => [x(row), y(values[row])]);
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
      return drawFocus(context, placed);
    },
  });
  host.append(legend([["line", report.notes.best ? "best measured value so far" : "best so far"], ["dot", "a value"], ["ring", "the best"],
    ...infeasibleKey(), ...keyOf("f", "cross", "failed"), ...keyOf("s", "dash", "stopped early"), ...keyOf("c", "dash", "below the top"), ...keyOf("o", "diamond", "pending")]));
  if (drawnPoints.length < withValue.length) {
    host.append(note(`${grouped(drawnPoints.length)} of ${grouped(withValue.length)} points are drawn here and below: half of them are the best ones, the other half is spread evenly over the rest. The line and the table include all points.`));
  }
}
