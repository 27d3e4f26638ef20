// page.mjs PLAN: opens pages in Chromium, each several times in a fresh context, and writes when each
// could be used, in milliseconds since its navigation began, as JSON on stdout.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
const require = createRequire(join(plan.modules, "index.js"));
const { chromium } = require("playwright-core");

// All parts are in the page and the next frame is drawn: a click would be answered.
const interactive = () =>
  new Promise((done) => {
    const ready = performance.getEntriesByName("ready")[0].startTime;
    requestAnimationFrame(() => setTimeout(() => done({ ready, painted: performance.now() })));
  });

const browser = await chromium.launch({ executablePath: plan.browser, args: ["--no-sandbox", "--disable-gpu"] });
const result = {};
for (const [name, file] of Object.entries(plan.pages)) {
  result[name] = [];
  for (let round = 0; round < plan.rounds; ++round) {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
    const page = await context.newPage();
    await page.goto(`file://${file}`, { waitUntil: "domcontentloaded" });
    result[name].push(await page.evaluate(interactive));
    await context.close();
  }
}
await browser.close();
process.stdout.write(JSON.stringify(result));
