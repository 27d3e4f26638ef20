// Coverage: what was watched, and what was not.
import { facts, h, prose, scrollable, section } from "./dom";
import { bytes, count, plural } from "./format";
import type { Report } from "./data";

// What the program, or who ran it, said is meant; and what need not have been said.
function allowed(report: Report): HTMLElement | null {
  const list = report.coverage.allowed ?? [];
  if (list.length === 0) return null;
  const item = ({ what, why, count: times }: { what: string; why: string; count: number }): HTMLElement =>
    h("li", {}, ...prose(what), times === 0 ? " was never needed" : ` allowed ${plural(times, "finding")}${why ? ": " : ""}`, ...(times > 0 ? prose(why) : []));
  return h("ul", { class: "evidence" }, ...list.map(item));
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
    !report.complete && h("p", { class: "warn" }, "The record breaks off here: the program was killed, or it still ran."),
    report.findings_left_out > 0 && h("p", { class: "warn" }, `${plural(report.findings_left_out, "more finding")} ${report.findings_left_out === 1 ? "does" : "do"} not fit into a page; `, h("code", { class: "whole" }, "nanscope report --to json"), " has them all."),
  );
}
