// Mends the CommonJS files of dist. The conversion takes an assignment to a private field, `this.#name = value`, for one to an export
// of the same name, and writes `this.#name = exports.name = value`. That would replace the export.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const dist = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "dist");

for (const name of readdirSync(dist).filter((each) => each.endsWith(".cjs"))) {
  const text = readFileSync(join(dist, name), "utf8");
  const mended = text.replace(/(\.#([\w$]+) = )exports\.\2 = /g, "$1");
  const left = /\.#[\w$]+[^\n;]*\bexports\.[\w$]+ [-+*/|&?]*= /.exec(mended);
  if (left) throw new Error(`${name}: a private field is taken for an export: ${left[0]}`);
  if (mended !== text) writeFileSync(join(dist, name), mended);
}
