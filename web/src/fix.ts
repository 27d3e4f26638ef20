// Fix and Verification: the patch, what was tried, and the losses with and without it.
import { copyButton, h, prose, scrollable, section } from "./dom";
import { curve } from "./curves";
import { count, num } from "./format";
import type { Finding, Fix, Report, Verification } from "./data";

function diff(text: string): HTMLElement {
  const kind = (line: string): string => {
    if (/^(\+\+\+|---) /.test(line)) return "file";
    if (line.startsWith("@@")) return "hunk";
    return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "context";
  };
  const lines = text.replace(/\n$/, "").split("\n");
  return scrollable("The patch", h("pre", { class: "diff" }, h("code", {}, ...lines.map((line) => h("span", { class: `line ${kind(line)}` }, line, "\n")))));
}

// The command that runs the patch and proves it; empty where there is neither a capture nor a whole command,
// as for a cell of a notebook whose file is not known.
function command(report: Report): string {
  const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  if (report.capture) return `nanscope fix --from ${quote(report.capture)}`;
  return report.program.argv.length > 0 && !report.shortened ? `nanscope fix ${report.program.argv.map(quote).join(" ")}` : "";
}

function remarks(fix: Fix): string {
  const words = [];
  if (fix.workaround) words.push("a workaround: it hides the fault");
  if (fix.changes_training) words.push("changes the training");
  return words.length > 0 ? ` (${words.join("; ")})` : "";
}

export function fixSection(finding: Finding, report: Report): HTMLElement {
  const { fix, verification } = finding;
  const verify = command(report);
  const commandLine = verify !== "" && h("p", { class: "command" }, h("code", {}, verify), copyButton("Copy command", verify));
  if (!fix) {
    const notRun = verification.status === "not_run";
    const looked = commandLine ? "None was looked for yet. This proposes a patch and proves it:" : "None was looked for.";
    return section("fix", "Fix", h("p", {}, notRun ? looked : "None was found."), notRun && commandLine, tried(finding));
  }
  return section(
    "fix",
    (fix.workaround ? "Workaround" : "Fix") + (fix.applied ? " Applied" : ""),
    h("p", {}, h("code", {}, fix.id), remarks(fix), verification.status === "not_run" ? ", a proposal that was not run yet" : ""),
    fix.explanation ? h("p", {}, ...prose(fix.explanation)) : null,
    fix.diff ? h("div", { class: "with-copy" }, copyButton("Copy diff", fix.diff), diff(fix.diff)) : h("p", { class: "quiet" }, "The diff was left out."),
    commandLine && h("p", { class: "quiet" }, verification.status === "not_run" ? "This runs the program with the patch, and says whether it holds:" : "It was run with the patch. This does it again:"),
    commandLine,
    tried(finding),
  );
}

function tried(finding: Finding): HTMLElement | null {
  if (!finding.tried?.length) return null;
  return h(
    "details",
    {},
    h("summary", {}, `What was tried (${finding.tried.length})`),
    h("ul", { class: "others" }, ...finding.tried.map((one) => h("li", {}, h("code", {}, one.id), ` ${one.status}: `, ...prose(one.detail)))),
  );
}

function losses(verification: Verification): HTMLElement | null {
  const before = verification.losses_before ?? [];
  const after = verification.losses_after ?? [];
  const length = Math.max(before.length, after.length);
  if (length < 2) return null;
  const steps = Array.from({ length }, (_, i) => (verification.first_loss ?? 0) + i);
  const drawn = curve("Losses around the error", steps, [
    { name: "with the patch", values: after, color: "--good" },
    { name: "without it", values: before, color: "--bad", dashed: true },
  ]);
  const row = (step: number, i: number): HTMLElement => h("tr", {}, h("th", { scope: "row" }, count(step)), h("td", { class: "number" }, num(after[i])), h("td", { class: "number" }, num(before[i])));
  const heads = ["step", "with the patch", "without it"];
  const table = h("table", { class: "numbers" }, h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...steps.map(row)));
  return h("div", {}, drawn, h("details", { class: "losses" }, h("summary", {}, "The losses as numbers"), scrollable("The losses as numbers", table)));
}

// As it stands by itself.
const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? "" : ".");

const WORDS: Record<string, string> = { verified: "Verified", failed: "Failed", inconclusive: "Inconclusive", not_run: "Not run", not_exercised: "Not exercised" };

export function verificationSection(finding: Finding): HTMLElement {
  const { verification } = finding;
  const steps = verification.steps > 0 ? `, ${verification.steps.toLocaleString("en-US")} steps run` : "";
  return section(
    "verification",
    "Verification",
    h("p", {}, h("strong", { class: `status ${verification.status}` }, WORDS[verification.status] ?? verification.status), steps),
    verification.detail ? h("p", {}, ...prose(sentence(verification.detail))) : null,
    verification.checks?.length ? h("ul", { class: "evidence" }, ...verification.checks.map((c) => h("li", {}, ...prose(c)))) : null,
    losses(verification),
  );
}
