// Light, dark, or as the system has it; remembered where the browser allows it.
import { announce, h } from "./dom";
import { redrawCurves } from "./curves";

const KEY = "nanscope-theme";

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // a page opened from disk may have no storage
  }
}

const dark = (): boolean =>
  document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;

function set(theme: string): void {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // then it is forgotten
  }
  redrawCurves();
}

// On paper: dark on light, and nothing folded. What was open and dark is so again afterwards.
export function printAsInk(): void {
  let theme: string | undefined;
  let opened: HTMLDetailsElement[] = [];
  window.addEventListener("beforeprint", () => {
    theme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    opened = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
    for (const details of opened) {
      details.open = true;
      details.dispatchEvent(new Event("toggle")); // the browser's own comes after the print
    }
    redrawCurves();
  });
  window.addEventListener("afterprint", () => {
    if (theme === undefined) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    for (const details of opened) details.open = false;
    redrawCurves();
  });
}

export function themeButton(): HTMLButtonElement {
  const before = stored();
  if (before === "light" || before === "dark") document.documentElement.dataset.theme = before;
  const label = (): string => (dark() ? "Light" : "Dark");
  const button = h("button", { type: "button", id: "theme", class: "quiet-button", click: () => toggle() }, label());
  const toggle = (): void => {
    set(dark() ? "light" : "dark");
    button.textContent = label();
    announce(`Theme: ${dark() ? "dark" : "light"}`);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    button.textContent = label();
    redrawCurves();
  });
  return button;
}
