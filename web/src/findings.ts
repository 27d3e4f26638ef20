// The list of findings: errors, warnings, notes, of every capture; one can search it.
import { announce, h, prose } from "./dom";
import { plural, position } from "./format";
import type { Data, Finding, Report } from "./data";

export interface Entry {
  id: string;
  report: Report;
  finding: Finding | null; // null: nothing was found in this capture
}

export function entriesOf(data: Data): Entry[] {
  const entries: Entry[] = [];
  data.reports.forEach((report, r) => {
    if (!report.findings.some((f) => f.level !== "note")) entries.push({ id: `run-${r}`, report, finding: null });
    report.findings.forEach((finding, f) => entries.push({ id: `finding-${r}-${f}`, report, finding }));
  });
  const rank = (entry: Entry): number => (entry.finding ? ["error", "warning"].indexOf(entry.finding.level) : 0);
  // Errors of every capture first; a capture without any keeps its place among them.
  const order = (entry: Entry): number => (rank(entry) < 0 ? 2 : rank(entry));
  return entries.map((entry, i) => ({ entry, i })).sort((a, b) => order(a.entry) - order(b.entry) || a.i - b.i).map(({ entry }) => entry);
}

const searched = ({ finding, report }: Entry): string =>
  [
    report.capture,
    finding ? [finding.level, finding.headline, finding.cause.id, finding.cause.sentence, finding.origin.module ?? "", finding.fate ?? ""].join(" ") : report.summary,
  ]
    .join(" ")
    .toLowerCase();

// The file and the line; the whole path is in the finding.
function place(finding: Finding): (Node | string)[] | string {
  if (finding.origin.site.file) {
    const [file, line] = position(finding.origin.site).replace(/^.*\//, "").split(/(?=:\d)(.*)/);
    return [file ?? "", h("wbr"), line ?? ""];
  }
  return finding.forewarning ? prose(finding.forewarning.name) : "";
}

function item(entry: Entry, several: boolean): HTMLLIElement {
  const { finding, report } = entry;
  const level = finding?.level ?? report.verdict;
  return h(
    "li",
    {},
    h(
      "a",
      { href: `#${entry.id}`, "data-id": entry.id },
      h("span", { class: `level ${level}` }, level),
      h("span", { class: "id" }, finding ? finding.cause.id : report.findings_left_out > 0 ? "left out" : "no error"),
      finding && h("span", { class: "where" }, place(finding)),
      several && report.program.rank !== undefined && h("span", { class: "where" }, `rank ${report.program.rank}`),
      several && h("span", { class: "where", title: report.capture }, report.capture.replace(/^.*\//, "")),
    ),
  );
}

export class FindingList {
  readonly element: HTMLElement;
  private readonly items: HTMLLIElement[];

  constructor(private readonly entries: Entry[], several: boolean, capturesLeftOut: number) {
    this.items = entries.map((entry) => item(entry, several));
    const words = `Search ${entries.length.toLocaleString("en-US")} findings`;
    const search = h("input", { type: "search", id: "search", placeholder: words, "aria-label": words, input: () => this.filter(search.value) });
    const left = capturesLeftOut > 0 && h("p", { class: "warn" }, `${plural(capturesLeftOut, "more capture")} ${capturesLeftOut === 1 ? "does" : "do"} not fit into a page; `, h("code", { class: "whole" }, "nanscope report --to json"), " has all of them.");
    this.element = h("nav", { class: "findings", "aria-label": "Findings" }, h("div", { class: "search" }, search), left, h("ul", {}, ...this.items));
  }

  select(id: string): void {
    for (const link of this.element.querySelectorAll("a"))
      if (link.dataset.id === id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
  }

  private filter(words: string): void {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    this.entries.forEach((entry, i) => {
      const fits = wanted.every((word) => searched(entry).includes(word));
      this.items[i]!.hidden = !fits;
      left += fits ? 1 : 0;
    });
    announce(`${left} of ${this.entries.length} findings`);
  }
}
