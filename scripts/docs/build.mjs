// Builds the documentation site: the API pages from the declarations, then the static files in docs/.vitepress/dist.
// `--serve` serves the site instead and follows changes of the pages.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const docs = join(root, "docs");
const require = createRequire(join(docs, "package.json"));

/** The file of a program that a package of docs/ brings. */
function programOf(name, bin) {
  return join(docs, "node_modules", name, require(`${name}/package.json`).bin[bin]);
}

async function run(file, ...args) {
  const child = spawn(process.execPath, [file, ...args], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  const [status] = await once(child, "close");
  if (status !== 0) process.exit(status ?? 1);
}

await run(programOf("typedoc", "typedoc"), "--options", join(docs, "typedoc.json"));
const vitepress = join(docs, "node_modules", "vitepress", "bin", "vitepress.js");
await run(vitepress, process.argv.includes("--serve") ? "dev" : "build", docs);
