// build.mjs OUT: bundles the page into one HTML file without its data.
//
// The content policy allows this one script and this one style sheet, by their hashes, and nothing
// else: no network, no other script. The C++ reporter puts the data in, which is never executed.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [out] = process.argv.slice(2);
if (!out) throw new Error("usage: node build.mjs OUT");

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = await bundle("main.ts");
const style = await bundle("style.css");
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error("the bundle would end its own element");

const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const licence = readFileSync(join(here, "node_modules", "uplot", "LICENSE"), "utf8").replaceAll("--", "- -");
const parts = { policy, script, style, licence };
const page = readFileSync(join(here, "src", "template.html"), "utf8").replace(
  /\{\{(\w+)\}\}/g,
  (_, name) => parts[name],
);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, page);
