// The fit at the best point: its parameters with their errors, and its residuals.

function buildFit() {
  const host = body("fit");
  const { names, values: found, deviations, correlations, residuals, costs, band, remarks, data } = report.fit;
  const told = (number) => (number === null ? "–" : text(number, 4));
  host.append(scrolling(table({ class: "importance" }, ["parameter", ["value", "number"], ["standard deviation", "number"]],
    names.map((name, i) => tableRow(name, numberCell(found[i] === null ? "–" : text(found[i], 6)), numberCell(told(deviations[i])))), "The parameters and their standard deviations")));
  const known = (r) => r !== null;
  const real = names.map((name, i) => i).filter((i) => known(correlations[i][i]));
  if (real.length > 1) {
    const rows = real.map((i) => tableRow(names[i], ...real.map((j) => numberCell(correlations[i][j].toFixed(2)))));
    host.append(scrolling(table({ class: "importance" }, ["correlation", ...real.map((j) => [names[j], "number"])], rows, "The correlations of the parameters")));
  }
  for (const remark of remarks) host.append(note(remark));
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  const order = residuals.map((r, i) => i).filter((i) => known(residuals[i])).sort((i, j) => costs[j] - costs[i]);
  const costly = order.slice(0, 3).filter((i) => costs[i] > total / residuals.length);
  if (data) {
    fitChart(host, "fit-data", "value", data, report.fit.fitted, band, []);
    host.append(legend([["ink", "measured"], ["line", "fitted, with twice the standard deviation that comes from the parameters"]]));
  }
  fitChart(host, "fit-residuals", "residual", residuals, residuals.map(() => 0), band, costly);
  host.append(legend([["ink", "a residual at the best point"], ["line", "no residual, with twice the standard deviation that comes from the parameters"], ...(costly.length ? [["cross", "the most costly ones"]] : [])]));
  if (costly.length) {
    const share = costly.reduce((sum, i) => sum + costs[i], 0) / total;
    host.append(note(`${costly.length > 1 ? "Residuals" : "Residual"} ${costly.map((i) => i + 1).join(", ")} ${costly.length > 1 ? "make" : "makes"} up ${Math.round(100 * share)} % of the sum of squares.`));
  }
}

/** Dots against their number, and a line with a band. */
function fitChart(host, id, name, dots, level, band, marked) {
  const wide = (i) => 2 * (band[i] ?? 0);
  const drawn = dots.map((v, i) => i).filter((i) => dots[i] !== null && level[i] !== null);
  if (!drawn.length) return;
  const y = linearAxis(name, drawn.flatMap((i) => [dots[i], level[i] - wide(i), level[i] + wide(i)]));
  const at = (i) => (dots.length > 1 ? i / (dots.length - 1) : 0.5);
  const x = { name: "number of the residual", ticks: (about) => ticksAt(wholeTicks(1, dots.length, about), (v) => at(v - 1)) };
  canvas(host, {
    id,
    height: 260,
    label: `The ${name} of ${drawn.length} residuals at the best point`,
    draw(context, width, height) {
      const { px, py } = frame(context, width, height, x, y, { right: 20 });
      context.fillStyle = colours.line;
      context.beginPath();
      for (const i of drawn) context.lineTo(px(at(i)), py(y.at(level[i] + wide(i))));
      for (const i of [...drawn].reverse()) context.lineTo(px(at(i)), py(y.at(level[i] - wide(i))));
      context.fill();
      context.strokeStyle = colours.accent;
      context.lineWidth = 1.5;
      context.beginPath();
      for (const i of drawn) context.lineTo(px(at(i)), py(y.at(level[i])));
      context.stroke();
      context.fillStyle = colours.ink;
      for (const i of drawn) dot(context, px(at(i)), py(y.at(dots[i])), 2.4);
      context.strokeStyle = colours.bad;
      context.lineWidth = 2;
      for (const i of marked) cross(context, px(at(i)), py(y.at(dots[i])), 5);
    },
  });
}
