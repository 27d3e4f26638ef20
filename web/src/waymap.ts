// The way as a small graph: forward goes right, backward comes back left below it; each rank that received the
// value has lanes of its own below. A branch that became finite again leaves the op it comes from by a stroke of
// its own: above the way, or below the backward.
import { h, scrollable, svg } from "./dom";
import { sizes } from "./made";
import type { Stop, Track } from "./way";

const PITCH = 68; // between two ops
const EDGE = 34;
const NAMES = 52; // for the names of ranks, on the left
const LANE = 56; // between two lanes
const ROW = 42; // between two rows of branches
const MOST_LETTERS = 12; // of an op's name below its dot
const MOST_CODE = 80; // letters of its expression, where one points at it
const MOST_RANKS = 4; // drawn; the list has all

interface Place {
  x: number;
  back: boolean;
}

interface Dot {
  x: number;
  y: number;
  stop: Stop;
  rank: string;
  item: HTMLElement;
}

// A harm has no lane of its own: it stands where the way ends.
function places(stops: Stop[], from: number): Place[] {
  let x = from;
  let back: boolean | null = null;
  return stops.map((stop) => {
    const now: boolean = stop.role === "harm" && back !== null ? back : stop.phase === "backward";
    if (back !== null && now === back) x += now ? -PITCH : PITCH;
    back = now;
    return { x, back: now };
  });
}

// A branch beside the way, between two ops and so beside no other's trunk: rows count from the way outward.
interface Spot {
  x: number;
  row: number;
  below: boolean;
}

function spots(cleaned: Stop[], way: Place[], origin: number): Spot[] {
  const both = hasBoth(way);
  const taken: Spot[] = [];
  for (const stop of cleaned) {
    const { x: from, back } = way[stop.parent ?? origin] ?? way[origin]!;
    const spot = { x: from + (back ? -PITCH / 2 : PITCH / 2), row: 1, below: both && back };
    while (taken.some((other) => other.below === spot.below && other.row === spot.row && Math.abs(other.x - spot.x) < PITCH)) ++spot.row;
    taken.push(spot);
  }
  return taken;
}

const rows = (all: Spot[], below: boolean): number => Math.max(0, ...all.filter((spot) => spot.below === below).map((spot) => spot.row));

const hasBoth = (points: Place[]): boolean => points.some((p) => p.back) && points.some((p) => !p.back);

// Where the rank gave it to others: the last that is not the harm it took itself.
function giving(track: Track): number {
  const last = track.stops.length - 1;
  return last > 0 && track.stops[last]!.role === "harm" ? last - 1 : last;
}

function shortName(op: string): string {
  const name = op.replace(/^\w+::_?/, "");
  return name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS - 1)}…` : name;
}

// What the list below has as a whole.
const shortCode = (code: string): string => (code.length > MOST_CODE ? `${code.slice(0, MOST_CODE - 1)}…` : code);

export function show(item: HTMLElement): void {
  item.scrollIntoView({ block: "nearest" });
  item.classList.add("shown");
  window.setTimeout(() => item.classList.remove("shown"), 1500);
}

function drawDot({ x, y, stop, rank, item }: Dot, first: boolean, origin: boolean): SVGElement {
  const words = [stop.role, rank, stop.role === "harm" ? stop.what : stop.op, shortCode(stop.code), stop.made ? sizes(stop.made) : ""].filter(Boolean).join(", ");
  const key = (event: Event): void => {
    const { key } = event as KeyboardEvent;
    const dot = event.currentTarget as SVGElement;
    if (key === "Enter" || key === " ") show(item);
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
    { class: `dot ${stop.role}${origin ? " origin" : ""}`, role: "button", tabindex: first ? 0 : -1, "aria-label": words, click: () => show(item), keydown: key },
    svg("circle", { cx: x, cy: y, r: stop.role === "carrier" || stop.role === "cleaned" ? 5 : 7 }),
    svg("text", { class: "tick middle", x, y: y + 20 }, shortName(stop.op || stop.role)),
    svg("title", {}, words),
  );
}

interface Lanes {
  top: number;
  dots: Dot[];
}

interface Layout {
  lanes: Lanes[];
  branches: Dot[];
}

// All tracks below each other; those of other ranks begin where it was given to them.
function layOut(tracks: Track[], items: HTMLElement[][], cleaned: Stop[], cleanedItems: HTMLElement[]): Layout {
  const main = places(tracks[0]!.stops, 0);
  const beside = spots(cleaned, main, originOf(tracks[0]!));
  const given = main[giving(tracks[0]!)]!.x;
  const points = tracks.map((track, i) => (i === 0 ? main : places(track.stops, given)));
  const left = Math.min(...[...points.flat(), ...beside].map((p) => p.x));
  const edge = EDGE + (tracks.length > 1 ? NAMES : 0);
  const first = 12 + ROW * rows(beside, false);
  let top = first;
  const lanes = tracks.map((track, i) => {
    const at = top;
    const both = hasBoth(points[i]!);
    top += LANE * (both ? 2 : 1) + (tracks.length > 1 ? 12 : 0) + (i === 0 ? ROW * rows(beside, true) : 0);
    const dots = track.stops.map((stop, k) => {
      const { x, back } = points[i]![k]!;
      return { x: x - left + edge, y: both && back ? at + LANE : at, stop, rank: track.rank, item: items[i]![k]! };
    });
    return { top: at, dots };
  });
  const branches = beside.map(({ x, row, below }, i) => ({ x: x - left + edge, y: below ? first + LANE + ROW * row : first - ROW * row, stop: cleaned[i]!, rank: "", item: cleanedItems[i]! }));
  return { lanes, branches };
}

function originOf(track: Track): number {
  return Math.max(0, track.stops.findIndex((stop) => stop.role === "birth"));
}

// Up or down from the op that it comes from, and then aside.
function stroke(from: Dot, to: Dot): SVGElement {
  const turn = to.y + (from.y > to.y ? 10 : -10);
  return svg("path", { class: "branch", d: `M${from.x},${from.y} L${from.x},${turn} Q${from.x},${to.y} ${from.x + Math.sign(to.x - from.x) * 10},${to.y} L${to.x},${to.y}` });
}

// From where it was given, down to the rank that received it; the call is named beside the line.
function crossing(from: Dot, to: Dot, label: string): SVGElement[] {
  return [
    svg("path", { class: "crossing", d: `M${from.x},${from.y} L${from.x},${to.y}` }),
    svg("text", { class: "tick", x: from.x + 10, y: to.y - 14 }, label),
  ];
}

function legend(branches: Dot[], lanes: Lanes[]): string {
  const places = lanes.flatMap(({ dots }) => dots.map(({ stop }) => stop.phase === "backward"));
  const both = places.includes(true) && places.includes(false);
  return [
    branches.length > 0 && "what became finite again beside the operation it comes from",
    both ? `forward from left to right, backward ${lanes.length > 1 ? "" : "below "}against it` : places.includes(true) ? "the backward, from right to left" : "from left to right",
    lanes.length > 1 && "ranks that received it below the one that made it",
  ]
    .filter(Boolean)
    .join("; ");
}

export function wayMap(tracks: Track[], items: HTMLElement[][], cleaned: Stop[], cleanedItems: HTMLElement[]): HTMLElement | null {
  const drawn = tracks.slice(0, 1 + MOST_RANKS);
  const stops = drawn.reduce((all, track) => all + track.stops.length, 0);
  if (stops + cleaned.length < 3) return null;
  const { lanes, branches } = layOut(drawn, items, cleaned, cleanedItems);
  const main = lanes[0]!.dots;
  const origin = main[originOf(drawn[0]!)]!;
  const given = main[giving(drawn[0]!)]!;
  const parent = ({ stop }: Dot): Dot => main[stop.parent ?? -1] ?? origin;
  const all = [...lanes.flatMap(({ dots }) => dots), ...branches];
  const width = Math.max(...all.map((d) => d.x)) + EDGE;
  const height = Math.max(...all.map((d) => d.y)) + 28;
  const last = main.at(-1)!.stop.role;
  const drawing = svg(
    "svg",
    { class: "map", width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `The way as a graph, ${stops} operations from ${main[0]!.stop.role} to ${last}${drawn.length > 1 ? `, on ${drawn.length} ranks` : ""}; arrow keys move, Enter shows one in the list below` },
    ...branches.map((branch) => stroke(parent(branch), branch)),
    ...lanes.slice(1).reverse().flatMap(({ dots }, i) => crossing(given, dots[0]!, drawn[drawn.length - 1 - i]!.short)),
    ...lanes.flatMap(({ dots, top }, i) => [
      drawn[i]!.rank && svg("text", { class: "tick rank", x: 0, y: top + 4 }, drawn[i]!.rank),
      svg("polyline", { points: dots.map((d) => `${d.x},${d.y}`).join(" ") }),
      ...dots.map((dot) => drawDot(dot, dot === main[0], dot === origin)),
    ]),
    ...branches.map((dot) => drawDot(dot, false, false)),
  );
  return h("div", {}, scrollable("Graph of the way it went", drawing), h("p", { class: "lanes" }, legend(branches, lanes)));
}
