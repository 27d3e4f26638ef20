// How it travelled: birth, carriers, harm. A small map, forward above and backward below against it,
// and the same as a list.
import { h, prose, scrollable, section, svg } from "./dom";
import { position } from "./format";
import type { Finding, Link } from "./data";

const STEP = 26;
const LANES: Record<string, number> = { data: 18, forward: 18, optimizer: 18, backward: 54 };

interface Stop {
  role: string;
  phase: string;
  what: string;
  where: string;
  code: string;
}

const ROLE_OF_KIND: Record<string, string> = { declared: "declared", imported: "imported" };

function stopOf(link: Link, finding: Finding): Stop {
  const harm = link.role === "harm" && finding.harm;
  const site = harm && finding.harm?.site ? finding.harm.site : link.site;
  return {
    role: link.role,
    phase: link.phase,
    what: harm ? finding.harm!.sentence : link.op,
    where: site.file ? position(site) : "",
    code: harm ? "" : site.code,
  };
}

function stopsOf(finding: Finding): Stop[] {
  const { origin, harm } = finding;
  const stops = finding.chain.map((link) => stopOf(link, finding));
  if (stops.length === 0)
    stops.push({ role: ROLE_OF_KIND[origin.kind] ?? "birth", phase: origin.phase, what: origin.op, where: position(origin.site), code: origin.site.code });
  if (harm && !stops.some((stop) => stop.role === "harm"))
    stops.push({ role: "harm", phase: "optimizer", what: harm.sentence, where: harm.site?.file ? position(harm.site) : "", code: "" });
  return stops;
}

// Places of the stops: forward goes right; backward comes back left below it.
function places(stops: Stop[]): { x: number; y: number }[] {
  let x = 0;
  let lane = "";
  const points = stops.map((stop) => {
    const back = stop.phase === "backward";
    const turned = lane !== "" && back !== (lane === "backward");
    if (lane !== "") x += turned ? 0 : back ? -STEP : STEP;
    lane = stop.phase;
    return { x, y: LANES[stop.phase] ?? 18 };
  });
  const left = Math.min(...points.map((p) => p.x));
  return points.map((p) => ({ x: p.x - left + 18, y: p.y }));
}

function map(stops: Stop[], items: HTMLElement[]): HTMLElement | null {
  if (stops.length < 3) return null;
  const points = places(stops);
  const width = Math.max(...points.map((p) => p.x)) + 18;
  const backward = stops.some((stop) => stop.phase === "backward");
  const height = backward ? 72 : 36;
  const line = points.map((p) => `${p.x},${p.y}`).join(" ");
  const dots = stops.map((stop, i) => {
    const { x, y } = points[i]!;
    const dot = svg("circle", { class: `dot ${stop.role}`, cx: x, cy: y, r: stop.role === "carrier" ? 5 : 7 }, svg("title", {}, `${stop.role}: ${stop.what}`));
    dot.addEventListener("click", () => show(items[i]!));
    return dot;
  });
  const drawing = svg(
    "svg",
    { class: "map", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${stops.length} operations from ${stops[0]!.role} to ${stops.at(-1)!.role}; listed below` },
    svg("polyline", { points: line }),
    ...dots,
  );
  const legend = h("p", { class: "lanes" }, backward ? "forward above, backward below against it" : "forward, from left to right");
  return h("div", {}, scrollable("Map of the way it went", drawing), legend);
}

function show(item: HTMLElement): void {
  item.closest("details")?.setAttribute("open", "");
  item.scrollIntoView({ block: "nearest" });
  item.classList.add("shown");
  window.setTimeout(() => item.classList.remove("shown"), 1500);
}

// Where a part of it ended well, beside the way.
function cleanedBranches(finding: Finding): HTMLElement | null {
  if (!finding.cleaned?.length) return null;
  const items = finding.cleaned.map((link) =>
    h(
      "li",
      {},
      h("span", { class: "role cleaned" }, "cleaned"),
      h("span", { class: "what" }, h("code", {}, link.op), link.site.code ? h("span", { class: "code" }, link.site.code) : ""),
      h("span", { class: "where" }, link.site.file ? position(link.site) : ""),
    ),
  );
  return h("div", {}, h("h3", { class: "branches-title" }, "Branches that became finite again"), h("ul", { class: "branches" }, ...items));
}

export function journey(finding: Finding): HTMLElement {
  const stops = stopsOf(finding);
  const items = stops.map((stop) =>
    h(
      "li",
      { class: stop.role },
      h("span", { class: `role ${stop.role}` }, stop.role),
      h("span", { class: "what" }, ...(stop.role === "harm" ? prose(stop.what) : [h("code", {}, stop.what || stop.role)]), stop.code ? h("span", { class: "code" }, stop.code) : ""),
      h("span", { class: "where" }, stop.where, stop.phase !== "forward" && stop.role !== "harm" ? ` · ${stop.phase}` : ""),
    ),
  );
  return section(
    "journey",
    "The way it went",
    map(stops, items),
    h("ol", { class: "journey" }, ...items),
    cleanedBranches(finding),
    finding.chain_truncated && h("p", { class: "quiet" }, "A part of the way was not kept."),
  );
}
