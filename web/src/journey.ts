// How it travelled: birth, carriers, harm. A small graph, forward above and backward below against
// it, branches that became finite again beside it; and the same as a list.
import { h, prose, scrollable, section, svg } from "./dom";
import { brackets, digits, asNumber, position } from "./format";
import type { Finding, Link, Made } from "./data";

const PITCH = 68; // between two ops
const EDGE = 34;
const LANE = 56; // between two lanes
const MOST_LETTERS = 12; // of an op's name below its dot

interface Stop {
  role: string;
  phase: string;
  op: string;
  what: string; // of a harm, its sentence
  where: string;
  code: string;
  rank: string; // where several ranks are on the way
  made?: Made;
}

const ROLE_OF_KIND: Record<string, string> = { declared: "declared", imported: "imported" };

function stopOf(link: Link, finding: Finding): Stop {
  const harm = link.role === "harm" && finding.harm;
  const site = harm && finding.harm?.site ? finding.harm.site : link.site;
  return {
    role: link.role,
    phase: link.phase,
    op: harm ? "harm" : link.op,
    what: harm ? finding.harm!.sentence : link.op,
    where: site.file ? position(site) : "",
    code: harm ? "" : site.code,
    rank: link.rank === null || link.rank === undefined ? "" : `rank ${link.rank}`,
    made: link.made,
  };
}

function stopsOf(finding: Finding): Stop[] {
  const { origin, harm } = finding;
  const stops = finding.chain.map((link) => stopOf(link, finding));
  if (stops.length === 0)
    stops.push({ role: ROLE_OF_KIND[origin.kind] ?? "birth", phase: origin.phase, op: origin.op, what: origin.op, where: position(origin.site), code: origin.site.code, rank: "" });
  if (harm && !stops.some((stop) => stop.role === "harm"))
    stops.push({ role: "harm", phase: "optimizer", op: "harm", what: harm.sentence, where: harm.site?.file ? position(harm.site) : "", code: "", rank: "" });
  return stops;
}

const numelOf = (made: Made): number => made.shape.reduce((a, b) => a * b, 1);
const times = (amount: number): string => amount.toLocaleString("en-US");

// float16 [8, 24, 24] · 11 of 4,608 not finite · the rest up to 64608
function sizes(made: Made): string {
  const parts = [`${made.dtype} ${brackets(made.shape)}`];
  if (made.nan !== undefined) {
    const bad = made.nan + (made.pos_inf ?? 0) + (made.neg_inf ?? 0);
    const largest = asNumber(made.largest);
    const numel = numelOf(made);
    parts.push(bad === 0 ? "all finite" : bad === numel ? (numel === 1 ? "not finite" : "none finite") : `${times(bad)} of ${times(numel)} not finite`);
    if (largest !== null) parts.push(`${bad > 0 ? "the rest " : ""}up to ${digits(largest)}`);
  }
  return parts.join(" · ");
}

// Places of the stops: forward goes right; backward comes back left below it. A harm has no lane of
// its own: it stands where the way ends.
function places(stops: Stop[]): { x: number; back: boolean }[] {
  let x = 0;
  let back: boolean | null = null;
  const points = stops.map((stop) => {
    const now: boolean = stop.role === "harm" && back !== null ? back : stop.phase === "backward";
    if (back !== null && now === back) x += now ? -PITCH : PITCH;
    back = now;
    return { x, back: now };
  });
  const left = Math.min(...points.map((p) => p.x));
  return points.map((p) => ({ x: p.x - left + EDGE, back: p.back }));
}

function shortName(op: string): string {
  const name = op.replace(/^\w+::_?/, "");
  return name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS - 1)}…` : name;
}

interface Dot {
  x: number;
  y: number;
  stop: Stop;
  item: HTMLElement;
}

function drawDot({ x, y, stop, item }: Dot, first: boolean, origin: boolean): SVGElement {
  const words = [stop.role, stop.rank, stop.role === "harm" ? stop.what : stop.op, stop.made ? sizes(stop.made) : ""].filter(Boolean).join(", ");
  const go = (): void => show(item);
  const key = (event: Event): void => {
    const { key } = event as KeyboardEvent;
    const dot = event.currentTarget as SVGElement;
    if (key === "Enter" || key === " ") go();
    else if (key === "ArrowRight" || key === "ArrowLeft") {
      const all = [...dot.parentElement!.querySelectorAll<SVGElement>(".dot")];
      const next = all[all.indexOf(dot) + (key === "ArrowRight" ? 1 : -1)];
      if (!next) return;
      dot.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    } else return;
    event.preventDefault();
  };
  return svg(
    "g",
    { class: `dot ${stop.role}${origin ? " origin" : ""}`, role: "button", tabindex: first ? 0 : -1, "aria-label": words, click: go, keydown: key },
    svg("circle", { cx: x, cy: y, r: stop.role === "carrier" || stop.role === "cleaned" ? 5 : 7 }),
    svg("text", { class: "tick middle", x, y: y + 20 }, shortName(stop.op || stop.role)),
    svg("title", {}, words),
  );
}

// The origin is where the branches begin: each of them is about its value.
function map(stops: Stop[], items: HTMLElement[], cleaned: Stop[], cleanedItems: HTMLElement[]): HTMLElement | null {
  if (stops.length + cleaned.length < 3) return null;
  const points = places(stops);
  const backward = points.some((p) => p.back);
  const both = backward && points.some((p) => !p.back);
  const top = cleaned.length > 0 ? 12 + LANE : 12;
  const dots: Dot[] = stops.map((stop, i) => ({ x: points[i]!.x, y: both && points[i]!.back ? top + LANE : top, stop, item: items[i]! }));
  const origin = dots.find((dot) => dot.stop.role === "birth") ?? dots[0]!;
  const branches: Dot[] = cleaned.map((stop, i) => ({ x: origin.x + (i + 1) * PITCH, y: 12, stop, item: cleanedItems[i]! }));
  const width = Math.max(...[...dots, ...branches].map((d) => d.x)) + EDGE;
  const height = top + (both ? LANE : 0) + 28;
  const drawing = svg(
    "svg",
    { class: "map", width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `The way as a graph, ${stops.length} operations from ${stops[0]!.role} to ${stops.at(-1)!.role}; arrow keys move, Enter shows one in the list below` },
    ...branches.map((b) => svg("path", { class: "branch", d: `M${origin.x},${origin.y} C${origin.x},${b.y} ${origin.x + 10},${b.y} ${Math.min(origin.x + 30, b.x)},${b.y} L${b.x},${b.y}` })),
    svg("polyline", { points: dots.map((d) => `${d.x},${d.y}`).join(" ") }),
    ...dots.map((dot) => drawDot(dot, dot === dots[0], dot === origin)),
    ...branches.map((dot) => drawDot(dot, false, false)),
  );
  const legend = [cleaned.length > 0 && "what became finite again on top", both ? "forward from left to right, backward below against it" : backward ? "the backward, from right to left" : "from left to right"];
  return h("div", {}, scrollable("Graph of the way it went", drawing), h("p", { class: "lanes" }, legend.filter(Boolean).join("; ")));
}

function show(item: HTMLElement): void {
  item.scrollIntoView({ block: "nearest" });
  item.classList.add("shown");
  window.setTimeout(() => item.classList.remove("shown"), 1500);
}

// Where all are in one file, its name says enough.
function shortener(stops: Stop[]): (where: string) => string {
  const folders = new Set(stops.filter((stop) => stop.where).map((stop) => stop.where.replace(/[^/]*$/, "")));
  return folders.size === 1 ? (where) => where.replace(/^.*\//, "") : (where) => where;
}

const listed = (stop: Stop, shorten: (where: string) => string): HTMLLIElement =>
  h(
    "li",
    { class: stop.role },
    h("span", { class: `role ${stop.role}` }, stop.role),
    h(
      "span",
      { class: "what" },
      ...(stop.role === "harm" ? prose(stop.what) : [h("code", {}, stop.what || stop.role)]),
      stop.code ? h("span", { class: "code" }, stop.code) : "",
      stop.made ? h("span", { class: "sizes" }, sizes(stop.made)) : "",
    ),
    h("span", { class: "where", title: stop.where }, [shorten(stop.where), stop.phase !== "forward" && stop.role !== "harm" ? stop.phase : "", stop.rank].filter(Boolean).join(" · ")),
  );

export function journey(finding: Finding): HTMLElement {
  const stops = stopsOf(finding);
  const cleaned = (finding.cleaned ?? []).map((link) => stopOf(link, finding));
  const shorten = shortener([...stops, ...cleaned]);
  const items = stops.map((stop) => listed(stop, shorten));
  const cleanedItems = cleaned.map((stop) => listed(stop, shorten));
  return section(
    "journey",
    "The way it went",
    map(stops, items, cleaned, cleanedItems),
    h("ol", { class: "journey" }, ...items),
    cleaned.length > 0 && h("div", {}, h("h3", { class: "branches-title" }, "Branches that became finite again"), h("ul", { class: "branches" }, ...cleanedItems)),
    finding.chain_truncated && h("p", { class: "quiet" }, "A part of the way was not kept."),
  );
}
