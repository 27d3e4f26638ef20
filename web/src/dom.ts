// Elements from plain values. Text is always text: nothing here parses markup.

type Child = Node | string | number | null | undefined | false | Child[];
type Properties = Record<string, string | number | boolean | undefined | ((event: Event) => void)>;

function fill(element: Element, properties: Properties, children: Child[]): void {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, properties, children);
  return element;
}

export function svg(tag: string, properties: Properties = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, properties, children);
  return element;
}

// A sentence of the report: what stands in `backticks` is code, and no line ends inside -inf.
export function prose(text: string): Node[] {
  return text
    .split(/(`[^`]*`|(?<![\w-])-inf\b)/)
    .filter((part) => part !== "")
    .map((part) => {
      if (part === "-inf") return h("span", { class: "whole" }, part);
      const code = part.length > 2 && part.startsWith("`") && part.endsWith("`");
      return code ? h("code", {}, part.slice(1, -1)) : document.createTextNode(part);
    });
}

// A place, train_model.py:41:18: where it needs two lines, these part at its joints.
export function joints(place: string): Child[] {
  return place.split(/(?<=[/_])|(?=[.:])/).flatMap((part, i) => (i > 0 ? [h("wbr"), part] : [part]));
}

// A part of the page under its name.
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}

// Facts as pairs; what is empty is left out.
export function facts(pairs: [string, Child][]): HTMLElement {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, ...known.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

// What scrolls sideways must be reachable by keyboard.
export function scrollable(label: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "scrollable", tabindex: 0, role: "region", "aria-label": label }, ...children);
}

export function copyButton(label: string, text: string): HTMLButtonElement {
  const button = h("button", { type: "button", class: "copy", click: () => void copy() }, label);
  async function copy(): Promise<void> {
    const done = await toClipboard(text);
    button.textContent = done ? "Copied" : "Select and copy by hand";
    announce(done ? `${label}: done` : "The clipboard is not available");
    window.setTimeout(() => (button.textContent = label), 1600);
  }
  return button;
}

// A page opened from disk may not have the clipboard API; the old way still works there.
async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "off-screen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

const live = h("div", { class: "off-screen", role: "status", "aria-live": "polite" });

export function announce(text: string): void {
  if (!live.isConnected) document.body.append(live);
  live.textContent = text;
}
