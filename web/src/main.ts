// The report page: the answer, then the proof, then everything else.
import { readData, type Data } from "./data";
import { h } from "./dom";
import { rootCause } from "./cause";
import { coverage } from "./coverage";
import { forgetCurves } from "./curves";
import { entriesOf, FindingList, type Entry } from "./findings";
import { fixSection, verificationSection } from "./fix";
import { history } from "./history";
import { inputStatistics } from "./inputs";
import { journey } from "./journey";
import { modules } from "./modules";
import { notes } from "./notes";
import { program } from "./program";
import { ranks } from "./ranks";
import { firstBadOperation } from "./source";
import { printAsInk, themeButton } from "./theme";
import { verdict, withoutFinding } from "./verdict";

function partsOf({ finding, report }: Entry, entries: Entry[], data: Data): (HTMLElement | null)[] {
  const harmless = entries.filter((e) => e.report === report && e.finding && e.finding !== finding && e.finding.level !== "error");
  const end = [notes(harmless), coverage(report), program(report, data)];
  if (!finding) return [withoutFinding(report), ...end];
  if (finding.forewarning) return [verdict(finding), rootCause(finding), history(finding), ...end];
  return [
    verdict(finding),
    firstBadOperation(finding),
    rootCause(finding),
    inputStatistics(finding),
    journey(finding),
    finding.level === "error" ? ranks(report, entries) : null,
    history(finding),
    modules(finding),
    fixSection(finding, report),
    verificationSection(finding),
    ...end,
  ];
}

function show(entry: Entry, entries: Entry[], main: HTMLElement, list: FindingList, data: Data): void {
  forgetCurves();
  main.replaceChildren(...partsOf(entry, entries, data).filter((part): part is HTMLElement => part !== null));
  list.select(entry.id);
}

function start(): void {
  const data = readData();
  const entries = entriesOf(data);
  const list = new FindingList(entries, data.reports.length > 1, data.captures_left_out);
  const main = h("main", { id: "main", tabindex: -1 });
  const alone = entries.length < 2;
  const page = h(
    "div",
    { class: alone ? "page alone" : "page" },
    h("a", { class: "skip", href: "#main" }, "Skip to the finding"),
    h("div", { class: "bar-top", role: "banner" }, h("span", { class: "name" }, "nanscope"), h("span", { class: "of" }, data.reports.map((r) => r.program.argv[0] ?? "").filter((v, i, all) => v && all.indexOf(v) === i).slice(0, 3).join(", ")), themeButton()),
    alone ? null : list.element,
    main,
  );
  document.getElementById("page")!.replaceWith(page);
  const chosen = (): Entry => entries.find((entry) => `#${entry.id}` === location.hash) ?? entries[0]!;
  window.addEventListener("hashchange", () => {
    if (!entries.some((entry) => `#${entry.id}` === location.hash)) return; // the skip link
    show(chosen(), entries, main, list, data);
    window.scrollTo(0, 0);
    main.focus({ preventScroll: true });
  });
  show(chosen(), entries, main, list, data);
  printAsInk();
  document.documentElement.dataset.ready = "yes";
  performance.mark("ready"); // bench/page.mjs reads it
}

start();
