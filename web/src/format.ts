// Numbers as a person reads them, in the same form as the terminal.
import { h } from "./dom";
import type { Maybe, Site, Value } from "./data";

export function asNumber(value: Maybe<Value>): number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return value;
  if (value === "nan") return NaN;
  if (value === "inf") return Infinity;
  return value === "-inf" ? -Infinity : null;
}

// Six digits, as `nanscope show` prints them.
export function digits(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent < -5 || exponent >= 6)
    return value.toExponential(5).replace(/\.?0+e/, "e").replace(/e([+-])(\d)$/, "e$10$2");
  return String(Number(value.toPrecision(6)));
}

export function text(value: Maybe<Value>): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? digits(value) : value;
}

// The exact value stays in the page, for whoever reads it by machine.
export function num(value: Maybe<Value>): HTMLElement {
  const shown = text(value);
  const bad = typeof value === "string";
  return h("data", { value: value === null || value === undefined ? "" : String(value), class: bad ? "bad" : undefined }, shown);
}

export function count(value: number): HTMLElement {
  return h("data", { value }, value.toLocaleString("en-US"));
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  while (value >= 999.5 && unit + 1 < units.length) (value /= 1000), ++unit;
  return `${value.toFixed(unit > 0 && value < 9.95 ? 1 : 0)} ${units[unit]}`;
}

export const brackets = (numbers: number[]): string => `[${numbers.join(", ")}]`;

export function plural(amount: number, noun: string): string {
  return `${amount.toLocaleString("en-US")} ${noun}${amount === 1 ? "" : "s"}`;
}

// train.py:41:18; editors count columns from 1
export function position(site: Site): string {
  if (!site.file) return "(place unknown)";
  const columns = site.end_col > site.col || site.end_line > site.line;
  return `${site.file}:${site.line}${columns ? `:${site.col + 1}` : ""}`;
}
