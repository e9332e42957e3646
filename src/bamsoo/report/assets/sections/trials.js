// The table of trials, page by page, sorted by any column and filtered by text, state and range; the
// reasons for failures; and the settings.

const PAGE = 50;
const MOST_REASONS = 20;

function buildTable() {
  const host = body("trials");
  if (!rows) return host.append(note("No trial has been started yet."));
  const [, others] = ownAndOther();
  const columns = [
    { name: "trial", key: (row) => trials.number[row] ?? -1, cell: (row) => (trials.number[row] === null ? "–" : String(trials.number[row])), number: true },
    ...(report.objectives.length ? report.objectives.map(({ name, value }) => ({ name, key: (row) => value[row] ?? NaN, cell: (row) => text(value[row], 8), number: true }))
      : [{ name: "value", key: (row) => values[row], cell: (row) => text(trials.value[row], 8 + commonDigits(smallest, largest)), number: true }]),
    ...(report.objectives.length ? [{ name: "front", key: (row) => (report.front.includes(row) ? "yes" : ""), cell: (row) => (report.front.includes(row) ? "yes" : "") }] : []),
    ...(trials.steps.some((each) => each !== null) ? [{ name: "steps", key: (row) => trials.steps[row] ?? NaN, cell: (row) => (trials.steps[row] === null ? "" : String(trials.steps[row])), number: true },
      ...(report.objectives.length ? report.objectives : [null]).map((each, i) => {
        const last = (row) => lastValue(row, each && i);
        return { name: each ? `last ${each.name}` : "last value", key: (row) => last(row) ?? NaN, cell: (row) => text(last(row), 6), number: true };
      })] : []),
    { name: "state", key: (row) => STATES[trials.state[row]], cell: (row) => STATES[trials.state[row]] },
    ...report.constraints.map(({ name }, i) => ({
      name,
      key: (row) => trials.measured[i][row] ?? NaN,
      cell: (row) => text(trials.measured[i][row]),
      number: true,
    })),
    ...parameters.map((p, i) => ({
      name: p.name,
      key: (row) => trials.params[i][row] ?? NaN,
      cell: (row) => shownParameter(i, row),
      number: !p.options,
      other: others.includes(i),
    })),
    ...report.extras.map((name, i) => {
      const number = trials.extras[i].some((each) => typeof each === "number");
      const shown = (each) => (typeof each === "number" ? text(each) : each === null ? "" : String(each));
      return {
        name,
        key: (row) => (number ? (typeof trials.extras[i][row] === "number" ? trials.extras[i][row] : NaN) : shown(trials.extras[i][row])),
        cell: (row) => shown(trials.extras[i][row]),
        number,
      };
    }),
    ...(trials.origin.some((each) => each) ? [{ name: "origin", key: (row) => trials.origin[row] ?? "", cell: (row) => trials.origin[row] ?? "" }] : []),
    { name: "took", key: (row) => trials.took[row] ?? NaN, cell: (row) => duration(trials.took[row]), number: true },
  ];
  if (report.messages.length) {
    columns.push({ name: "message", key: messageOf, cell: messageOf, message: true });
  }
  const order = { column: 0, down: false };
  let page = 0;
  const search = make("input", { id: "table-search", type: "search", placeholder: "text in any column" });
  const which = select("table-state", [["", "all"], ...["d", "s", "c", "i", "f", "o", "g"].filter(count).map((s) => [s, STATES[s]])], "");
  const brushed = make("input", { id: "table-brushed", type: "checkbox", checked: true });
  const whole = make("input", { id: "table-whole", type: "checkbox" });
  host.append(make("div", { class: "controls-row" }, labelled("Filter", search), labelled("State", which),
    make("label", {}, brushed, " only selected ranges"),
    ...(others.length ? [make("label", {}, whole, " also parameters of other options than the best")] : [])));
  const head = make("tr");
  const lines = make("tbody");
  const counted = make("p", { class: "note", id: "table-count", role: "status" });
  const kindOf = ({ number, message, other }) => [number && "number", message && "message", other && "other"].filter(Boolean).join(" ");
  const buttons = columns.map((column, i) => {
    const button = make("button", { type: "button", class: "sort" }, column.name);
    const cell = make("th", { scope: "col", class: kindOf(column) }, button);
    button.addEventListener("click", () => {
      order.down = order.column === i ? !order.down : false;
      order.column = i;
      page = 0;
      fill();
    });
    head.append(cell);
    return cell;
  });
  const table = make("table", { id: "table", class: "trials" }, make("caption", { class: "hidden" }, "Every trial"), make("thead", {}, head), lines);
  const before = make("button", { type: "button", id: "table-before" }, "← Previous");
  const after = make("button", { type: "button", id: "table-after" }, "Next →");
  host.append(make("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Table of trials" }, table),
    make("div", { class: "controls-row" }, before, after, counted));
  if (report.notes.messages) host.append(note(report.notes.messages));

  /** Empty and unknown keys come last in either direction. */
  function compare(a, b) {
    const { key } = columns[order.column];
    const [x, y] = [key(a), key(b)];
    const [noX, noY] = [Number.isNaN(x) || x === "", Number.isNaN(y) || y === ""];
    if (noX || noY) return noX - noY || a - b;
    const found = x < y ? -1 : Number(x > y);
    return (order.down ? -found : found) || a - b;
  }

  let texts = [];
  let textsOf = trials;

  function textOf(row) {
    if (textsOf !== trials) [texts, textsOf] = [[], trials]; // new data: rows may have changed
    texts[row] ??= columns.map((column) => column.cell(row)).join("\n").toLowerCase();
    return texts[row];
  }

  function matching() {
    const words = search.value.trim().toLowerCase();
    return allRows.filter((row) => (!which.value || trials.state[row] === which.value)
      && (!brushed.checked || selected[row])
      && (!words || textOf(row).includes(words)));
  }

  function fill() {
    const found = matching().sort(compare);
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    page = Math.min(page, pages - 1);
    buttons.forEach((cell, i) => {
      cell.setAttribute("aria-sort", i !== order.column ? "none" : order.down ? "descending" : "ascending");
    });
    lines.replaceChildren(...found.slice(page * PAGE, (page + 1) * PAGE).map(lineOf));
    counted.textContent = found.length
      ? `${grouped(page * PAGE + 1)} to ${grouped(Math.min((page + 1) * PAGE, found.length))} of ${grouped(found.length)} trials`
      : "No trial matches the filter.";
    before.disabled = page === 0;
    after.disabled = page === pages - 1;
  }

  function lineOf(row) {
    const line = make("tr", { class: `${STATES[trials.state[row]]}${row === bestRow ? " is-best" : ""}` });
    if (trials.asked[row] !== null) line.title = `asked ${moment(trials.start + trials.asked[row])}`;
    columns.forEach((column) => {
      const shown = column.cell(row);
      const cell = make("td", { class: kindOf(column) });
      if (column.message) {
        cell.append(folded(shown, 90));
      } else if (column.name === "state" && !column.number) {
        cell.append(make("span", { class: `badge ${shown}` }, shown));
      } else cell.append(shown);
      line.append(cell);
    });
    return line;
  }

  const again = () => {
    page = 0;
    fill();
  };
  search.addEventListener("input", again);
  which.addEventListener("change", again);
  brushed.addEventListener("change", again);
  whole.addEventListener("change", () => table.classList.toggle("whole", whole.checked));
  before.addEventListener("click", () => { page -= 1; fill(); });
  after.addEventListener("click", () => { page += 1; fill(); });
  watch(fill);
}

/** The reasons why trials failed, the latest first. */
function buildFailures() {
  const host = body("failures");
  const failed = allRows.filter((row) => trials.state[row] === "f");
  if (!failed.length) return host.append(note("None so far."));
  const reasons = new Map();
  for (const row of failed) {
    const message = messageOf(row) || "no reason was given";
    const found = reasons.get(message) || { count: 0 };
    reasons.set(message, { count: found.count + 1, row });
  }
  const latest = [...reasons].sort((a, b) => b[1].row - a[1].row);
  const lines = latest.slice(0, MOST_REASONS).map(([message, { count, row }]) => make("tr", {}, numberCell(grouped(count)),
    make("td", {}, trialName(row)), make("td", { class: "message" }, folded(message, 160))));
  host.append(scrolling(table({ class: "out", id: "reasons" }, ["trials", "latest", "reason"], lines, "Reasons for failures")));
  if (latest.length > MOST_REASONS) host.append(note(`The latest ${MOST_REASONS} of ${grouped(latest.length)} different reasons.`));
}

function buildSettings() {
  const host = body("settings");
  const groups = make("div", { class: "groups" });
  for (const [name, pairs] of report.settings) {
    const list = make("dl");
    pairs.forEach(([key, value]) => list.append(make("dt", {}, key), make("dd", {}, value)));
    groups.append(make("div", {}, make("h3", {}, name), list));
  }
  const list = make("dl");
  parameters.forEach((p) => {
    const range = p.options ? `one of ${p.options.join(", ")}` : `${p.whole ? "integer, " : ""}${fromTo(p.low, p.high)}${grainOf(p)}`;
    list.append(make("dt", {}, p.name), make("dd", {}, p.when ? `${range}; only with ${p.when}` : range));
  });
  groups.append(make("div", {}, make("h3", {}, "Space"), list));
  host.append(groups);
}
