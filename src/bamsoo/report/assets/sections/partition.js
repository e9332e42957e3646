// The cells of the tree in two dimensions, as they were at any trial.

const EVALUATED = "1";
const REJECTED = "2";
const PENDING = "3";
const FAILED = "4";
const WORDS = { 0: "a new", [EVALUATED]: "an evaluated", [REJECTED]: "a rejected", [PENDING]: "a pending", [FAILED]: "a failed" };

/** Corners, centres and first children of all cells, from the list of splits. */
function growTree({ root, cut, axis, parts, points, k, marks }) {
  const nodes = marks.status.length;
  const low = new Float64Array(nodes * dim);
  const high = new Float64Array(nodes * dim).fill(1, 0, dim);
  const centre = new Float64Array(nodes * dim);
  const child = new Int32Array(nodes).fill(0x7fffffff);
  centre.set(root);
  let next = 1;
  cut.forEach((parent, i) => {
    const d = axis[i];
    const from = low[parent * dim + d];
    const side = high[parent * dim + d] - from;
    const equal = (j) => from + (side * j) / k;
    const edges = parts ? [from, ...parts[i][0], from + side] : Array.from({ length: k + 1 }, (_, j) => equal(j));
    const centres = parts ? parts[i][1] : Array.from({ length: k }, (_, j) => equal(j + 0.5));
    child[parent] = next;
    for (let j = 0; j < centres.length && next < nodes; j += 1, next += 1) {
      low.copyWithin(next * dim, parent * dim, (parent + 1) * dim);
      high.copyWithin(next * dim, parent * dim, (parent + 1) * dim);
      centre.copyWithin(next * dim, parent * dim, (parent + 1) * dim);
      low[next * dim + d] = edges[j];
      high[next * dim + d] = edges[j + 1];
      centre[next * dim + d] = centres[j];
      if (points) centre.set(points[next - 1], next * dim);
    }
  });
  return { nodes, low, high, centre, child };
}

function buildPartition() {
  const host = body("partition");
  const given = report.partition;
  if (given.reason) {
    host.append(note(given.reason));
    if (given.ended) host.append(note(given.ended));
    return;
  }
  const tree = growTree(given);
  const last = given.sizes.length - 1;
  const names = parameters.map((p, i) => [i, p.name]);
  const [own] = ownAndOther();
  const x = select("partition-x", names, own[0]);
  const y = select("partition-y", names, own[1] ?? own[0]);
  const cells = select("partition-cells", [["slice", "through the best point"], ["all", "all, overlaid"]], "slice");
  const slider = make("input", { id: "partition-trial", type: "range", min: "0", max: String(last), value: String(last) });
  const shownTrial = make("output", { id: "partition-now", for: "partition-trial" });
  const play = make("button", { type: "button", id: "partition-play" }, "▶ Play");
  const controls = make("div", { class: "controls-row" }, labelled("Horizontal", x), labelled("Vertical", y));
  if (dim > 2) controls.append(labelled("Cells", cells));
  host.append(controls, make("div", { class: "controls-row" }, play, make("label", { class: "grow" }, "Up to trial ", slider), shownTrial));
  const counts = make("p", { class: "note", id: "partition-count" });

  const rowOf = new Map();
  trials.number.forEach((number, row) => rowOf.set(number, row));
  const trialOf = (node) => {
    const row = given.marks.row[node];
    return row < 0 ? -1 : trials.number[row];
  };

  /** The status of a cell at the time of a trial. */
  function standing(node, now) {
    const status = given.marks.status[node];
    if (status === REJECTED) return REJECTED;
    return status !== "0" && trialOf(node) <= now ? status : "0";
  }

  function inSlice(node, across, up) {
    for (let d = 0; d < dim; d += 1) {
      if (d === across || d === up || bestRow === null) continue;
      const at = units[d][bestRow];
      if (at < tree.low[node * dim + d] || at > tree.high[node * dim + d]) return false;
    }
    return true;
  }

  /** The value that the model expects at a cell’s centre, computed once per cell. */
  const expected = new Float64Array(tree.nodes).fill(NaN);
  const believes = (node) => {
    if (Number.isNaN(expected[node]) && posterior()) {
      const centre = tree.centre.subarray(node * dim, (node + 1) * dim);
      expected[node] = posterior().value(posterior().mean(centre));
    }
    return expected[node];
  };

  let cellUnder = () => {};
  const chart = pointChart(host, {
    id: "partition-chart",
    height: 480,
    label: "Cells of the partition, with centres that were evaluated, rejected, failed or are pending",
    draw(context, width, height) {
      const [across, up] = [Number(x.value), Number(y.value)];
      const step = Number(slider.value);
      const now = given.first + step;
      const there = Math.min(given.sizes[step], tree.nodes);
      const flat = across === up;
      const { px, py } = frame(context, width, height, axes[across], flat ? NO_AXIS : axes[up], { grid: false });
      const slice = dim > 2 && cells.value === "slice";
      const leaves = [];
      for (let node = 0; node < there; node += 1) {
        if (tree.child[node] < there) continue;
        if (!slice || inSlice(node, across, up)) leaves.push(node);
      }
      const rectangle = (node) => {
        const [a, b] = [px(tree.low[node * dim + across]), px(tree.high[node * dim + across])];
        const [c, d] = flat ? [py(0), py(1)] : [py(tree.low[node * dim + up]), py(tree.high[node * dim + up])];
        return [a, d, b - a, c - d];
      };
      const overlapping = dim > 2 && !slice;
      const stand = leaves.map((node) => standing(node, now));
      leaves.forEach((node, i) => {
        const row = given.marks.row[node];
        const valued = stand[i] === EVALUATED && row >= 0;
        const level = valued ? values[row] : stand[i] === REJECTED ? believes(node) : NaN;
        context.globalAlpha = overlapping ? 0.06 : valued ? 0.8 : 0.3;
        context.fillStyle = Number.isNaN(level) ? colours.cell : colour(goodness(level));
        context.fillRect(...rectangle(node));
      });
      context.globalAlpha = overlapping ? 0.25 : 0.7;
      context.strokeStyle = colours.faint;
      context.lineWidth = leaves.length > 1500 ? 0.4 : 0.8;
      leaves.forEach((node) => context.strokeRect(...rectangle(node)));
      context.globalAlpha = 1;
      const placed = [];
      cellUnder = (cx, cy, event) => {
        const place = leaves.findIndex((node) => {
          const [left, top, w, h] = rectangle(node);
          return cx >= left && cx <= left + w && cy >= top && cy <= top + h;
        });
        if (place < 0 || overlapping) return;
        const node = leaves[place];
        const range = (d) => `${axes[d].show(axes[d].value(tree.low[node * dim + d] + 1e-12))} to ${axes[d].show(axes[d].value(tree.high[node * dim + d] - 1e-12))}`;
        const pairs = [across, ...(flat ? [] : [up])].map((d) => [parameters[d].name, range(d)]);
        if (posterior()) pairs.push(["the model expects", grouped(text(believes(node) * size, 5 + commonDigits(smallest, largest)))]);
        showTip(`${WORDS[stand[place]]} cell`, pairs, event.clientX, event.clientY);
      };
      const tally = { 0: 0, 1: 0, 2: 0, 3: 0, 4: 0 };
      const inCells = new Set();
      const radius = leaves.length > 1500 ? 1.5 : 2.8;
      leaves.forEach((node, i) => {
        const status = stand[i];
        tally[status] += 1;
        if (status === "0") return;
        const [cx, cy] = [px(tree.centre[node * dim + across]), flat ? py(0.5) : py(tree.centre[node * dim + up])];
        mark(context, status, cx, cy, radius);
        const row = given.marks.row[node];
        if (row >= 0) {
          inCells.add(row);
          placed.push([row, cx, cy]);
        }
      });
      context.globalAlpha = 0.55;
      for (let row = 0; row < rows; row += 1) { // evaluated points that are not centres of these cells
        if (inCells.has(row) || Number.isNaN(values[row]) || !(trials.number[row] <= now)) continue;
        if (slice && !near(row, across, up)) continue;
        const [cx, cy] = [px(units[across][row]), flat ? py(0.5) : py(units[up][row])];
        context.fillStyle = colours.ink;
        dot(context, cx, cy, radius * 0.6);
        placed.push([row, cx, cy]);
      }
      context.globalAlpha = 1;
      if (bestRow !== null && !(trials.number[bestRow] > now)) {
        ring(context, px(units[across][bestRow]), flat ? py(0.5) : py(units[up][bestRow]));
      }
      shownTrial.textContent = String(now);
      counts.textContent = `${grouped(leaves.length)} cells${slice ? " that contain the best point’s other parameters" : ""}: the centres of ${tally[EVALUATED]} are evaluated, ${tally[REJECTED]} rejected, ${tally[PENDING]} pending, ${tally[FAILED]} failed${tally[0] ? `, ${tally[0]} not considered yet` : ""}.`;
      const only = existsOnly(flat ? [across] : [across, up]);
      if (only) counts.textContent += ` ${only}; cells of other options are drawn over the whole range.`;
      return drawFocus(context, placed);
    },
  }, (cx, cy, event) => cellUnder(cx, cy, event));

  /** Whether a trial is close to the best point in the other dimensions. */
  function near(row, across, up) {
    for (let d = 0; d < dim; d += 1) {
      if (d !== across && d !== up && Math.abs(units[d][row] - units[d][bestRow]) > 0.02) return false;
    }
    return true;
  }

  function mark(context, status, cx, cy, radius) {
    context.lineWidth = 1.5;
    if (status === EVALUATED) {
      context.fillStyle = colours.ink;
      dot(context, cx, cy, radius);
    } else if (status === REJECTED) {
      context.strokeStyle = colours.soft;
      circle(context, cx, cy, radius);
      context.stroke();
    } else if (status === PENDING) {
      context.fillStyle = colours.warn;
      diamond(context, cx, cy, radius + 2);
      context.fill();
    } else {
      context.strokeStyle = colours.bad;
      cross(context, cx, cy, radius);
    }
  }

  host.append(legend([["cell", "cell, coloured by its value, or more faintly by the value that the model now expects"], ["ink", "evaluated"],
    ["circle", "rejected by the model’s bound"], ["diamond", "pending"], ["cross", "failed"], ["ring", "the best"]]), counts);
  if (given.ended) {
    host.append(note(`The partition is known up to trial ${given.first + last}: from there on, this version of bamsoo would have chosen other points. ${given.ended}`));
  } else if (given.first) {
    host.append(note(`The search was restarted at trial ${given.first}; this is the partition since then.`));
  }
  if (report.notes.partition) host.append(note(report.notes.partition));

  [x, y, cells].forEach((control) => control.addEventListener("change", chart.redraw));
  slider.addEventListener("input", chart.redraw);
  let playing = null;
  const stop = () => {
    cancelAnimationFrame(playing);
    playing = null;
    play.textContent = "▶ Play";
  };
  play.addEventListener("click", () => {
    if (playing !== null) {
      stop();
      return;
    }
    play.textContent = "❚❚ Pause";
    const from = Number(slider.value) >= last ? 0 : Number(slider.value);
    const length = Math.min(9000, 150 * (last - from + 1));
    let begun = null;
    const tick = (time) => {
      begun = begun ?? time;
      const share = Math.min((time - begun) / length, 1);
      slider.value = String(Math.round(from + share * (last - from)));
      chart.redraw();
      if (share < 1) playing = requestAnimationFrame(tick);
      else stop();
    };
    playing = requestAnimationFrame(tick);
  });
}
