// Program: what ran, with which versions, and how it ended.
import { facts, h, section } from "./dom";
import type { Data, Report } from "./data";

export function program(report: Report, data: Data): HTMLElement {
  const { program: p } = report;
  const ended = p.ended === null ? "its end was not seen" : p.ended;
  return section(
    "program",
    "Program",
    p.argv.length > 0 && h("p", { class: "command" }, h("code", {}, p.argv.join(" "))),
    facts([
      ["ended", ended + (p.exit_status !== null ? `, status ${p.exit_status}` : "")],
      ["mode", p.mode],
      ["torch", p.torch],
      ["Python", p.python],
      ["nanscope", data.nanscope],
      ["host", p.host],
      ["process", p.pid ? String(p.pid) : ""],
      ["capture", report.capture ? h("code", {}, report.capture) : ""],
      ["left out", data.redacted.join(", ")],
    ]),
  );
}
