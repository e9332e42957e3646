// Each parameter against the value, and which parameters matter.

function buildParameters() {
  const host = body("parameters");
  const believed = thinned(beliefs(), MOST_POINTS);
  if (!withValue.length && !believed.length) return host.append(note("There are no values to draw yet."));
  const [own, others] = ownAndOther();
  const [grid, rest] = [make("div", { class: "grid" }), make("div", { class: "grid" })];
  host.append(grid, otherOptions(others, rest));
  if (count("i") || believed.length) {
    const known = bestRow === null ? [] : [["dot", count("i") ? "a feasible value" : "a value"], ["ring", "the best"]];
    const guessed = believed.length ? [["belief", "stopped early: what is believed about its value, with one deviation on each side"]] : [];
    host.append(legend([...known, ...infeasibleKey(), ...guessed]));
  }
  axes.forEach((axis, i) => {
    pointChart(own.includes(i) ? grid : rest, {
      id: `parameter-${i}`,
      height: 210,
      label: `Value against ${axis.name}`,
      draw(context, width, height) {
        const { px, py } = frame(context, width, height, axis, yAxis(""));
        const across = (row) => px(units[i][row] + (axis.options ? spread(row) / axis.count : 0));
        const guessed = drawBeliefs(context, believed, across, (v) => py(Math.min(Math.max(currentScale.at(v), -0.04), 1.04)));
        const placed = [...guessed, ...drawPoints(context, drawnPoints, (row) => [across(row), py(currentScale.at(values[row]))])];
        const best = placed.find(([row]) => row === bestRow);
        if (best) ring(context, best[1], best[2]);
        return drawFocus(context, placed);
      },
    });
  });
}

/** Draw what is believed about stopped trials, as hollow points with bars; returns the points. */
function drawBeliefs(context, believed, across, up) {
  const placed = [];
  context.strokeStyle = colours.soft;
  context.lineWidth = 1;
  for (const [row, mean, deviation] of believed) {
    const [x, y] = [across(row), up(mean)];
    if (Number.isNaN(x)) continue;
    context.globalAlpha = selected[row] ? 0.8 : 0.2;
    line(context, x, up(mean - deviation), x, up(mean + deviation));
    context.beginPath();
    context.arc(x, y, 2.5, 0, 2 * Math.PI);
    context.stroke();
    placed.push([row, x, y]);
  }
  context.globalAlpha = 1;
  return placed;
}

function buildImportance() {
  const host = body("importance");
  const { reason } = report.model;
  if (reason) return host.append(note(`${reason} Importance cannot be estimated yet.`));
  host.append(note("The share of the variance of the model’s predictions, over the whole space, that involves the parameter (the total Sobol’ index). A joint effect of several parameters counts for each of them, so the shares may sum to more than 100 %. A parameter that exists only with some options has no effect elsewhere. In the whole space, the worst regions decide most of it; “near the best” is the share in the tenth of the space with the best predictions, of the points that are expected to meet the constraints."));
  const numbers = report.numbers.filter((each) => each.importance);
  const shown = select("importance-of", [["", report.name ?? "value"], ...numbers.map(({ name }) => [name, name])], "");
  if (numbers.length) host.append(make("div", { class: "controls-row" }, labelled("of", shown)));
  const tables = make("div");
  const draw = () => tables.replaceChildren(...importanceTables(shown.value));
  shown.addEventListener("change", draw);
  draw();
  host.append(tables);
  const { values } = report.model;
  const believed = Object.keys(report.believed ?? {}).length;
  const few = values < 10 * dim;
  host.append(note(`Swing: the difference between the largest and the smallest value that the model predicts along the parameter through ${bestRow === null ? trialName(centreRow()) : "the best point"}. ${few ? `With ${values} values${believed ? `, of which ${believed} are only believed,` : ""} for ${dim} parameters, treat both as rough estimates.` : ""}`));
}

/** The shares of the parameters, of the value or of a measured number. */
function importanceTables(name) {
  const model = name ? report.numbers.find((each) => each.name === name) : report.model;
  const shares = model.importance.map((share, i) => [i, share]).sort((a, b) => b[1] - a[1]);
  const lineOf = ([i, share]) => {
    const bar = make("span", { class: "bar-fill" });
    bar.style.width = `${100 * share}%`;
    return tableRow(parameters[i].name,
      make("td", {}, make("div", { class: "bar-row" }, make("span", { class: "bar-track" }, bar),
        make("span", { class: "bar-text" }, percent(share)))),
      numberCell(percent(model.near[i])),
      numberCell(own.includes(i) ? grouped(text(swing(i, name), 3)) : "–"));
  };
  const [own, others] = ownAndOther();
  const listed = (which, caption) => scrolling(table({ class: "importance" }, ["parameter", ["share of variance", "wide"], ["near the best", "number"], ["swing", "number"]],
    shares.filter(([i]) => which.includes(i)).map(lineOf), caption));
  return [listed(own, "Importance of each parameter"), otherOptions(others, listed(others, "Importance of the parameters of other options"))];
}

/** The largest minus the smallest median along a parameter, through the best point, of the value or a number. */
function swing(i, name = "") {
  const model = name ? numberPosterior(name) : posterior();
  const x = pointOf(centreRow());
  let [low, high] = [Infinity, -Infinity];
  for (const u of gridOf(axes[i], 41)) {
    x[i] = u;
    const value = model.value(model.mean(x)) * (name ? 1 : size);
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high - low;
}
