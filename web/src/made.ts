// What an op on the way gave, in words: float16 [8, 24, 24] · 11 of 4,608 not finite · the rest up to 64608
import { asNumber, brackets, digits } from "./format";
import type { Made } from "./data";

const times = (amount: number): string => amount.toLocaleString("en-US");

export function sizes(made: Made): string {
  const parts = [`${made.dtype} ${brackets(made.shape)}`];
  if (made.nan !== undefined) {
    const bad = made.nan + (made.pos_inf ?? 0) + (made.neg_inf ?? 0);
    const largest = asNumber(made.largest);
    const numel = made.shape.reduce((a, b) => a * b, 1);
    parts.push(bad === 0 ? "all finite" : bad === numel ? (numel === 1 ? "not finite" : "none finite") : `${times(bad)} of ${times(numel)} not finite`);
    if (largest !== null) parts.push(`${bad > 0 ? "the rest " : ""}up to ${digits(largest)}`);
  }
  return parts.join(" · ");
}
