// The live page of `bamsoo watch`: asks the server for changes, and brings each part up to date.

const PAUSE = 1000; // milliseconds between two requests
const REST = 6; // the next model is requested after this many times the time it took to draw the last
const MOST_OUT = 50;

/** The latest version of both parts of the data, and the current state of the run. */
const known = { trials: null, search: null };
let live = null;
let ahead = 0; // seconds by which the server's clock is ahead of this one
let answered = true;
let lastAnswer = Date.now();
let modelDue = 0;

function take(news) {
  for (const part of ["trials", "search"]) if (news[part]) known[part] = news[part];
  const { versions, now, running, problem, replayed } = news;
  live = { versions: { ...live?.versions, ...versions }, running, problem, replayed };
  ahead = now - Date.now() / 1000;
}

/** Both parts as one report. Under noise, the best point is the one that the search chose. */
function whole() {
  const { trials: held, search } = known;
  const objectives = held.objectives.map((each, i) => ({ model: search.model, ranges: null, ...each, ...search.objectives[i] }));
  return { ...held, ...search, objectives, live: true, notes: { ...held.notes, ...search.notes }, best: search.best || held.best };
}

// --- parts that only the live page has

const badge = make("span", { id: "live", class: "live", role: "status" });
const since = make("span", { id: "since", class: "since" });
document.querySelector(".name").append(badge, since);

function ago(seconds) {
  return `${duration(Math.max(0, Math.round(seconds)))} ago`;
}

/** When the last trial was told, in seconds since 1970. */
function lastTold() {
  let last = null;
  trials.took.forEach((took, row) => {
    if (took !== null) last = Math.max(last, trials.start + trials.asked[row] + took);
  });
  return last;
}

function showState() {
  const [words, kind] = !answered ? ["no answer from bamsoo watch", "lost"]
    : live.problem ? ["the study cannot be read", "lost"]
      : live.running ? ["running", "on"]
        : live.running === false ? ["not running", "off"] : ["live", "on"];
  if (badge.textContent !== words) badge.textContent = words;
  badge.className = `live ${kind}`;
  badge.title = live.problem || "";
  const told = lastTold();
  since.textContent = !answered ? `for ${duration(Math.round((Date.now() - lastAnswer) / 1000))}`
    : told === null ? "" : `last evaluation ${ago(Date.now() / 1000 + ahead - told)}`;
  const asked = trials.number.filter((number) => number !== null).length;
  document.getElementById("behind").textContent = live.replayed === null || live.replayed > asked - 10 ? ""
    : `The model is catching up: the search has been replayed up to trial ${grouped(live.replayed)} of ${grouped(asked)}.`;
  const evaluated = trials.took.filter((took) => took !== null).length;
  document.title = `${report.cost === null ? evaluated : text(report.cost, 3)}${report.budget ? `/${report.budget}` : ""} · ${report.title} · bamsoo watch`;
}

function buildNow() {
  const host = body("now");
  const out = allRows.filter((row) => trials.state[row] === "o");
  host.append(make("p", { class: "note", id: "pace" }, pace()), make("p", { class: "note", id: "behind" }));
  if (live.problem) host.append(note(`${live.problem}. What is shown was read before.`));
  if (!out.length) return host.append(note("No trial is running."));
  if (live.running === false) {
    host.append(note("No process has the study open for writing. These trials were pending when the run ended; if the run is resumed, they are evaluated again."));
  }
  const kindOf = (p) => (p.options ? "" : "number");
  const latest = out.slice(-MOST_OUT);
  const there = parameters.map((p, i) => [p, i]).filter(([, i]) => latest.some((row) => trials.params[i][row] !== null));
  const lines = latest.map((row) => make("tr", {}, make("td", {}, trialName(row)),
    make("td", { class: "number out-for", "data-asked": String(trials.start + trials.asked[row]) }),
    ...there.map(([p, i]) => make("td", { class: kindOf(p) }, shownParameter(i, row)))));
  const names = ["trial", ["started", "number"], ...there.map(([p]) => [p.name, kindOf(p)])];
  host.append(scrolling(table({ class: "out", id: "out" }, names, lines, "Pending trials")));
  if (out.length > MOST_OUT) host.append(note(`The latest ${MOST_OUT} of ${grouped(out.length)}.`));
  tick();
}

/** How fast evaluations finish, and how long the rest of the budget takes at that rate. */
function pace() {
  const ends = allRows.filter((row) => trials.took[row] !== null)
    .map((row) => trials.start + trials.asked[row] + trials.took[row]).sort((a, b) => a - b);
  const recent = ends.slice(-50);
  if (recent.length < 3) return "";
  const each = (recent[recent.length - 1] - recent[0]) / (recent.length - 1);
  const left = report.budget ? Math.max(report.cost === null ? report.budget - ends.length : ends.length * (report.budget / report.cost - 1), 0) : 0;
  const rest = left && live.running !== false ? `; at this pace the other ${grouped(Math.round(left))} take ${duration(left * each)}` : "";
  return `One evaluation every ${duration(each)} over the last ${recent.length}${rest}.`;
}

function tick() {
  const now = Date.now() / 1000 + ahead;
  document.querySelectorAll(".out-for").forEach((cell) => {
    cell.textContent = ago(Math.floor(now - Number(cell.dataset.asked)));
  });
  showState();
}

// --- new data

/** What determines the controls and notes of a section; when it changes, the section is rebuilt. */
function shape() {
  const states = ["d", "s", "c", "i", "f", "o", "g"].filter(count).join("");
  return { table: `${rows > 0} ${states} ${report.messages.length > 0}`, values: `${withValue.length > 0} ${count("i") > 0}`, size };
}

function update(news) {
  const before = { ...shape(), running: live.running, problem: live.problem };
  take(news);
  const [newTrials, newSearch] = [Boolean(news.trials), Boolean(news.search)];
  const stateChanged = live.running !== before.running || live.problem !== before.problem;
  if (newTrials || newSearch) {
    const brushed = state.filters.get(dim)?.map((at) => currentScale.value(at) * size);
    load(whole());
    if (brushed) state.filters.set(dim, brushed.map((value) => currentScale.at(value / size)));
    offerScales();
    build("best", buildBest);
    if (report.objectives.length) build("front", buildFront);
  }
  if (newTrials || stateChanged) build("now", buildNow);
  if (newTrials) {
    build("failures", buildFailures);
    build("convergence", buildConvergence);
    if (document.getElementById("curves")) build("curves", buildCurves);
    const after = shape();
    if (after.values !== before.values) {
      build("parallel", buildParallel);
      build("parameters", buildParameters);
    }
    if (after.table !== before.table) build("trials", buildTable);
  }
  if (newSearch || before.size !== size) drawModel();
  if (newTrials || newSearch) changed();
}

/** Rebuild the parts that depend on the model. */
function drawModel() {
  const began = performance.now();
  build("importance", buildImportance);
  build("slices", buildSlices);
  for (const id of ["heat-x", "heat-y"]) { // keep the axes, though the order of importance may change
    const control = document.getElementById(id);
    if (control && !used.has(id)) used.set(id, { type: "change", value: control.value });
  }
  const slider = document.getElementById("partition-trial");
  if (slider && slider.value === slider.max) used.delete("partition-trial"); // so that it follows the run
  if (!document.getElementById("partition-play")?.textContent.includes("Pause")) build("partition", buildPartition);
  modelDue = performance.now() + REST * (performance.now() - began);
}

async function ask() {
  const { versions } = live;
  const query = new URLSearchParams({ trials: versions.trials });
  if (performance.now() >= modelDue) query.set("search", versions.search);
  try {
    const answer = await fetch(`/news?${query}`, { cache: "no-store", signal: AbortSignal.timeout(20000) });
    if (!answer.ok) throw new Error(String(answer.status));
    const news = await answer.json();
    [answered, lastAnswer] = [true, Date.now()];
    update(news);
  } catch (error) {
    answered = false;
  }
  showState();
  setTimeout(ask, PAUSE);
}

take(first);
start(whole(), { now: buildNow });
tick();
setInterval(tick, 1000);
setTimeout(ask, PAUSE);
