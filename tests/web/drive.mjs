// drive.mjs PLAN: opens pages in Chromium and writes down, as JSON on stdout, what it saw there.
//
// The plan names the pages, the folder of node_modules and the browser. Each page is loaded in a fresh
// context; messages, requests and errors are kept. What a page should hold is judged by its caller.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
const require = createRequire(join(plan.modules, "index.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core"), "utf8");
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"];

async function open(browser, file, options) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await context.newPage();
  const seen = { console: [], errors: [], requests: [] };
  page.on("console", (message) => seen.console.push(message.text()));
  page.on("pageerror", (error) => seen.errors.push(error.message));
  page.on("request", (request) => seen.requests.push(request.url()));
  await page.goto(`file://${file}`);
  await page.waitForSelector("html[data-ready]");
  return { page, seen, context };
}

async function violations(page) {
  await page.evaluate(axe);
  const runOnly = { type: "tag", values: LEVELS };
  const result = await page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly, resultTypes: ["violations"] }), runOnly);
  return result.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join("; ")}`);
}

// What stands in the page, as plain values.
const content = () => {
  // How often a line ends inside this word, but for code and what is not shown.
  const torn = (word) => {
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    let found = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.parentElement.closest("code, pre, svg")) continue;
      for (let at = node.data.indexOf(word); at >= 0; at = node.data.indexOf(word, at + 1)) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        found += new Set([...range.getClientRects()].map((rect) => rect.top)).size > 1;
      }
    }
    return found;
  };
  // Of each stroke beside the way, the dots at its ends.
  const branches = () => {
    const dots = [...document.querySelectorAll(".map .dot")].map((dot) => ({ at: ["cx", "cy"].map((key) => dot.querySelector("circle").getAttribute(key)).join(), op: dot.querySelector("title").textContent.split(", ")[1] }));
    const opAt = (place) => dots.filter((dot) => dot.at === place).map((dot) => dot.op).join(" and ");
    return [...document.querySelectorAll(".map .branch")].map((path) => {
      const points = path.getAttribute("d").match(/-?[\d.]+,-?[\d.]+/g);
      return [opAt(points[0]), opAt(points.at(-1))];
    });
  };
  const text = (selector) => document.querySelector(selector)?.textContent ?? null;
  const texts = (selector, inside = document) => [...inside.querySelectorAll(selector)].map((e) => e.textContent);
  const rows = (table) =>
    [...table.querySelectorAll("tbody tr")].map((row) => [
      row.querySelector("th").textContent,
      ...[...row.querySelectorAll("data")].map((d) => d.getAttribute("value")),
    ]);
  return {
    title: document.title,
    h1: text("h1"),
    sections: texts("h2"),
    marked: texts(".source mark").join("\n"),
    tensors: [...document.querySelectorAll("#inputs .tensor")].map((card) => ({
      name: card.querySelector("h3").textContent,
      rows: rows(card.querySelector("table")),
      failing: [...card.querySelectorAll(".failing-values data")].map((d) => d.getAttribute("value")),
    })),
    journey: [...document.querySelectorAll(".journey li")].map((li) => [li.querySelector(".role").textContent, li.querySelector(".what").textContent]),
    tracks: [...document.querySelectorAll("#journey .track")].map((track) => ({ title: track.querySelector("h3").textContent, roles: texts(".role", track) })),
    ranks: [...document.querySelectorAll("#ranks tbody tr")].map((row) => [...texts("th, td", row).slice(0, 3), row.querySelector("a")?.getAttribute("href") ?? null]),
    sizes: texts(".journey .sizes, .branches .sizes"),
    notes: [...document.querySelectorAll("#notes tbody tr")].map((row) => texts("td", row).slice(0, 3)),
    dots: document.querySelectorAll(".map .dot").length,
    branches: branches(),
    intended: [...document.querySelectorAll(".intended tbody tr")].map((row) => [row.querySelector("th").textContent, ...texts("td", row)]),
    cleanedMore: text(".branches + .quiet"),
    tried: texts("#fix .others li"),
    status: text("#verification .status"),
    checks: texts("#verification .evidence li"),
    lossCurves: document.querySelectorAll("#verification canvas").length,
    losses: [...document.querySelectorAll(".losses table")].flatMap((table) => [...table.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("data")].map((d) => d.getAttribute("value")))),
    history: [...document.querySelectorAll("#history table.numbers")].flatMap(rows),
    curves: document.querySelectorAll("#history canvas").length,
    diff: text("pre.diff"),
    pictures: [...document.querySelectorAll("#inputs .tensor")].map((card) => ({
      name: card.querySelector("h3").textContent,
      columns: [...card.querySelectorAll(".column[data-count]")].map((c) => Number(c.dataset.count)),
      bad: card.querySelector(".bad-map")?.dataset.bad ?? null,
      pattern: card.querySelector(".bad-map strong")?.textContent ?? null,
    })),
    around: texts(".line.around").length,
    cleaned: texts(".branches li .what > code"),
    modules: [...document.querySelectorAll(".icicle .cell")].map((cell) => cell.getAttribute("aria-label")),
    coverage: [...document.querySelectorAll("#coverage dd data")].map((d) => d.getAttribute("value")),
    list: texts(".findings .id"),
    overflow: document.documentElement.scrollWidth > document.documentElement.clientWidth,
    deed: text(".deed"),
    torn: torn("-inf"),
  };
};

// Rows of some come with the event that they were opened.
async function unfold(page) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
  await page.waitForFunction(() => [...document.querySelectorAll("details tbody")].every((body) => body.childElementCount > 0));
}

async function look(browser, file) {
  const { page, seen, context } = await open(browser, file, { colorScheme: "light" });
  const light = await page.evaluate(content);
  const axeLight = await violations(page);
  await unfold(page);
  await page.emulateMedia({ colorScheme: "dark" });
  const axeDark = await violations(page);
  await page.setViewportSize({ width: 400, height: 800 });
  const narrow = await page.evaluate(content);
  await context.close();
  return { ...seen, light, axe: { light: axeLight, dark: axeDark }, narrowOverflow: narrow.overflow, narrowTorn: narrow.torn };
}

async function pasted(page) {
  await page.evaluate(() => {
    const area = document.createElement("textarea");
    area.id = "pasted";
    document.body.append(area);
    area.focus();
  });
  await page.keyboard.press("Control+V");
  const text = await page.inputValue("#pasted");
  await page.evaluate(() => document.getElementById("pasted").remove());
  return text;
}

// What a button has put there. The clipboard is written after the click; the page says when, to readers of the screen.
async function copied(page, label, button = `text=${label}`) {
  await page.click(button);
  await page.getByText(`${label}: done`).waitFor({ state: "attached" });
  return pasted(page);
}

// Everything one can do on a page, done: theme, copy, zoom, search, keyboard.
async function use(browser, file) {
  const { page, seen, context } = await open(browser, file, { colorScheme: "light", permissions: ["clipboard-read", "clipboard-write"] });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const did = { themes: [await background()] };

  await page.keyboard.press("Tab");
  did.firstFocus = await page.evaluate(() => document.activeElement.className);
  await page.keyboard.press("Tab");
  did.secondFocus = await page.evaluate(() => document.activeElement.id);
  await page.keyboard.press("Enter");
  did.themes.push(await background());

  await page.click(".next a");
  did.jumpedTo = await page.evaluate(() => document.activeElement.id);
  did.copied = await copied(page, "Copy diff");
  did.command = await copied(page, "Copy command", "#fix >> text=Copy command");

  const plot = page.locator("#history .u-over").first();
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  const reset = page.locator("#history .curve button").first();
  did.zoomed = [await reset.isVisible()];
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  did.zoomed.push(await reset.isVisible());
  did.hovered = await page.locator("#history .u-legend .u-value").first().textContent();
  await reset.focus();
  await page.keyboard.press("Enter");
  did.zoomed.push(await reset.isVisible());

  const visible = () => page.locator(".findings li:visible").count();
  did.found = [await visible()];
  await page.fill("#search", "extreme_weights");
  did.found.push(await visible());
  await page.fill("#search", "no such thing");
  did.found.push(await visible());
  await page.fill("#search", "");

  await page.evaluate(() => addEventListener("beforeprint", () => (globalThis.onPaper = [document.documentElement.dataset.theme, document.querySelectorAll("details:not([open])").length])));
  await page.pdf();
  did.onPaper = await page.evaluate(() => globalThis.onPaper);
  did.afterPrint = await page.evaluate(() => [document.documentElement.dataset.theme, document.querySelectorAll("details:not([open])").length]);
  did.headings = [await page.textContent("h1")];
  await page.locator(".findings a").nth(1).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction((before) => document.querySelector("h1").textContent !== before, did.headings[0]);
  did.headings.push(await page.textContent("h1"));
  did.focusAfter = await page.evaluate(() => document.activeElement.id);

  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 718, height: 1000 }); // the width of A4 within its margins
  did.printOverflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  did.printed = await page.evaluate(() => [...document.querySelectorAll("button:not(.cell), .findings")].filter((e) => e.getClientRects().length > 0).length);
  await context.close();
  return { ...seen, did };
}

// The model as an icicle: searched, widened, walked by keys.
async function useModules(browser, file) {
  const { page, seen, context } = await open(browser, file, { colorScheme: "light" });
  const did = {};
  const hits = () => page.locator(".icicle .cell.hit").count();
  await page.fill("#module-search", "attention");
  did.found = [await hits()];
  await page.fill("#module-search", "");
  did.found.push(await hits());
  const visible = () => page.locator(".icicle .cell:visible").count();
  did.visible = [await visible()];
  await page.locator(".icicle .cell").first().focus();
  for (const key of ["ArrowDown", "ArrowRight", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  did.walkedTo = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("Enter");
  did.visible.push(await visible());
  await page.keyboard.press("Escape");
  did.visible.push(await visible());
  await page.locator("#journey .dot").first().focus();
  await page.keyboard.press("ArrowRight");
  did.wayWalkedTo = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  await page.keyboard.press("Enter");
  did.wayShown = await page.evaluate(() => [...document.querySelectorAll(".journey li.shown .role")].map((e) => e.textContent));
  await page.click("#modules summary");
  await page.waitForSelector("#modules tbody tr"); // rows come with the event that it was opened
  did.rows = await page.locator("#modules tbody tr").count();
  const colours = () => page.evaluate(() => document.querySelector(".icicle .cell").className);
  did.colours = [await colours()];
  await page.selectOption("#modules select", { label: "gradients" });
  did.colours.push(await colours());
  await context.close();
  return { ...seen, did };
}

// Several ranks: one leads to its own finding.
async function useRanks(browser, file) {
  const { page, seen, context } = await open(browser, file, { colorScheme: "light" });
  const before = await page.textContent("h1");
  await page.locator("#ranks a").first().click();
  await page.waitForFunction((before) => document.querySelector("h1").textContent !== before, before);
  const did = { heading: await page.textContent("h1"), list: await page.locator(".findings .where").allTextContents() };
  await context.close();
  return { ...seen, did };
}

// Only whether a page comes up, says nothing and runs nothing of what it was given.
async function glance(browser, file) {
  const { page, seen, context } = await open(browser, file, { colorScheme: "light" });
  const found = await page.evaluate(() => ({ pwned: globalThis.pwned ?? null, h1: document.querySelector("h1")?.textContent ?? null }));
  await context.close();
  return { ...seen, ...found };
}

const browser = await chromium.launch({ executablePath: plan.browser, args: FLAGS });
const result = { pages: {}, glanced: {}, used: null, versions: browser.version() };
for (const [name, file] of Object.entries(plan.pages)) result.pages[name] = await look(browser, file);
for (const [name, file] of Object.entries(plan.glance ?? {})) result.glanced[name] = await glance(browser, file);
if (plan.use) result.used = await use(browser, plan.use);
if (plan.useRanks) result.usedRanks = await useRanks(browser, plan.useRanks);
if (plan.useModules) result.usedModules = await useModules(browser, plan.useModules);
await browser.close();
process.stdout.write(JSON.stringify(result));
