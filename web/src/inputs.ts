// Input Statistics: what went in, beside the limits of its type.
import { badMap } from "./badmap";
import { h, prose, scrollable, section, svg } from "./dom";
import { asNumber, brackets, count, digits, num } from "./format";
import { histogram } from "./histogram";
import { floatType } from "./types";
import type { Finding, Statistics, Tensor } from "./data";

const MOST_SHOWN = 12; // further inputs are folded

const nameOf = (tensor: Tensor): string => tensor.name || tensor.argument || "(unnamed)";

// What a backward node saved and then reads is one tensor, and one card.
function withoutTwins(inputs: Tensor[]): Tensor[] {
  const kept: Tensor[] = [];
  for (const tensor of inputs) {
    const twin =
      tensor.saved !== undefined &&
      kept.some((o) => o.name === tensor.name && String(o.shape) === String(tensor.shape) && o.name !== o.argument);
    if (!twin) kept.push(tensor);
  }
  return kept;
}

// Where the values lie between the smallest and the largest number of the type, in powers of two.
function rangeStrip(tensor: Tensor): SVGElement | null {
  const type = floatType(tensor.dtype);
  const ends = [asNumber(tensor.min), asNumber(tensor.max)].filter((v): v is number => v !== null);
  if (!type || ends.length === 0) return null;
  const width = 320;
  const place = (value: number): number => {
    const exponent = value === 0 ? type.smallest : Math.log2(Math.abs(value));
    const clamped = Math.min(Math.max(exponent, type.smallest), type.largest);
    return 8 + ((clamped - type.smallest) / (type.largest - type.smallest)) * (width - 16);
  };
  const largest = Math.max(...ends.map(Math.abs));
  const mean = asNumber(tensor.mean);
  const failing = tensor.at_index.map(asNumber).filter((v): v is number => v !== null && Number.isFinite(v));
  const low = ends.length === 2 && ends[0]! * ends[1]! > 0 ? Math.min(...ends.map(Math.abs)) : 0;
  const label =
    `Magnitudes of ${nameOf(tensor)} up to ${digits(largest)}; ${tensor.dtype} ends at 2 to the power ${type.largest}` +
    (failing.length > 0 ? `; the failing element is ${digits(failing[0]!)}` : "");
  const mark = (value: number, name: string): SVGElement =>
    svg("line", { class: name, x1: place(value), x2: place(value), y1: 8, y2: 24 });
  const from = low > 0 ? place(low) : place(0);
  return svg(
    "svg",
    { class: "strip", viewBox: `0 0 ${width} 46`, role: "img", "aria-label": label },
    svg("rect", { class: "axis", x: 8, y: 15, width: width - 16, height: 2 }),
    svg("rect", { class: "subnormal", x: 8, y: 13, width: Math.max(place(2 ** type.normal) - 8, 0), height: 6 }),
    svg("rect", { class: low > 0 ? "span" : "span open", x: from, y: 12, width: Math.max(place(largest) - from, 2), height: 8, rx: 2 }),
    mean !== null && mean !== 0 && mark(mean, "mean"),
    ...failing.slice(0, 1).map((value) => mark(value, "failing")),
    svg("text", { x: 8, y: 40, class: "tick" }, `2^${type.smallest}`),
    svg("text", { x: place(1), y: 40, class: "tick middle" }, "1"),
    svg("text", { x: width - 8, y: 40, class: "tick end" }, `2^${type.largest}`),
  );
}

// What is no ordinary number has a bar of its own.
function statisticsTable(statistics: Statistics, numel: number): HTMLElement {
  const kinds: [string, number, string][] = [
    ["zeros", statistics.zeros, "zero"],
    ["negatives", statistics.negatives, "negative"],
    ["subnormals", statistics.subnormals, "subnormal"],
    ["NaN", statistics.nan, "worst"],
    ["+Inf", statistics.pos_inf, "worst"],
    ["-Inf", statistics.neg_inf, "worst"],
  ];
  const row = (name: string, value: HTMLElement, bar?: HTMLElement, none = false): HTMLElement =>
    h("tr", { class: none ? "none" : undefined }, h("th", { scope: "row" }, name), h("td", { class: "number" }, value), h("td", { class: "bars", "aria-hidden": "true" }, bar));
  const counts = kinds.map(([name, amount, kind]) => {
    const bar = h("span", { class: `bar ${kind}` });
    bar.style.setProperty("--share", String(numel > 0 ? amount / numel : 0));
    return row(name, count(amount), amount > 0 ? bar : undefined, amount === 0);
  });
  const ends = [row("min", num(statistics.min)), row("max", num(statistics.max)), row("mean", num(statistics.mean))];
  return h("table", { class: "shares" }, h("tbody", {}, ...ends, ...counts));
}

function failingValues(tensor: Tensor, finding: Finding): HTMLElement | null {
  if (tensor.at_index.length === 0) return null;
  const indices = finding.origin.indices;
  const items = tensor.at_index.map((value, i) =>
    h("li", {}, indices[i]?.length ? h("code", {}, brackets(indices[i]!)) : "its value", " ", num(value)),
  );
  return h("div", { class: "failing-values" }, h("h4", {}, "At the failing elements"), h("ul", {}, ...items));
}

// Of a softmax the row, of a sum what was summed.
function feeding(s: Statistics & { numel: number }): HTMLElement {
  const bad: [number, string][] = [[s.nan, "nan"], [s.pos_inf, "inf"], [s.neg_inf, "-inf"]];
  const kinds = bad.filter(([amount]) => amount > 0).map(([amount, word]) => `${amount.toLocaleString("en-US")} ${word}`);
  const finite = s.min === null || s.min === undefined ? [] : [" from ", num(s.min), " to ", num(s.max)];
  return h("p", { class: "remark" }, "What feeds the first failing element: ", count(s.numel), s.numel === 1 ? " value" : " values", ...finite, kinds.length > 0 ? `${finite.length > 0 ? "; " : ": "}${kinds.join(", ")}` : "", ".");
}

function card(tensor: Tensor, finding: Finding, role: "input" | "output"): HTMLElement {
  const numel = tensor.shape.reduce((a, b) => a * b, 1);
  return h(
    "article",
    { class: `tensor ${role}` },
    h("p", { class: "side" }, role === "input" ? "went in" : "came out"),
    h("h3", {}, h("code", {}, nameOf(tensor))),
    h("p", { class: "kind" }, `${tensor.dtype} ${brackets(tensor.shape)}${tensor.parameter ? ", a parameter" : ""}`),
    histogram(tensor, nameOf(tensor)) ?? rangeStrip(tensor),
    statisticsTable(tensor, numel),
    failingValues(tensor, finding),
    badMap(tensor, finding, nameOf(tensor)),
    tensor.feeding && feeding(tensor.feeding),
    tensor.remark ? h("p", { class: "remark" }, ...prose(tensor.remark)) : null,
  );
}

export function inputStatistics(finding: Finding): HTMLElement {
  const inputs = withoutTwins(finding.inputs);
  const cards = inputs.map((tensor) => card(tensor, finding, "input"));
  const folded = cards.splice(MOST_SHOWN);
  // A few results stand beside what went in.
  const results = finding.outputs.map((tensor) => card(tensor, finding, "output"));
  const beside = results.length <= 2 && cards.length <= 4 ? results.splice(0) : [];
  const left = finding.inputs_left_out ?? 0;
  return section(
    "inputs",
    "Input Statistics",
    inputs.length === 0 && h("p", { class: "quiet" }, "No inputs were recorded."),
    h("div", { class: "tensors" }, ...cards, ...beside),
    folded.length > 0 && h("details", {}, h("summary", {}, `${folded.length} more inputs`), h("div", { class: "tensors" }, ...folded)),
    left > 0 && h("p", { class: "quiet" }, `${left} more inputs were not recorded.`),
    finding.scalars.length > 0 &&
      h("p", { class: "scalars" }, "with ", ...finding.scalars.flatMap((s, i) => [i > 0 ? ", " : "", h("code", {}, `${s.name} = ${s.value}`)])),
    results.length > 0 && h("details", { open: results.length <= 2 }, h("summary", {}, "What came out"), h("div", { class: "tensors" }, ...results)),
    magnitudes(finding),
  );
}

// What the forward kept, the largest of each layer; of a backward the gradients.
function magnitudes(finding: Finding): HTMLElement | null {
  if (finding.magnitudes.length === 0) return null;
  const sizes = finding.magnitudes.map((m) => asNumber(m.largest) ?? NaN);
  const finite = sizes.filter((v) => Number.isFinite(v) && v > 0).map(Math.log10);
  const [low, high] = [Math.min(...finite, 0) - 1, Math.max(...finite, 0) + 1];
  const rows = finding.magnitudes.map((m, i) => {
    const size = sizes[i]!;
    const share = Number.isFinite(size) ? (size > 0 ? (Math.log10(size) - low) / (high - low) : 0) : 1;
    const bar = h("span", { class: `bar ${Number.isFinite(size) ? "size" : "worst"}` });
    bar.style.setProperty("--share", String(share));
    return h("tr", {}, h("th", { scope: "row" }, m.name ? h("code", {}, m.name) : `layer ${i + 1}`, m.gradient ? " (gradient)" : ""), h("td", { class: "number" }, num(m.largest)), h("td", { class: "bars", "aria-hidden": "true" }, bar));
  });
  const filter = h("input", { type: "search", placeholder: "Filter layers", "aria-label": "Filter layers", input: () => apply() });
  const apply = (): void =>
    rows.forEach((row, i) => (row.hidden = !finding.magnitudes[i]!.name.toLowerCase().includes(filter.value.toLowerCase())));
  return h(
    "details",
    { class: "magnitudes", open: rows.length <= 6 },
    h("summary", {}, "The largest value that each layer of this step kept for the backward"),
    finding.magnitudes.length > 6 && h("p", {}, filter),
    scrollable("The largest values, layer by layer", h("table", { class: "shares" }, h("tbody", {}, ...rows))),
  );
}
