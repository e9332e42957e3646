// The controls of the whole page, and its parts; an error in one part does not affect the others.

const scaleSelect = document.getElementById("scale");

function offerScales() {
  scaleSelect.replaceChildren(...scales.map(([value, name]) => make("option", { value }, name)));
  scaleSelect.value = state.scale;
  scaleSelect.disabled = scales.length === 1;
}

scaleSelect.addEventListener("change", () => {
  state.scale = scaleSelect.value;
  state.filters.delete(dim); // its ends are positions on the old scale
  refreshScale();
  changed();
});

const objectiveSelect = document.getElementById("objective");

function offerObjectives() {
  const { objectives } = everything;
  objectiveSelect.closest("label").hidden = !objectives.length;
  objectiveSelect.replaceChildren(...objectives.map(({ name, direction }, i) => make("option", { value: String(i) }, `${name} (${direction})`)));
  objectiveSelect.value = String(state.objective);
}

objectiveSelect.addEventListener("change", () => {
  state.objective = Number(objectiveSelect.value);
  state.filters.delete(dim); // its ends are positions on the scale of the other objective
  load(everything);
  offerScales();
  fillParts();
  changed();
});

const themeSelect = document.getElementById("theme");
themeSelect.addEventListener("change", () => {
  if (themeSelect.value) document.documentElement.dataset.theme = themeSelect.value;
  else delete document.documentElement.dataset.theme;
  refreshTheme();
  changed();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  refreshTheme();
  changed();
});
addEventListener("scroll", hideTip, { passive: true });
addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});

for (const type of ["change", "input"]) {
  document.addEventListener(type, ({ target: { id, value, checked } }) => {
    if (id) used.set(id, { type, value, checked });
  });
}

const first = JSON.parse(document.getElementById("data").textContent);

let parts = {};

function fillParts() {
  for (const [section, fill] of Object.entries(parts)) build(section, fill);
}

/** Show this data; `more` maps further sections to the functions that fill them. */
function start(data, more = {}) {
  load(data);
  refreshTheme();
  offerScales();
  offerObjectives();
  if (!report.objectives.length) document.getElementById("front").remove();
  if (!report.fit) document.getElementById("fit").remove();
  const fails = report.live || count("f") > 0;
  if (!fails) document.getElementById("failures").remove();
  const stepwise = Object.keys(trials.curves ?? {}).length > 0 || report.stepwise;
  if (!stepwise) document.getElementById("curves").remove();
  buildHeader();
  parts = { best: buildBest, ...(report.objectives.length ? { front: buildFront } : {}), ...(report.fit ? { fit: buildFit } : {}), ...more, ...(fails ? { failures: buildFailures } : {}), convergence: buildConvergence, ...(stepwise ? { curves: buildCurves } : {}), parallel: buildParallel,
    parameters: buildParameters, importance: buildImportance, slices: buildSlices,
    partition: buildPartition, trials: buildTable, settings: buildSettings };
  fillParts();
  changed();
  requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.ready = "yes"; }));
}

/** The page's own computations, for the tests. */
window.bamsooReport = {
  get report() { return report; },
  get axes() { return axes; },
  get scale() { return currentScale; },
  get values() { return { smallest, bestTold, largest }; },
  get best() { return bestRow; },
  posterior,
  fromTo,
  limitPosteriors,
  numberPosterior,
  ticks: (low, high, about, logged) => ticksAt((logged ? logTicks : niceTicks)(low, high, about), (v) => v),
  goodness,
  swing,
  pointOf,
  state,
  selectedCount: () => selectedCount,
};
