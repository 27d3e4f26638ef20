// Root Cause: the evidence, and the suspects that were dropped.
import { copyButton, h, prose, section } from "./dom";
import { text } from "./format";
import type { Cause, Finding } from "./data";

function recomputed(finding: Finding): HTMLElement | null {
  const hasExperiments = finding.cause.experiments?.length; // it is one of them
  if (hasExperiments || finding.recomputed.length === 0) return null;
  const rows = finding.recomputed.map((again) =>
    h("li", {}, "computed again in ", h("code", {}, again.dtype), ": ", again.values.map(text).join(", ")),
  );
  return h("ul", { class: "evidence quiet" }, ...rows);
}

// An experiment is told once: below, with its result.
const toldAsExperiment = (cause: Cause, line: string): boolean => !!cause.evidence_of_experiments?.includes(line);

// What was tried to prove it, and what came of it.
function experiments(cause: Cause): HTMLElement | null {
  if (!cause.experiments?.length) return null;
  const rows = cause.experiments.map((e) => h("li", {}, ...prose(e.what), ": ", h("strong", {}, ...prose(e.result))));
  return h("div", {}, h("h3", {}, "Tried"), h("ul", { class: "evidence experiments" }, ...rows));
}

export function rootCause(finding: Finding): HTMLElement {
  const { cause } = finding;
  const evidence = cause.evidence.filter((line) => !toldAsExperiment(cause, line));
  const certain = cause.certainty === "certain" || cause.id === "unknown";
  return section(
    "cause",
    "Root Cause",
    h("p", {}, h("code", {}, cause.id), cause.id === "unknown" ? "" : ` (${cause.certainty}; to blame: ${cause.to_blame})`),
    cause.title && h("p", {}, ...prose(cause.sentence)),
    evidence.length > 0 && h("ul", { class: "evidence" }, ...evidence.map((line) => h("li", {}, ...prose(line)))),
    recomputed(finding),
    experiments(cause),
    cause.others.length > 0 &&
      h(
        "details",
        { open: !certain },
        h("summary", {}, certain ? "Looked at and dropped" : "Runners-up"),
        h(
          "ul",
          { class: "others" },
          ...cause.others.map((other) => h("li", {}, h("code", {}, other.id), ": ", ...prose(other.why_not))),
        ),
      ),
    cause.id !== "unknown" &&
      h("p", { class: "command" }, h("code", {}, `nanscope explain ${cause.id}`), copyButton("Copy command", `nanscope explain ${cause.id}`)),
  );
}
