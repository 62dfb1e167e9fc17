// Bundles the page of the dashboard (src/operate/dashboard/page) into texts, src/generated/dashboard.ts: the package carries the page
// inside its own modules, so any bundler takes it along, and no file has to be found at run time. The texts are compressed, as browsers
// take them, and in base64.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const page = join(root, "src", "operate", "dashboard", "page");
const licence = readFileSync(join(root, "node_modules", "uplot", "LICENSE"), "utf8").trim();

async function bundled(file, options = {}) {
  const { outputFiles } = await build({
    entryPoints: [join(page, file)],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: ["es2022", "chrome109", "firefox115", "safari16"],
    legalComments: "none",
    charset: "utf8",
    logLevel: "error",
    ...options,
  });
  return outputFiles[0].text;
}

const banner = { js: `/*! With uPlot:\n${licence.replaceAll("*/", "* /")}\n*/` };
const [script, style] = await Promise.all([bundled("main.ts", { banner }), bundled("style/page.css")]);
const html = readFileSync(join(page, "index.html"), "utf8");
const hash = createHash("sha256").update(html).update(script).update(style).digest("hex").slice(0, 16);
const zipped = (text) => gzipSync(text, { level: 9 }).toString("base64");
const texts = { html: zipped(html), script: zipped(script), style: zipped(style), hash };
const lines = Object.entries(texts).map(([name, text]) => `export const ${name}: string = ${JSON.stringify(text)};\n`);
mkdirSync(join(root, "src", "generated"), { recursive: true });
writeFileSync(join(root, "src", "generated", "dashboard.ts"), lines.join(""));
