// The model at the failing step: its modules as an icicle, coloured by how near their numbers came to
// the end of their type, and searchable.
import { announce, h, scrollable, section } from "./dom";
import { num } from "./format";
import { floatType } from "./types";
import type { Finding, Module, Num } from "./data";

const ROW = 30; // pixels
const MOST_ROWS = 200; // of the table at once

interface Node {
  module: Module;
  room: number | null; // doublings left, of its own numbers; null: it has none
  least: number | null; // of it and all inside
  leaves: number;
  depth: number;
  from: number; // leaves before it
  parent: Node | null;
  children: Node[];
  cell?: HTMLButtonElement;
}

// Doublings until the type overflows; of what is not finite, none.
function doublings(value: Num | undefined, dtype: string | undefined): number | null {
  const type = dtype ? floatType(dtype) : undefined;
  if (value === undefined || !type || value === 0) return null;
  if (typeof value === "string") return 0;
  return Math.max(type.largest - Math.log2(Math.abs(value)), 0);
}

// What the colours are about. A gradient that is NaN is what became of the fault, not how it came:
// so the first choice leaves gradients out.
const CHOICES: [string, (module: Module) => (number | null)[]][] = [
  ["activations and weights", (m) => [doublings(m.activation, m.activation_dtype), doublings(m.weight, m.weight_dtype)]],
  ["gradients", (m) => [doublings(m.gradient, m.weight_dtype)]],
];

function roomOf(module: Module, choice: number): number | null {
  const rooms = CHOICES[choice]![1](module).filter((room): room is number => room !== null);
  return rooms.length > 0 ? Math.min(...rooms) : null;
}

function measure(all: Node[], choice: number): void {
  for (const node of all) node.least = node.room = roomOf(node.module, choice);
  for (const node of [...all].reverse())
    if (node.parent && node.least !== null) node.parent.least = Math.min(node.parent.least ?? Infinity, node.least);
}

// Parents come before their children; a parent is the longest path that another begins with.
export function treeOf(modules: Module[]): { roots: Node[]; all: Node[] } {
  const byPath = new Map<string, Node>();
  const roots: Node[] = [];
  const all: Node[] = [];
  for (const module of modules) {
    let above = module.path;
    let parent: Node | null = null;
    while (!parent && above.includes(".")) {
      above = above.slice(0, above.lastIndexOf("."));
      parent = byPath.get(above) ?? null;
    }
    const node: Node = { module, room: null, least: null, leaves: 0, depth: parent ? parent.depth + 1 : 0, from: 0, parent, children: [] };
    byPath.set(module.path, node);
    (parent ? parent.children : roots).push(node);
    all.push(node);
  }
  for (const node of [...all].reverse()) {
    if (node.children.length === 0) node.leaves = 1;
    if (node.parent) node.parent.leaves += node.leaves;
  }
  const place = (nodes: Node[], from: number): void => {
    for (const node of nodes) {
      node.from = from;
      place(node.children, from);
      from += node.leaves;
    }
  };
  place(roots, 0);
  return { roots, all };
}

const LEVELS: [number, string, string][] = [
  [0, "gone", "NaN or Inf"],
  [2, "scarce", "below 2"],
  [8, "little", "below 8"],
  [32, "some", "below 32"],
  [Infinity, "ample", "32 or more"],
];
const levelOf = (room: number | null): string => (room === null ? "unseen" : LEVELS.find(([most]) => room <= (most === 0 ? 0 : most))![1]);

const lastName = (node: Node): string => (node.parent ? node.module.path.slice(node.parent.module.path.length + 1) : node.module.path);
const amount = (room: number): string => (room === 0 ? "no doubling left" : `${room.toFixed(room < 10 ? 1 : 0)} doublings left`);
const headRoomOf = (node: Node): string => (node.least === null ? "no numbers were seen" : amount(node.least) + (node.children.length > 0 ? " inside" : ""));

class Icicle {
  readonly element: HTMLElement;
  private shown: Node | null = null; // the module that fills the width; null: all of them
  private readonly total: number;

  constructor(private readonly roots: Node[], private readonly all: Node[], failing: string | null) {
    this.total = roots.reduce((sum, node) => sum + node.leaves, 0);
    this.element = h("div", { class: "icicle", role: "group", "aria-label": "Modules; arrow keys move, Enter widens one, Escape shows all", keydown: (event) => this.key(event as KeyboardEvent) });
    for (const node of all) {
      node.cell = h("button", { type: "button", class: "cell", tabindex: -1, click: () => this.widen(node) }, lastName(node));
      if (node.module.path === failing) node.cell.classList.add("failing");
      this.element.append(node.cell);
    }
    if (all[0]) all[0].cell!.tabIndex = 0;
    this.lay();
  }

  // After the rooms have been measured.
  colour(): void {
    for (const node of this.all) {
      const { cell, module } = node;
      cell!.classList.remove(...LEVELS.map(([, name]) => name), "unseen");
      cell!.classList.add(levelOf(node.least));
      cell!.title = `${module.path} (${module.type}): ${headRoomOf(node)}`;
      cell!.setAttribute("aria-label", `${module.path}, ${module.type}, ${headRoomOf(node)}`);
    }
  }

  widen(node: Node | null): void {
    this.shown = this.shown === node ? (node?.parent ?? null) : node;
    this.lay();
    announce(this.shown ? `Shows ${this.shown.module.path}` : "Shows all modules");
  }

  mark(words: string): number {
    let found = 0;
    for (const { module, cell } of this.all) {
      const hit = words !== "" && matches(module, words);
      found += Number(hit);
      cell!.classList.toggle("hit", hit);
    }
    this.element.classList.toggle("searched", words !== "");
    return found;
  }

  private lay(): void {
    const [from, leaves] = this.shown ? [this.shown.from, this.shown.leaves] : [0, this.total];
    let deepest = 0;
    for (const node of this.all) {
      const left = Math.max(node.from, from);
      const right = Math.min(node.from + node.leaves, from + leaves);
      const visible = right > left && (right - left) / leaves > 1 / 2000;
      node.cell!.hidden = !visible;
      if (!visible) continue;
      deepest = Math.max(deepest, node.depth);
      node.cell!.style.left = `${((left - from) / leaves) * 100}%`;
      node.cell!.style.width = `${((right - left) / leaves) * 100}%`;
      node.cell!.style.top = `${node.depth * ROW}px`;
    }
    this.element.style.height = `${(deepest + 1) * ROW}px`;
  }

  private key(event: KeyboardEvent): void {
    const at = this.all.find((node) => node.cell === document.activeElement);
    if (!at) return;
    const beside = at.parent ? at.parent.children : this.roots;
    const place = beside.indexOf(at);
    const next: Record<string, Node | null | undefined> = {
      ArrowUp: at.parent,
      ArrowDown: at.children[0],
      ArrowLeft: beside[place - 1],
      ArrowRight: beside[place + 1],
    };
    if (event.key === "Escape") this.widen(null);
    const to = next[event.key];
    if (!to) return;
    event.preventDefault();
    at.cell!.tabIndex = -1;
    to.cell!.tabIndex = 0;
    if (to.cell!.hidden) this.widen(to.parent);
    to.cell!.focus();
  }
}

const matches = (module: Module, words: string): boolean => `${module.path} ${module.type}`.toLowerCase().includes(words.toLowerCase());

function table(all: Node[]): { element: HTMLElement; show: (words: string) => void } {
  const body = h("tbody", {});
  const rest = h("p", { class: "quiet" });
  const show = (words: string): void => {
    const order = [...all].sort((a, b) => (a.room ?? Infinity) - (b.room ?? Infinity));
    const found = order.filter((node) => matches(node.module, words));
    const row = ({ module, room }: Node): HTMLElement =>
      h("tr", {}, h("th", { scope: "row" }, h("code", {}, module.path), ` ${module.type}`), h("td", { class: "number" }, num(module.activation)), h("td", { class: "number" }, num(module.weight)), h("td", { class: "number" }, num(module.gradient)), h("td", { class: "number" }, room === null ? "–" : room.toFixed(1)));
    body.replaceChildren(...found.slice(0, MOST_ROWS).map(row));
    rest.textContent = found.length > MOST_ROWS ? `and ${(found.length - MOST_ROWS).toLocaleString("en-US")} more; search to find them` : "";
  };
  const heads = ["largest kept for the backward", "largest weight", "largest gradient", "doublings left"];
  const details = h(
    "details",
    { toggle: () => details.open && body.childElementCount === 0 && show(current()) },
    h("summary", {}, `All ${all.length.toLocaleString("en-US")} modules as numbers`),
    scrollable("The modules as numbers", h("table", { class: "numbers" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "module"), ...heads.map((head) => h("th", { scope: "col" }, head)))), body)),
    rest,
  );
  let last = "";
  const current = (): string => last;
  return { element: details, show: (words) => { last = words; if (details.open) show(words); } };
}

export function modules(finding: Finding): HTMLElement | null {
  if (!finding.modules || finding.modules.length < 2) return null;
  const { roots, all } = treeOf(finding.modules);
  const icicle = new Icicle(roots, all, finding.origin.module);
  const numbers = table(all);
  const found = h("span", { class: "quiet", "aria-live": "polite" });
  const search = h("input", { type: "search", id: "module-search", placeholder: "Find a module", "aria-label": "Find a module", input: () => look() });
  const look = (): void => {
    const hits = icicle.mark(search.value.trim());
    numbers.show(search.value.trim());
    found.textContent = search.value.trim() === "" ? "" : `${hits.toLocaleString("en-US")} found`;
  };
  const seen = CHOICES.map((_, i) => i).filter((i) => finding.modules!.some((m) => roomOf(m, i) !== null));
  const choice = h("select", { "aria-label": "What the colours show", input: () => paint() }, ...seen.map((i) => h("option", { value: i }, CHOICES[i]![0])));
  const paint = (): void => {
    measure(all, Number(choice.value || 0));
    icicle.colour();
    numbers.show(search.value.trim());
  };
  paint();
  const left = finding.modules_left_out ?? 0;
  return section(
    "modules",
    "The model at this step",
    h("p", { class: "quiet" }, "Each module above those inside it, coloured by how many doublings are left until its type overflows, the least of it and all inside. Activations are what its ops kept for the backward."),
    h("p", { class: "icicle-tools" }, search, found, seen.length > 1 && choice),
    h("p", { class: "legend" }, ...LEVELS.map(([, name, words]) => h("span", { class: `swatch ${name}` }, words)), h("span", { class: "swatch unseen" }, "not seen")),
    icicle.element,
    numbers.element,
    left > 0 && h("p", { class: "quiet" }, `${left.toLocaleString("en-US")} more modules were not recorded.`),
  );
}
