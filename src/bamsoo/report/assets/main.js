// Build the page, part by part: what goes wrong in one is said there and leaves the others alone.

const scaleSelect = document.getElementById("scale");
scales.forEach(([value, name]) => scaleSelect.append(make("option", { value }, name)));
scaleSelect.value = state.scale;
scaleSelect.disabled = scales.length === 1;
scaleSelect.addEventListener("change", () => {
  state.scale = scaleSelect.value;
  state.filters.delete(dim); // its ends were places on the old scale
  refreshScale();
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

refreshTheme();
refreshScale();
buildHeader();
const parts = { best: buildBest, convergence: buildConvergence, parallel: buildParallel, parameters: buildParameters,
  importance: buildImportance, slices: buildSlices, partition: buildPartition, trials: buildTable, settings: buildSettings };
for (const [section, build] of Object.entries(parts)) {
  try {
    build();
  } catch (error) {
    body(section).append(note(`This part could not be drawn: ${error}`));
    console.error(error);
  }
}
changed();

/** For tests: the page's own arithmetic. */
window.bamsooReport = { report, posterior, axes, state, selectedCount: () => selectedCount };
requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.ready = "yes"; }));
