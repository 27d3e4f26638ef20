// Coverage: what was watched, what was not, and which infinities are meant.
import { facts, h, prose, scrollable, section } from "./dom";
import { bytes, count, num, plural, position } from "./format";
import { fateText } from "./notes";
import type { Intended, Report } from "./data";

// What the program, or who ran it, said is meant; and what need not have been said.
function allowed(report: Report): HTMLElement | null {
  const list = report.coverage.allowed ?? [];
  if (list.length === 0) return null;
  const item = ({ what, why, count: times }: { what: string; why: string; count: number }): HTMLElement =>
    h("li", {}, ...prose(what), times === 0 ? " was never needed" : ` allowed ${plural(times, "finding")}${why ? ": " : ""}`, ...(times > 0 ? prose(why) : []));
  return h("ul", { class: "evidence" }, ...list.map(item));
}

const MOST_UNFOLDED = 8;

// The -inf of a mask, the inf that a minimum begins with: what became of them says why they are no error.
function intended({ coverage: { intended: list, intended_more: more } }: Report): HTMLElement | null {
  if (!list?.length) return null;
  const row = ({ op, site, value, count: times, fate }: Intended): HTMLElement =>
    h("tr", {}, h("th", { scope: "row" }, h("code", {}, position(site))), h("td", {}, h("code", {}, site.code || op)), h("td", {}, num(value)), h("td", {}, fateText(fate)), h("td", { class: "number" }, count(times)));
  const heads = ["where", "expression", "value", "why it is no error", "times"];
  return h(
    "details",
    { class: "intended", open: list.length <= MOST_UNFOLDED },
    h("summary", {}, `Infinities and NaNs that the program put there itself (${list.length})`),
    scrollable("Infinities and NaNs that the program put there itself", h("table", { class: "numbers words" }, h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...list.map(row)))),
    (more ?? 0) > 0 && h("p", { class: "quiet" }, `${count(more!).textContent} more at other places.`),
  );
}

export function coverage(report: Report): HTMLElement {
  const { ops_watched, bytes_scanned, steps, not_watched } = report.coverage;
  const rows = not_watched.map((gap) => h("tr", {}, h("th", { scope: "row" }, gap.what), h("td", {}, gap.why), h("td", { class: "number" }, count(gap.count))));
  return section(
    "coverage",
    "Coverage",
    facts([
      ["ops watched", count(ops_watched)],
      ["scanned", h("data", { value: bytes_scanned }, bytes(bytes_scanned))],
      ["steps", count(steps)],
    ]),
    not_watched.length === 0
      ? h("p", {}, "Nothing went unwatched.")
      : [
          h("p", {}, "This went unwatched; a NaN or Inf made there is not known:"),
          scrollable("What went unwatched", h("table", { class: "numbers" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "what"), h("th", { scope: "col" }, "why"), h("th", { scope: "col" }, "times"))), h("tbody", {}, ...rows))),
        ],
    allowed(report),
    intended(report),
    !report.complete && h("p", { class: "warn" }, "The record breaks off here: the program was killed, or it still ran."),
    report.findings_left_out > 0 && h("p", { class: "warn" }, `${plural(report.findings_left_out, "more finding")} ${report.findings_left_out === 1 ? "does" : "do"} not fit into a page; `, h("code", { class: "whole" }, "nanscope report --to json"), " has them all."),
  );
}
