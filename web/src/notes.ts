// Warnings and notes of the same run: what was non-finite and did no harm, and why it was judged so.
import { h, prose, scrollable, section } from "./dom";
import { count, position } from "./format";
import type { Finding } from "./data";
import type { Entry } from "./findings";

const WHY: Record<string, string> = {
  cleaned: "a later operation made it finite again",
  handled: "the program went on without it",
  "thrown away": "its gradients were replaced before they were used",
  "not used": "nothing that counts was computed from it",
};

// What became of it, and why that does no harm.
export const fateText = (fate: string): string => (WHY[fate] ? `${fate}: ${WHY[fate]}` : fate);

function why(finding: Finding): Node[] | string {
  if (finding.undone) return prose(`undone: ${finding.undone}`);
  if (finding.allowed) return prose(`allowed: ${finding.allowed}`);
  if (finding.forewarning) return "nothing has happened yet";
  if (finding.fate === null) return "";
  return fateText(finding.fate);
}

function row({ finding, id }: Entry): HTMLElement {
  const { origin, cause } = finding!;
  const place = origin.site.file ? position(origin.site) : (finding!.forewarning?.name ?? "");
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, h("a", { href: `#${id}` }, h("code", {}, place || cause.id))),
    h("td", {}, h("span", { class: `level ${finding!.level}` }, finding!.level)),
    h("td", {}, h("code", {}, cause.id)),
    h("td", {}, ...[why(finding!)].flat()),
    h("td", { class: "number" }, count(finding!.count)),
  );
}

export function notes(entries: Entry[]): HTMLElement | null {
  if (entries.length === 0) return null;
  const heads = ["where", "level", "cause", "why it is no error", "times"];
  return section(
    "notes",
    "Warnings and notes",
    h("p", { class: "quiet" }, "Non-finite or nearly so, and judged to do no harm."),
    scrollable("Warnings and notes", h("table", { class: "numbers words" }, h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...entries.map(row)))),
  );
}
