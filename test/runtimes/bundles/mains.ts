/** What users import. */
export type Entry = "oriel" | "oriel/kernel" | "oriel/js" | "oriel/slim";

/** The script of each entry; those that the folder script/ has not are same-script.mjs with another import. */
export const SCRIPTS: Record<Entry, string> = {
  oriel: "same-script.mjs",
  "oriel/kernel": "kernel-script.mjs",
  "oriel/js": "same-script-js.mjs",
  "oriel/slim": "same-script-slim.mjs",
};

/** Prints the report, for programs. */
export const PRINT = "run().then((report) => console.log(JSON.stringify(report)));";
/** Answers every request with the report, for workers. */
export const WORKER = "export default { fetch: async () => Response.json(await run()) };";
/** Exposes the promise of the report, or the error, for pages and virtual machines. */
export const KEEP = "globalThis.report = run();";

/**
 * An ES module that runs an entry's script and does `reported` with `run`. oriel/slim receives the value of the expression `wasm`
 * gives, after the statement `imported`.
 */
export function mainOf(entry: Entry, reported: string, { imported = "", wasm = "" } = {}): string {
  const script = `./${SCRIPTS[entry]}`;
  if (entry !== "oriel/slim") return `import { run } from "${script}";\n${reported}\n`;
  const given = wasm || 'readFile(new URL(import.meta.resolve("oriel/kernels.simd.wasm")))';
  return `${imported || 'import { readFile } from "node:fs/promises";'}
import { init } from "oriel/slim";
import { run as runSame } from "${script}";
const run = async () => {
  await init(${given});
  return runSame();
};
${reported}
`;
}
