// The answer: what is wrong, in one sentence, and where.
import { h, prose } from "./dom";
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
      h("span", { class: "where" }, finding.origin.site.file ? position(finding.origin.site) : ""),
      " ",
      deed(finding),
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
  if (finding.forewarning) return "";
  const place = `${position(finding.origin.site)}: `;
  const headline = finding.headline;
  return (headline.startsWith(place) ? headline.slice(place.length) : headline) + ".";
}

export function withoutFinding(report: Report): HTMLElement {
  const words = report.summary.replace(/^nanscope: /, "");
  const clean = report.verdict === "clean";
  const end = words.search(clean ? /: / : /[.:] /);
  const first = end > 0 ? words.slice(0, end) : words;
  return h(
    "header",
    { class: `verdict ${clean ? "clean" : "unknown"}`, id: "verdict" },
    !clean && h("p", { class: "eyebrow" }, h("span", { class: "level" }, "Not known")),
    h("h1", {}, first.charAt(0).toUpperCase() + first.slice(1) + (end > 0 ? "." : "")),
    end > 0 && h("p", { class: "deed" }, words.slice(end + 2)),
  );
}
