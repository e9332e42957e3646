// Parallel coordinates: drag along an axis to select a range, which then applies to the whole page.

const MOST_LINES = 1500;

function buildParallel() {
  const host = body("parallel");
  if (!withValue.length) return host.append(note("There are no values to draw yet."));
  let shown = thinned(withValue, MOST_LINES);
  const spreadOf = (axis, row) => (axis < dim && axes[axis].options ? (spread(row) * 0.6) / axes[axis].count : 0);
  const [own, others] = ownAndOther();
  const all = make("input", { id: "parallel-all", type: "checkbox" });
  let order = []; // the axes from left to right; the last one is the value
  const arrange = () => {
    order = [...(all.checked ? axes.keys() : own), dim];
  };
  arrange();
  const dense = () => order.length > 10;
  const height = 420;
  const box = { left: 44, right: 64, bottom: height - 18, get top() { return dense() ? 92 : 40; } };
  let width = 0;
  const ax = (place) => box.left + (place / Math.max(order.length - 1, 1)) * (width - box.left - box.right);
  const ay = (at) => box.bottom - at * (box.bottom - box.top);
  const path = (context, row) => {
    context.beginPath();
    let [pen, alone, before] = [false, false, 0]; // a line has gaps at axes that do not exist for its trial
    order.forEach((axis, place) => {
      const y = ay(axisAt(axis, row) + spreadOf(axis, row));
      if (Number.isNaN(y)) {
        if (alone) context.lineTo(ax(place - 1) + 4, before);
        [pen, alone] = [false, false];
        return;
      }
      if (pen) context.lineTo(ax(place), y);
      else context.moveTo(ax(place) - (place ? 4 : 0), y);
      if (!pen) context.lineTo(ax(place), y);
      [pen, alone, before] = [true, !pen, y];
    });
    context.stroke();
  };

  const stack = make("div", { class: "stack" });
  const scroll = make("div", { class: "scroll" }, stack);
  host.append(note("Drag along an axis to select the trials in that range, in all charts and in the table. Click the axis to clear the selection."), scroll);
  if (others.length) {
    host.append(make("label", {}, all, ` also the ${others.length === 1 ? "parameter" : `${others.length} parameters`} of other options than the best`));
    all.addEventListener("change", () => {
      arrange();
      base.style.minWidth = overlay.style.minWidth = minWidth();
      base.redraw();
      overlay.redraw();
    });
  }
  if (count("i")) host.append(note("Dotted grey lines are trials that violate a constraint."));
  const minWidth = () => `${Math.max(320, (order.some((axis) => axes[axis]?.options) ? 84 : 58) * order.length)}px`;
  const base = canvas(stack, {
    id: "parallel-chart",
    height,
    label: `Parallel coordinates of ${shown.length} trials over ${dim} parameters and the value`,
    draw(context, w) {
      width = w;
      box.right = widest(context, ticksOf(dim).marks) + 12;
      shown = thinned(withValue, MOST_LINES);
      const feasible = (row) => Number(trials.state[row] !== "i"); // the best on top
      const ordered = [...shown].reverse().sort((a, b) => feasible(a) - feasible(b) || compareValues(b, a));
      context.lineWidth = 1;
      for (const pass of [0, 1]) {
        for (const row of ordered) {
          if (selected[row] !== pass) continue;
          context.globalAlpha = pass ? (shown.length > 400 ? 0.4 : 0.65) : 0.12;
          const infeasible = trials.state[row] === "i";
          context.strokeStyle = pass && !infeasible ? colour(goodness(values[row])) : colours.faint;
          context.setLineDash(infeasible ? [2, 4] : []);
          path(context, row);
        }
      }
      context.setLineDash([]);
      context.globalAlpha = 1;
      if (selected[bestRow]) {
        context.strokeStyle = colours.warn;
        context.lineWidth = 2.5;
        path(context, bestRow);
      }
      drawAxes(context);
    },
  });
  base.removeAttribute("tabindex");
  const overlay = canvas(stack, {
    id: "parallel-overlay",
    height,
    label: "Hover over a line to see its trial, or drag along an axis to select a range",
    draw(context) {
      const row = hovered;
      if (row === null) return;
      context.lineWidth = 3;
      context.strokeStyle = colours.ink;
      path(context, row);
      context.fillStyle = colours.ink;
      order.forEach((axis, place) => dot(context, ax(place), ay(axisAt(axis, row) + spreadOf(axis, row)), 3.5));
    },
  });
  overlay.classList.add("over");
  base.style.minWidth = overlay.style.minWidth = minWidth();
  const chips = make("div", { class: "chips", id: "brushes" });
  const counted = make("p", { class: "note", id: "brushed", role: "status" });
  host.append(chips, counted, brushForm());
  const thin = note("");
  host.append(thin);

  const ticksOf = (axis) => (axis < dim ? axes[axis].ticks(dense() ? 3 : 5) : currentScale.ticks(6));

  function drawAxes(context) {
    const gap = ax(1) - ax(0);
    for (const [place, axis] of order.entries()) {
      const x = ax(place);
      context.strokeStyle = colours.soft;
      context.lineWidth = 1;
      line(context, x, box.top, x, box.bottom);
      context.textAlign = "center";
      context.textBaseline = "alphabetic";
      context.fillStyle = colours.ink;
      context.font = `600 ${context.font.replace(/^(\d+ )?/, "")}`;
      const { offset, marks } = ticksOf(axis);
      const name = `${axisName(axis)}${offset ? ` ${offset}` : ""}`;
      if (dense()) { // slanted, because there is no room otherwise
        context.save();
        context.translate(x, box.top - 14);
        context.rotate(-0.6);
        context.textAlign = "left";
        context.fillText(fitted(context, name, place < order.length - 2 ? 124 : 66), 0, 0);
        context.restore();
      } else context.fillText(fitted(context, name, place ? gap - 8 : box.left * 2 - 6), x, box.top - 20);
      context.font = context.font.replace(/^(bold|\d+) /, "");
      context.textAlign = "left";
      context.textBaseline = "middle";
      const options = axis < dim && axes[axis].options;
      for (const tick of roomy(marks.filter(onAxis), box.bottom - box.top, 22)) {
        line(context, x - 3, ay(tick.at), x + 3, ay(tick.at));
        const label = options ? fitted(context, tick.label, Math.min(gap - 14, 110)) : tick.label;
        context.lineWidth = 3;
        context.strokeStyle = colours.card;
        context.strokeText(label, x + 6, ay(tick.at));
        context.fillStyle = colours.ink;
        context.fillText(label, x + 6, ay(tick.at));
        context.lineWidth = 1;
        context.strokeStyle = colours.soft;
      }
      const brushed = dragging && dragging.axis === axis ? dragging.range : state.filters.get(axis);
      if (brushed) {
        const [low, high] = brushed;
        context.fillStyle = colours.accent;
        context.globalAlpha = 0.3;
        context.fillRect(x - 9, ay(high), 18, Math.max(ay(low) - ay(high), 2));
        context.globalAlpha = 1;
        context.strokeStyle = colours.accent;
        context.strokeRect(x - 9, ay(high), 18, Math.max(ay(low) - ay(high), 2));
      }
    }
  }

  let hovered = null;
  let dragging = null;

  const where = (event) => {
    const at = overlay.getBoundingClientRect();
    return [event.clientX - at.left, event.clientY - at.top];
  };
  const placeAt = (x) => ((x - box.left) / (width - box.left - box.right)) * (order.length - 1);
  const axisNear = (x) => {
    const place = Math.round(placeAt(x));
    return place in order && Math.abs(ax(place) - x) < 14 ? order[place] : null;
  };
  const unit = (y) => Math.min(Math.max((box.bottom - y) / (box.bottom - box.top), 0), 1);

  function lineUnder(x, y) {
    const between = Math.min(Math.max(Math.floor(placeAt(x)), 0), order.length - 2);
    const at = (place, row) => ay(axisAt(order[place], row) + spreadOf(order[place], row));
    const share = (x - ax(between)) / (ax(between + 1) - ax(between));
    let found = null;
    let nearest = 8;
    for (const row of shown) {
      if (!selected[row]) continue;
      const [a, b] = [at(between, row), at(between + 1, row)];
      const distance = Math.abs(a + share * (b - a) - y);
      if (distance < nearest) [nearest, found] = [distance, row];
    }
    return found;
  }

  function hover(row, x, y) {
    hovered = row;
    overlay.redraw();
    if (row === null) hideTip();
    else showTip(trialName(row), describeTrial(row), x, y);
  }

  overlay.addEventListener("pointerdown", (event) => {
    const [x, y] = where(event);
    const axis = axisNear(x);
    if (axis === null || event.pointerType === "touch") return;
    dragging = { axis, from: unit(y), range: [unit(y), unit(y)] };
    overlay.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  overlay.addEventListener("pointermove", (event) => {
    const [x, y] = where(event);
    if (!dragging) {
      overlay.style.cursor = axisNear(x) === null ? "default" : "crosshair";
      hover(lineUnder(x, y), event.clientX, event.clientY);
      return;
    }
    const here = unit(y);
    dragging.range = [Math.min(here, dragging.from), Math.max(here, dragging.from)];
    hover(null);
    base.redraw();
  });
  overlay.addEventListener("pointerup", () => {
    if (!dragging) return;
    const { axis, range } = dragging;
    dragging = null;
    setBrush(axis, range[1] - range[0] < 0.01 ? null : range);
  });
  overlay.addEventListener("pointercancel", () => {
    dragging = null;
    base.redraw();
  });
  overlay.addEventListener("pointerleave", () => hover(null));
  overlay.addEventListener("blur", () => hover(null));
  overlay.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    const ranked = shown.filter((row) => selected[row]).sort(compareValues);
    if (!step || !ranked.length) return;
    event.preventDefault();
    const place = hovered === null ? (step > 0 ? 0 : -1) : ranked.indexOf(hovered) + step;
    const row = ranked[(place + ranked.length) % ranked.length];
    const at = overlay.getBoundingClientRect();
    hover(row, at.left + 20, at.top + 20);
    sayTrial(row);
  });

  watch(() => {
    thin.textContent = shown.length < withValue.length
      ? `${grouped(shown.length)} of ${grouped(withValue.length)} lines are drawn: half of them are the best ones, the other half is spread evenly over the rest.` : "";
    chips.replaceChildren();
    for (const [axis, [low, high]] of state.filters) {
      const words = `${axisName(axis)}: ${axisShow(axis, low)} to ${axisShow(axis, high)}`;
      const chip = make("button", { type: "button", class: "chip", "aria-label": `Clear the selection ${words}` }, words, make("span", { "aria-hidden": "true" }, " ×"));
      chip.addEventListener("click", () => setBrush(axis, null));
      chips.append(chip);
    }
    counted.textContent = state.filters.size
      ? `${grouped(selectedCount)} of ${grouped(rows)} trials are in the selected ranges.`
      : "No range is selected.";
  });
}

function setBrush(axis, range) {
  if (range === null) state.filters.delete(axis);
  else state.filters.set(axis, range);
  changed();
}

/** A form that does the same as dragging, by keyboard and with exact numbers. */
function brushForm() {
  const names = Array.from({ length: dim + 1 }, (_, axis) => [axis, axisName(axis)]);
  const axis = select("brush-axis", names, dim);
  const from = make("input", { id: "brush-from", type: "text", inputmode: "decimal", size: "9" });
  const to = make("input", { id: "brush-to", type: "text", inputmode: "decimal", size: "9" });
  const form = make("form", { class: "inline", id: "brush-form" }, labelled("Keep", axis), labelled("from", from),
    labelled("to", to), make("button", { type: "submit" }, "Keep"));
  const place = (written, otherwise) => {
    const index = Number(axis.value);
    if (!written.trim()) return otherwise;
    if (index < dim && axes[index].options) {
      const option = parameters[index].options.indexOf(written.trim());
      return option < 0 ? NaN : (option + otherwise) / axes[index].count;
    }
    const number = Number(written);
    return index < dim ? axes[index].at(number) : currentScale.at(number / size);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const ends = [place(from.value, 0), place(to.value, 1)];
    const bad = ends.some(Number.isNaN);
    [from, to].forEach((input, i) => input.setAttribute("aria-invalid", String(Number.isNaN(ends[i]))));
    if (bad) say("That value is not on this axis.");
    else setBrush(Number(axis.value), [Math.min(...ends) - 1e-9, Math.max(...ends) + 1e-9]);
  });
  return form;
}
