// Ranks: what each of them has to do with it; a rank whose capture is in this page leads to its finding.
import { h, prose, scrollable, section } from "./dom";
import type { RankLine, Report } from "./data";
import type { Entry } from "./findings";

function row(line: RankLine, own: Report, entries: Entry[]): HTMLElement {
  const name = line.rank === null ? "not known" : `rank ${line.rank}`;
  const entry = line.capture !== null && line.capture !== own.capture && entries.find((e) => e.report.capture === line.capture);
  const place = [line.host, line.pid ? `pid ${line.pid}` : ""].filter(Boolean).join(", ");
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, entry ? h("a", { href: `#${entry.id}` }, name) : name),
    h("td", {}, ...prose(line.sentence)),
    h("td", { class: "quiet" }, place),
    h("td", {}, line.capture ? h("code", {}, line.capture.replace(/^.*\//, "")) : ""),
  );
}

export function ranks(report: Report, entries: Entry[]): HTMLElement | null {
  if (!report.ranks?.length) return null;
  const heads = ["rank", "what it has to do with it", "process", "capture"];
  return section(
    "ranks",
    "Ranks",
    scrollable("Ranks", h("table", { class: "numbers words" }, h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...report.ranks.map((line) => row(line, report, entries))))),
  );
}
