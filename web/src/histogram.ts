// How large the numbers of a tensor are: a histogram over powers of two. What has no exponent
// (zeros, subnormals, Inf, NaN) has a bar of its own; the limits of the type and the failing element
// are marked.
import { h, svg } from "./dom";
import { asNumber, digits } from "./format";
import { floatType, type FloatType } from "./types";
import type { Exponents, Tensor, Value } from "./data";

const WIDTH = 320;
const TOP = 24;
const BASE = 100; // where the bars stand
const BAR = 15; // width of a special bar
const GAP = 10; // between two special bars: their names need it
const LEFT = 2 * (BAR + GAP) + 6;
const RIGHT = WIDTH - LEFT;
const NEAR = 12; // powers of two; a limit that is further away is told, not drawn
const NARROWEST = 12; // powers of two on the axis

interface Axis {
  low: number; // powers of two
  high: number;
  place: (exponent: number) => number;
}

const RAISED: Record<string, string> = { "-": "⁻", "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹" };
const power = (exponent: number): string => (exponent === 0 ? "1" : `2${[...String(exponent)].map((c) => RAISED[c] ?? c).join("")}`);
const times = (amount: number): string => amount.toLocaleString("en-US");

function axisOf(exponents: Exponents, type: FloatType, marked: number | null): Axis {
  let low = exponents.first;
  let high = exponents.first + exponents.width * exponents.bins.length;
  if (exponents.bins.length === 0) [low, high] = [-NARROWEST / 2, NARROWEST / 2];
  if (marked !== null) [low, high] = [Math.min(low, marked), Math.max(high, marked)];
  if (type.largest - high <= NEAR) high = type.largest;
  if (low - type.normal <= NEAR) low = type.normal;
  while (high - low < NARROWEST) {
    if (high < type.largest) ++high;
    if (low > type.normal && high - low < NARROWEST) --low;
    if (high >= type.largest && low <= type.normal) break;
  }
  return { low, high, place: (exponent) => LEFT + ((exponent - low) / (high - low)) * (RIGHT - LEFT) };
}

// The failing element is one of the special kinds, or has an exponent.
function kindOf(value: Value | undefined, type: FloatType): string | number | null {
  if (value === undefined) return null;
  if (value === "nan") return "NaN";
  if (value === "inf" || value === "-inf") return "Inf";
  const number = asNumber(value as number);
  if (number === null || !Number.isFinite(number)) return null; // a complex number
  if (number === 0) return "0";
  const exponent = Math.log2(Math.abs(number));
  return exponent < type.normal ? "sub" : exponent;
}

function ticks(axis: Axis): SVGElement[] {
  const span = axis.high - axis.low;
  const step = [1, 2, 4, 5, 10, 20, 50, 100, 200, 500].find((s) => span / s <= 4) ?? 1000;
  const found: SVGElement[] = [];
  for (let e = Math.ceil(axis.low / step) * step; e <= axis.high; e += step) {
    const x = axis.place(e);
    found.push(svg("line", { class: "grid", x1: x, x2: x, y1: BASE, y2: BASE + 4 }));
    if (x > LEFT + 8 && x < RIGHT - 8) found.push(svg("text", { class: "tick middle", x, y: BASE + 15 }, power(e)));
  }
  return found;
}

export function histogram(tensor: Tensor, name: string): HTMLElement | null {
  const type = floatType(tensor.dtype);
  const { exponents } = tensor;
  if (!type || !exponents) return null;
  const failing = kindOf(tensor.at_index[0], type);
  const axis = axisOf(exponents, type, typeof failing === "number" ? failing : null);
  const special: [string, number, number, string, string][] = [
    ["0", tensor.zeros, 2, "zero", "zero"],
    ["sub", tensor.subnormals, 2 + BAR + GAP, "zero", "subnormal"],
    ["Inf", tensor.pos_inf + tensor.neg_inf, WIDTH - 4 - 2 * BAR - GAP, "worst", "+Inf or -Inf"],
    ["NaN", tensor.nan, WIDTH - 4 - BAR, "worst", "NaN"],
  ];
  const most = Math.max(1, ...exponents.bins, ...special.map(([, amount]) => amount));
  const height = (amount: number): number => (amount > 0 ? Math.max(3, (Math.log1p(amount) / Math.log1p(most)) * (BASE - TOP)) : 0);
  const bar = (x: number, width: number, amount: number, kind: string, what: string): SVGElement =>
    svg("rect", { class: `column ${kind}`, x, y: BASE - height(amount), width, height: height(amount), "data-count": amount }, svg("title", {}, `${what}: ${times(amount)}`));

  const bins = exponents.bins.flatMap((amount, i) => {
    if (amount === 0) return [];
    const from = exponents.first + i * exponents.width;
    const [x, end] = [axis.place(from), axis.place(from + exponents.width)];
    return [bar(x + 0.4, Math.max(end - x - 0.8, 1), amount, "", `${power(from)} to ${power(from + exponents.width)}`)];
  });
  const specials = special.flatMap(([label, amount, x, kind, what]) => [
    amount > 0 ? bar(x, BAR, amount, kind, what) : svg("rect", { class: "column none", x, y: BASE - 1, width: BAR, height: 1 }),
    svg("text", { class: amount > 0 ? "tick middle strong" : "tick middle", x: x + BAR / 2, y: BASE + 15 }, label),
  ]);
  const mark = markOf(failing, axis, special);
  const limits = [
    endIsDrawn(axis, type) ? limit(axis.place(type.largest), `largest ${tensor.dtype}`, "end") : null,
    beginIsDrawn(axis, type) ? limit(axis.place(type.normal), "smallest normal", "start") : null,
  ];
  return h(
    "figure",
    { class: "histogram" },
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${BASE + 20}`, role: "img", "aria-label": label(tensor, name, type, failing) },
      svg("rect", { class: "axis", x: LEFT, y: BASE, width: RIGHT - LEFT, height: 1 }),
      ...ticks(axis),
      ...bins,
      ...specials,
      ...limits,
      mark,
    ),
    h("figcaption", { class: "quiet" }, ...caption(tensor, exponents, type, axis, mark !== null)),
  );
}

const endIsDrawn = (axis: Axis, type: FloatType): boolean => type.largest <= axis.high;
const beginIsDrawn = (axis: Axis, type: FloatType): boolean => type.normal >= axis.low;

// A limit that is too far away to be drawn is told.
function farLimits(dtype: string, type: FloatType, axis: Axis): string {
  const [begin, end] = [beginIsDrawn(axis, type), endIsDrawn(axis, type)];
  if (begin && end) return "";
  if (begin) return `${dtype} ends at ${power(type.largest)}`;
  return end ? `normal from ${power(type.normal)} on` : `normal ${dtype}: ${power(type.normal)} to ${power(type.largest)}`;
}

function limit(x: number, word: string, anchor: string): SVGElement {
  return svg(
    "g",
    { class: "limit" },
    svg("line", { x1: x, x2: x, y1: TOP - 16, y2: BASE }),
    svg("text", { class: "tick", x: anchor === "end" ? x - 3 : x + 3, y: TOP - 9, "text-anchor": anchor }, word),
  );
}

function markOf(failing: string | number | null, axis: Axis, special: [string, number, number, string, string][]): SVGElement | null {
  if (failing === null) return null;
  const own = special.find(([name]) => name === failing);
  const x = typeof failing === "number" ? axis.place(failing) : own ? own[2] + BAR / 2 : null;
  if (x === null) return null;
  return svg("g", { class: "failing-mark" }, svg("line", { x1: x, x2: x, y1: 8, y2: BASE }), svg("path", { d: `M${x - 5},1 h10 l-5,8 z` }));
}

function label(tensor: Tensor, name: string, type: FloatType, failing: string | number | null): string {
  const parts = [`Sizes of the numbers in ${name}`];
  if (typeof tensor.max === "number" && typeof tensor.min === "number")
    parts.push(`up to ${digits(Math.max(Math.abs(tensor.min), Math.abs(tensor.max)))}`);
  parts.push(`${tensor.dtype} ends at 2 to the power ${type.largest}`);
  if (failing !== null) parts.push(`the failing element is ${String(tensor.at_index[0])}`);
  return parts.join(", ");
}

// Its parts; a line ends between them.
function caption(tensor: Tensor, exponents: Exponents, type: FloatType, axis: Axis, marked: boolean): HTMLElement[] {
  const numel = tensor.shape.reduce((a, b) => a * b, 1);
  const parts = [
    marked && "▼ the failing element",
    farLimits(tensor.dtype, type, axis),
    exponents.looked_at < numel && `${times(exponents.looked_at)} of ${times(numel)} elements`,
  ];
  return parts.filter(Boolean).map((part) => h("span", { class: "whole" }, part));
}
