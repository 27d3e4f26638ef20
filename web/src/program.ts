// Program: what ran, with which versions, and how it ended.
import { facts, h, section } from "./dom";
import type { Data, Maybe, Report } from "./data";

function duration(seconds: Maybe<number>): string {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// About: it is measured around one call of many.
function ownTime(seconds: Maybe<number>, own: Maybe<number>): string {
  if (own === null || own === undefined || !seconds) return "";
  const share = (100 * own) / seconds;
  return `about ${duration(own)}, ${share.toFixed(share < 10 ? 1 : 0)} %`;
}

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
      ["watched for", duration(p.seconds)],
      ["by nanscope itself", ownTime(p.seconds, p.own_seconds)],
      ["devices", p.devices?.join("; ") ?? ""],
      ["torch", p.torch],
      ["Python", p.python],
      ["nanscope", data.nanscope],
      ["host", p.host],
      ["process", p.pid ? String(p.pid) : ""],
      ["rank", p.rank === undefined ? "" : `${p.rank}${p.world_size ? ` of ${p.world_size}` : ""}`],
      ["capture", report.capture ? h("code", {}, report.capture) : ""],
      ["left out", data.redacted.join(", ")],
    ]),
    report.shortened && h("p", { class: "warn" }, "What is told of this run is shortened to fit into a page; ", h("code", { class: "whole" }, "nanscope report --to json"), " has all of it."),
  );
}
