// First Bad Operation: the source with its expression underlined, and what is known of the op.
import { facts, h, joints, prose, scrollable, section } from "./dom";
import { brackets, count, position } from "./format";
import type { Finding, Origin, Site } from "./data";

const TAB = "    ";

// The characters of one line before, inside and behind the expression. Columns count code points.
function split(line: string, number: number, site: Site): [string, string, string] {
  const characters = Array.from(line);
  const known = site.end_line > site.line || site.end_col > site.col;
  if (!known) return [line, "", ""];
  let from = number === site.line ? site.col : 0;
  let to = number === site.end_line ? site.end_col : characters.length;
  while (from < to && /\s/.test(characters[from] ?? "")) ++from;
  while (to > from && /\s/.test(characters[to - 1] ?? "")) --to;
  const part = (a: number, b: number): string => characters.slice(a, b).join("").replaceAll("\t", TAB);
  return [part(0, from), part(from, to), part(to, characters.length)];
}

const sourceLine = (number: number, kind: string, ...parts: (Node | string)[]): HTMLElement =>
  h("span", { class: `line ${kind}` }, h("span", { class: "gutter", "aria-hidden": "true" }, number), h("span", {}, ...parts, "\n"));

// The lines above or below, quietly.
const around = (lines: string[], first: number): HTMLElement[] =>
  lines.map((line, i) => sourceLine(first + i, "around", line.replaceAll("\t", TAB)));

export function excerpt(site: Site): HTMLElement | null {
  const lines = site.source?.length ? site.source : site.code ? [site.code] : [];
  if (lines.length === 0) return null;
  const before = site.before ?? [];
  const code = h("code", {}, ...around(before, site.line - before.length));
  lines.forEach((line, i) => {
    const number = site.line + i;
    const [start, marked, behind] = site.source?.length ? split(line, number, site) : ["", line, ""];
    code.append(sourceLine(number, "", start, marked ? h("mark", {}, marked) : "", behind));
  });
  code.append(...around(site.after ?? [], site.end_line + 1));
  return scrollable(`Source at ${position(site)}`, h("pre", { class: "source" }, code));
}

function elements(origin: Origin): Node[] | string {
  const bad = origin.nan + origin.pos_inf + origin.neg_inf;
  if (origin.numel === 0) return "";
  const kinds = [
    [origin.nan, "nan"],
    [origin.pos_inf, "inf"],
    [origin.neg_inf, "-inf"],
  ] as const;
  const parts = kinds.filter(([n]) => n > 0).map(([n, word]) => `${n.toLocaleString("en-US")} ${word}`);
  return prose(`${bad.toLocaleString("en-US")} of ${origin.numel.toLocaleString("en-US")}: ${parts.join(", ")}`);
}

function stack(origin: Origin): HTMLElement | null {
  if (origin.stack.length < 2) return null;
  return h(
    "details",
    {},
    h("summary", {}, `Called from (${origin.stack.length})`),
    h("ol", { class: "stack" }, ...origin.stack.map((f) => h("li", {}, h("code", {}, `${f.file}:${f.line}`), f.function && ` in ${f.function}`))),
  );
}

export function firstBadOperation(finding: Finding): HTMLElement {
  const { origin } = finding;
  const node = origin.node
    ? origin.in_backward_code
      ? `called by ${origin.node}`
      : `${origin.node}, the backward of this expression`
    : "";
  return section(
    "operation",
    "First Bad Operation",
    h("p", { class: "where" }, ...joints(position(origin.site)), origin.site.function ? ` in ${origin.site.function}` : ""),
    excerpt(origin.site),
    origin.site.remark ? h("p", { class: "remark" }, origin.site.remark) : null,
    facts([
      ["operation", h("code", {}, origin.op)],
      ["node", node],
      ["phase", origin.phase],
      ["step", count(origin.step)],
      ["module", origin.module ? h("code", {}, origin.module) : ""],
      ["elements", elements(origin)],
      ["first at", origin.index?.length ? h("code", {}, brackets(origin.index)) : ""],
      ["inside", origin.library_site ? h("span", { class: "where" }, ...joints(position(origin.library_site))) : ""],
      ["judged", origin.kind === "birth" && !origin.per_element ? "for the tensor as a whole" : ""],
    ]),
    stack(origin),
  );
}
