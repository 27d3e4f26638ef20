// How it came: the steps up to the failing one.
import { h, scrollable, section } from "./dom";
import { num } from "./format";
import { curve } from "./curves";
import type { Finding, Step } from "./data";

const QUANTITIES: [Exclude<keyof Step, "step">, string][] = [
  ["loss", "Loss"],
  ["gradient_norm", "Gradient norm"],
  ["largest_parameter", "Largest parameter"],
  ["update_ratio", "Update ratio"],
  ["learning_rate", "Learning rate"],
  ["loss_scale", "Loss scale"],
];

// What the backward begins from is multiplied by the loss scaler first.
const isScaled = (steps: Step[]): boolean => steps.some((step) => step.loss_scale !== null && step.loss_scale !== undefined);

function table(history: Step[], known: [Exclude<keyof Step, "step">, string][]): HTMLElement {
  return h(
    "details",
    { open: history.length === 1 },
    h("summary", {}, history.length === 1 ? "The one step as numbers" : `All ${history.length} steps as numbers`),
    scrollable(
      "The steps as numbers",
      h(
        "table",
        { class: "numbers" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "step"), ...known.map(([, title]) => h("th", { scope: "col" }, title)))),
        h("tbody", {}, ...history.map((step) => h("tr", {}, h("th", { scope: "row" }, step.step), ...known.map(([key]) => h("td", { class: "number" }, num(step[key])))))),
      ),
    ),
  );
}

// A learning rate that never changes is one number, not a curve.
const changes = (history: Step[], key: Exclude<keyof Step, "step">): boolean =>
  new Set(history.map((step) => step[key])).size > 1;

export function history(finding: Finding): HTMLElement | null {
  const steps = finding.history;
  if (steps.length === 0) return null;
  const known = QUANTITIES.filter(([key]) => steps.some((step) => step[key] !== null && step[key] !== undefined)).map(
    ([key, title]): [Exclude<keyof Step, "step">, string] => [key, key === "loss" && isScaled(steps) ? "Loss, scaled" : title],
  );
  const drawn = steps.length > 1 ? known.filter(([key]) => changes(steps, key)) : [];
  const constant = steps.length > 1 ? known.filter(([key]) => !changes(steps, key)) : [];
  const numbers = steps.map((step) => step.step);
  const gap = numbers.findIndex((n, i) => i > 0 && n - numbers[i - 1]! > 1);
  return section(
    "history",
    "How it came",
    h("div", { class: drawn.length % 3 === 1 || drawn.length === 2 ? "curves two" : "curves" }, ...drawn.map(([key, title]) => curve(title, numbers, [{ name: title.toLowerCase(), values: steps.map((s) => s[key]), color: "--accent" }]))),
    constant.length > 0 && h("p", { class: "quiet" }, ...constant.flatMap(([key, title], i) => [i > 0 ? ", " : "", i > 0 ? title.toLowerCase() : title, " ", num(steps[0]![key])]), " in every step."),
    gap > 0 && h("p", { class: "quiet" }, `Steps ${numbers[gap - 1]! + 1} to ${numbers[gap]! - 1} were not kept.`),
    table(steps, known),
  );
}
