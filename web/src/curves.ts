// One curve over the steps, drawn with uPlot: hover reads values, dragging zooms, double click resets.
import uPlot from "uplot";
import { h, prose } from "./dom";
import { asNumber, digits } from "./format";
import type { Maybe, Num } from "./data";

export interface Series {
  name: string;
  values: Maybe<Num>[];
  color: string; // of a CSS variable
  dashed?: boolean;
}

const variable = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// What can be drawn: numbers. NaN and Inf leave a gap, which the caption names.
const drawn = (values: Maybe<Num>[]): (number | null)[] =>
  values.map((value) => {
    const number = asNumber(value);
    return number !== null && Number.isFinite(number) ? number : null;
  });

// Over two powers of ten a linear axis shows nothing but the last.
function needsLogarithm(series: Series[]): boolean {
  const numbers = series.flatMap((s) => drawn(s.values)).filter((v): v is number => v !== null);
  if (numbers.length === 0 || numbers.some((v) => v <= 0)) return false;
  return Math.max(...numbers) / Math.min(...numbers) > 100;
}

// Steps behind each other at which a value is no number: nan from 136 to 177.
interface BadRun {
  value: string;
  first: number; // places in the list of steps
  last: number;
}

function badRuns(values: Maybe<Num>[]): BadRun[] {
  const runs: BadRun[] = [];
  values.forEach((value, i) => {
    const before = runs.at(-1);
    if (typeof value !== "string") return;
    if (before && before.last === i - 1 && before.value === value) before.last = i;
    else runs.push({ value, first: i, last: i });
  });
  return runs;
}

function runText({ value, first, last }: BadRun, steps: number[]): string {
  if (first === last) return `${value} at step ${steps[first]}`;
  return last === steps.length - 1 ? `${value} from step ${steps[first]} on` : `${value} from step ${steps[first]} to ${steps[last]}`;
}

function caption(title: string, steps: number[], series: Series[]): HTMLElement {
  const several = series.length > 1;
  const bad = series.flatMap((s) => badRuns(s.values).map((run) => `${several ? `${s.name}: ` : ""}${runText(run, steps)}`));
  const last = series.map((s) => [...drawn(s.values)].reverse().find((v) => v !== null));
  return h(
    "figcaption",
    {},
    h("strong", {}, title),
    ...series.map((s, i) => (last[i] !== undefined && last[i] !== null ? h("span", { class: s.dashed ? "key dashed" : "key" }, several ? `${s.name}: last ` : "last ", digits(last[i]!)) : null)),
    bad.length > 0 && h("span", { class: "bad" }, ...prose(bad.length > 2 ? `${bad.slice(0, 2).join(", ")}, …` : bad.join(", "))),
  );
}

const charts = new Set<{ plot: uPlot; place: HTMLElement; draw: () => uPlot }>();

export function forgetCurves(): void {
  for (const chart of charts) chart.plot.destroy();
  charts.clear();
}

// Colours are read when a chart is drawn: after a change of theme it is drawn again.
export function redrawCurves(): void {
  for (const chart of charts) {
    chart.plot.destroy();
    chart.plot = chart.draw();
  }
}

window.addEventListener("resize", () => {
  for (const { plot, place } of charts) plot.setSize({ width: place.clientWidth, height: plot.height });
});

// A value that cannot be drawn is a line at its step; where more of them follow, their field is tinted.
function markBad(plot: uPlot, steps: number[], series: Series[]): void {
  const { ctx, bbox } = plot;
  const bad = steps.map((_, i): Num | null => (series.some((s) => typeof s.values[i] === "string") ? "nan" : null));
  const place = (i: number): number => Math.round(plot.valToPos(steps[i]!, "x", true));
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width + devicePixelRatio, bbox.height);
  ctx.clip();
  ctx.strokeStyle = ctx.fillStyle = variable("--bad");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const { first, last } of badRuns(bad)) {
    const [from, to] = [place(first), place(last)];
    ctx.globalAlpha = 0.1;
    ctx.fillRect(from, bbox.top, to - from, bbox.height);
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.moveTo(from, bbox.top);
    ctx.lineTo(from, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

// On a logarithmic axis exponents are drawn, and the marks say the numbers.
const powers = (v: number): string => (Number.isInteger(v) ? (Math.abs(v) > 4 ? `1e${v}` : digits(10 ** v)) : "");

function options(width: number, steps: number[], series: Series[], logarithm: boolean): uPlot.Options {
  const grid = { stroke: variable("--line"), width: 1 };
  const axis = { stroke: variable("--quiet"), font: "12px system-ui, sans-serif", grid, ticks: grid };
  const value = (_: uPlot, v: number | null): string => (v === null || v === undefined ? "–" : digits(logarithm ? 10 ** v : v));
  return {
    width,
    height: 160,
    cursor: { sync: { key: "steps" }, drag: { x: true, y: false } },
    legend: { live: true },
    scales: { x: { time: false } },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map((t) => (Number.isInteger(t) ? String(t) : "")) },
      { ...axis, size: 64, space: 26, values: (_, ticks) => ticks.map(logarithm ? powers : digits) },
    ],
    series: [
      { label: "step" },
      ...series.map((s) => ({
        label: s.name,
        stroke: variable(s.color),
        width: 1.75,
        dash: s.dashed ? [5, 4] : undefined,
        points: { show: steps.length < 40, size: 5 },
        value,
      })),
    ],
  };
}

export function curve(title: string, steps: number[], series: Series[]): HTMLElement {
  const place = h("div", { class: "plot" });
  const reset = h("button", { type: "button", class: "quiet-button", hidden: true, click: () => zoomOut() }, "Whole run");
  const figure = h(
    "figure",
    { class: "curve" },
    caption(title, steps, series),
    h("div", { role: "img", "aria-label": `${title} over ${steps.length} steps; the values are in the table below` }, place),
    reset,
  );
  const logarithm = needsLogarithm(series);
  const shown = (values: Maybe<Num>[]): (number | null)[] => drawn(values).map((v) => (v !== null && logarithm ? Math.log10(v) : v));
  const data = [steps, ...series.map((s) => shown(s.values))] as uPlot.AlignedData;
  const draw = (): uPlot => {
    const settings = options(Math.max(place.clientWidth, 200), steps, series, logarithm);
    settings.hooks = {
      setScale: [(plot, key) => key === "x" && (reset.hidden = whole(plot))],
      draw: [(plot) => markBad(plot, steps, series)],
    };
    return new uPlot(settings, data, place);
  };
  const whole = (plot: uPlot): boolean =>
    (plot.scales.x?.min ?? -Infinity) <= steps[0]! && (plot.scales.x?.max ?? Infinity) >= steps.at(-1)!;
  const zoomOut = (): void => chart?.plot.setScale("x", { min: steps[0]!, max: steps.at(-1)! });
  let chart: { plot: uPlot; place: HTMLElement; draw: () => uPlot } | undefined;
  // A chart needs to know its width, which it has once it is in the page.
  queueMicrotask(() => {
    chart = { plot: draw(), place, draw };
    charts.add(chart);
  });
  return figure;
}
