// page_pictures.mjs PLAN: photographs pages in Chromium, as scripts/page_pictures.py asks for.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { chromium } = createRequire(join(plan.modules, "index.js"))("playwright-core");
const SPACE = 16; // above the first and below the last thing that is shown

const edge = (page, selector, side) => page.evaluate(([selector, side]) => document.querySelector(selector).getBoundingClientRect()[side] + scrollY, [selector, side]);

async function part(page, { top, bottom, width }) {
  // A section has space of its own above it.
  const y = (await edge(page, top, "top")) + (top.includes(" ") ? -SPACE : SPACE);
  const end = (await edge(page, bottom ?? "body", "bottom")) + SPACE;
  return { x: 0, y, width, height: end - y };
}

async function photograph(browser, shot) {
  const context = await browser.newContext({ viewport: { width: shot.width, height: shot.height ?? 900 }, deviceScaleFactor: shot.scale, colorScheme: shot.scheme });
  const page = await context.newPage();
  await page.goto(`file://${shot.page}`);
  await page.waitForSelector("html[data-ready]");
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  const path = join(plan.to, `${shot.name}.png`);
  if (shot.height) {
    // As the window shows it: what stays in sight while one scrolls is there, too.
    await page.evaluate((y) => scrollTo(0, y), shot.top ? (await part(page, shot)).y : 0);
    await page.screenshot({ path });
  } else {
    await page.screenshot({ path, fullPage: true, clip: shot.whole ? undefined : await part(page, shot) });
  }
  await context.close();
}

const browser = await chromium.launch({ executablePath: plan.browser, args: ["--no-sandbox", "--disable-gpu", "--no-first-run"] });
for (const shot of plan.shots) await photograph(browser, shot);
await browser.close();
