// Numbers as a person would write them, and the ticks of axes.

/** Positive values whose largest is more than this many times the smallest get a log axis. The plots
 * in Python have the same rule: `DECADES` in plotting.py. */
const DECADES = 100;

function spansDecades(low, high) {
  return low > 0 && high > DECADES * low;
}

/** A number as text, with this many significant digits. */
function text(number, digits = 5) {
  if (number === null || number === undefined || Number.isNaN(number)) return "";
  if (number === 0) return "0";
  const shown = Number(number.toPrecision(digits));
  const magnitude = Math.abs(shown);
  if (magnitude >= 10 ** Math.max(digits, 8) || magnitude < 1e-4) return scientific(shown);
  return String(shown);
}

function scientific(number) {
  return number.toExponential().replace("e+", "e");
}

/** A number with a comma after the thousands if it has five digits or more before the point. */
function grouped(number) {
  const written = String(number);
  return written.includes("e") ? written : written.replace(/^(-?\d{5,})/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
}

/** The number of leading digits that all numbers between two ends have in common. */
function commonDigits(low, high) {
  const apart = high / 2 - low / 2;
  if (!(apart > 0)) return 0;
  const digits = Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / 2 / apart));
  return Math.min(Math.max(digits, 0), 11);
}

/** Two ends of a range as text, with as many digits as tell them apart; nearly equal ends have equally many decimals. */
function fromTo(low, high, digits = 4) {
  const common = commonDigits(low, high);
  const shown = [low, high].map((end) => text(end, digits + common));
  const decimals = common > 1 && !shown.some((end) => end.includes("e")) ? Math.max(...shown.map((end) => decimalsOf(Number(end)))) : null;
  const [a, b] = shown.map((end) => grouped(decimals === null ? end : Number(end).toFixed(decimals)));
  return a === b ? a : `${a} to ${b}`;
}

const TIMES = [["µs", 1e-3, 1e-6], ["ms", 1, 1e-3], ["s", 120, 1], ["min", 7200, 60], ["h", Infinity, 3600]];

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const [unit, , size] = TIMES.find(([, below]) => seconds < below);
  return `${text(seconds / size, seconds / size < 100 ? 2 : 3)} ${seconds === 0 ? "s" : unit}`;
}

/** A share from 0 to 1 in per cent. */
function percent(share) {
  return share > 0 && share < 0.001 ? "< 0.1 %" : `${text(100 * share, share < 0.01 ? 1 : 2)} %`;
}

function moment(time) {
  return new Date(time * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

// Ticks: round numbers, and labels with as many digits as tell them apart.

/** Round numbers between two ends, at most one more than `about`; with these multiples of a power of ten. */
function niceTicks(low, high, about, multiples = [1, 2, 2.5, 5]) {
  const span = high - low;
  if (!(span > 0 && span < Infinity)) return [low, high];
  const power = 10 ** Math.floor(Math.log10(span / about) - 1);
  const steps = [1, 10, 100].flatMap((ten) => multiples.map((m) => m * ten * power));
  const ends = (step) => [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  const step = steps.find((each) => ends(each)[1] - ends(each)[0] <= about) ?? 1000 * power;
  const [first, last] = ends(step);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, i) => Number(((first + i) * step).toPrecision(15)));
}

function wholeTicks(low, high, about) {
  return niceTicks(low, high, about, [1, 2, 5]).filter(Number.isInteger);
}

/** Powers of ten between two ends, or between few of them also some of their multiples. */
function logTicks(low, high, about) {
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const inside = (tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9);
  const powers = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  for (const multiples of to - from > 3 ? [] : [[1, 2, 5], [1, 3]]) {
    const ticks = powers.flatMap((e) => multiples.map((m) => Number(`${m}e${e}`))).filter(inside);
    if (ticks.length > 2 && ticks.length <= about + 1) return ticks;
  }
  const tens = powers.map((e) => Number(`1e${e}`)).filter(inside);
  if (tens.length < 2) return niceTicks(low, high, about).filter((tick) => tick > 0);
  return tens.filter((_, i) => i % Math.ceil(tens.length / about) === 0);
}

const LONGEST = 10; // characters of a label; with more, labels are differences from an offset

/** Ticks at these numbers: their places by `at`, and labels that differ. If the numbers have so many
 * digits in common that labels would be long, labels are what is to be added to `offset`. */
function ticksAt(numbers, at) {
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  let labels = numberLabels(numbers);
  let offset = "";
  if (numbers.length > 1 && labels.some((label) => label.length > LONGEST) && commonDigits(low, high) > 2) {
    const unit = 10 ** Math.ceil(Math.log10(high - low));
    const base = Number((Math.trunc((low + high) / 2 / unit) * unit).toPrecision(15));
    labels = numberLabels(numbers.map((number) => Number((number - base).toPrecision(4))));
    offset = `${base < 0 ? "−" : "+"} ${grouped(text(Math.abs(base), 15))}`;
  }
  return { offset, marks: numbers.map((number, i) => ({ at: at(number), label: labels[i] })) };
}

/** Increasing numbers of an axis as text: with the same number of decimals, unless they are on a log scale. */
function numberLabels(numbers) {
  const largest = Math.max(...numbers.map(Math.abs));
  const round = numbers.map((number) => Number(number.toPrecision(12)));
  if (largest >= 1e7 || (largest > 0 && largest < 1e-3)) return round.map((number) => (number === 0 ? "0" : scientific(number)));
  const [first, second, third = Infinity] = round;
  if (first > 0 && second >= 2 * first && third - second > 1.5 * (second - first)) return round.map((number) => grouped(text(number, 12)));
  const most = Math.max(...round.map(decimalsOf));
  return round.map((number) => (number === 0 ? "0" : grouped(number.toFixed(most))));
}

function decimalsOf(number) {
  const [digits, exponent = "0"] = number.toExponential().split("e");
  return Math.max((digits.split(".")[1] ?? "").length - Number(exponent), 0);
}
