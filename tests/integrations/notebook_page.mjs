// notebook_page.mjs PLAN: opens a notebook as HTML in Chromium, and the page folded in it; writes
// down, as JSON on stdout, what is seen there. What lies on other hosts is answered with nothing.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { chromium } = createRequire(join(plan.modules, "index.js"))("playwright-core");
const browser = await chromium.launch({
  executablePath: plan.browser,
  args: ["--no-sandbox", "--disable-gpu"],
});
const page = await browser.newPage({ viewport: { width: 1100, height: 1400 } });
const seen = { console: [], errors: [] };
page.on("console", (message) => seen.console.push(message.text()));
page.on("pageerror", (error) => seen.errors.push(error.message));
await page.route(/^https?:/, (route) => route.fulfill({ body: "" }));
await page.goto(`file://${plan.page}`);
seen.text = await page.locator("body").innerText();
seen.fits = await page.evaluate(() => document.body.scrollWidth <= window.innerWidth);
await page.screenshot({ path: plan.shot, fullPage: true });
await page.locator("summary", { hasText: "The page of this report" }).click();
const frame = page.frameLocator("iframe");
await frame.locator("html[data-ready]").waitFor();
seen.folded = await frame.locator("body").innerText();
await browser.close();
console.log(JSON.stringify(seen));
