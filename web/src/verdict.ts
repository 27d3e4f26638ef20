// The answer: what is wrong, in one sentence, and where.
import { h, joints, prose } from "./dom";
import { position } from "./format";
import type { Finding, Report } from "./data";

const LEVELS = { error: "Error", warning: "Warning", note: "Note" };

function circumstances(finding: Finding): string[] {
  const { origin } = finding;
  const parts = [origin.phase, `step ${origin.step.toLocaleString("en-US")}`];
  if (origin.rank !== null) parts.push(`rank ${origin.rank}`);
  if (origin.worker !== null) parts.push(`worker ${origin.worker}`);
  if (origin.module !== null) parts.push(origin.module);
  return parts;
}

// Goes there without another address: the one of a finding is kept.
function jump(words: string, id: string): HTMLElement {
  const go = (event: Event): void => {
    const target = document.getElementById(id);
    if (!target) return;
    event.preventDefault();
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
    target.scrollIntoView();
  };
  return h("a", { href: `#${id}`, click: go }, words);
}

// What to do next, as the terminal says it.
function advice({ fix, verification, cause }: Finding): HTMLElement | null {
  if (!fix) return cause.id === "unknown" ? null : h("p", { class: "next" }, "Do this: ", h("code", {}, `nanscope explain ${cause.id}`));
  const patch = jump(`the ${fix.workaround ? "workaround" : "patch"} below`, "fix");
  if (fix.applied) return h("p", { class: "next" }, "Done: ", patch, " is applied.");
  if (verification.status === "verified") return h("p", { class: "next" }, "Do this: take ", patch, "; it is verified.");
  if (verification.status !== "not_run") return h("p", { class: "next" }, "Do this: read ", patch, "; it is not verified.");
  return h("p", { class: "next" }, "Do this: ", h("code", {}, "nanscope fix"), ", which tries ", patch, ".");
}

export function verdict(finding: Finding): HTMLElement {
  const { cause, harm } = finding;
  const known = cause.id !== "unknown";
  return h(
    "header",
    { class: `verdict ${finding.level}`, id: "verdict" },
    h(
      "p",
      { class: "eyebrow" },
      h("span", { class: "level" }, LEVELS[finding.level]),
      ...circumstances(finding).map((part) => h("span", {}, part)),
    ),
    h("h1", {}, ...prose(cause.title || cause.sentence)),
    cause.title && h("p", { class: "lead" }, ...prose(cause.sentence)),
    finding.undone && h("p", {}, "Undone: ", ...prose(finding.undone)),
    finding.allowed && h("p", {}, "Allowed: ", ...prose(finding.allowed)),
    h(
      "p",
      { class: "deed" },
      h("span", { class: "where" }, ...joints(finding.origin.site.file ? position(finding.origin.site) : "")),
      " ",
      ...prose(deed(finding)),
      harm ? [" Harm: ", ...prose(harm.sentence), "."] : "",
    ),
    finding.level === "note" || finding.forewarning ? null : advice(finding),
    h(
      "p",
      { class: "tags" },
      h("span", { class: "tag cause" }, cause.id),
      known && h("span", { class: `tag ${cause.certainty}` }, cause.certainty),
      known && h("span", { class: "tag" }, `to blame: ${cause.to_blame}`),
      finding.count > 1 && h("span", { class: "tag" }, `${finding.count.toLocaleString("en-US")} times`),
      finding.fate !== null && h("span", { class: "tag" }, finding.fate),
      finding.undone && h("span", { class: "tag" }, "undone by the program"),
      finding.allowed && h("span", { class: "tag" }, "allowed"),
      finding.shortened && h("span", { class: "tag likely" }, "shortened to fit; --to json has all of it"),
    ),
  );
}

// Of a forewarning nothing has happened yet.
function deed(finding: Finding): string {
  return finding.forewarning ? "" : `${finding.deed}.`;
}

export function withoutFinding(report: Report): HTMLElement {
  const title = report.summary_title;
  const clean = report.verdict === "clean";
  const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
  return h(
    "header",
    { class: `verdict ${report.verdict}`, id: "verdict" },
    !clean && h("p", { class: "eyebrow" }, h("span", { class: "level" }, report.verdict === "error" ? "Error" : "Not known")),
    h("h1", {}, capital(title) + (report.summary_detail ? "." : "")),
    report.summary_detail && h("p", { class: "deed" }, capital(report.summary_detail)),
    report.verdict === "error" && h("p", {}, "Its findings do not fit into this page; ", h("code", { class: "whole" }, "nanscope report --to json"), " has them."),
  );
}
