/** Answers each line of its input, [work, size, runs], with a line: for programs. */
export const PROGRAM = `import process from "node:process";
import { createInterface } from "node:readline";
import { timed } from "./work.mjs";
for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await timed(...JSON.parse(line))));
`;

/** Answers each request's body: a worker's own clock stands still while it computes. */
export const WORKER = `import { work } from "./work.mjs";
export default { fetch: async (request) => Response.json(await work(...(await request.json()))) };
`;

/** Leaves what computes to whoever asks the page. */
export const PAGE = `import { timed } from "./work.mjs";
globalThis.timed = timed;
`;

/** The first answer of each entry. */
export const FIRST_ANSWERS: Record<string, string> = {
  oriel: `import { kernel } from "oriel"; console.log(kernel.percentile(Float64Array.of(1, 2, 3), 50));`,
  "oriel/kernel": `import { kernel } from "oriel/kernel"; console.log(kernel.percentile(Float64Array.of(1, 2, 3), 50));`,
  "oriel/js": `import { kernel } from "oriel/js"; console.log(kernel.percentile(Float64Array.of(1, 2, 3), 50));`,
  "oriel/slim": `import { readFileSync } from "node:fs"; import { initSync, kernel } from "oriel/slim";
initSync(readFileSync(WASM)); console.log(kernel.percentile(Float64Array.of(1, 2, 3), 50));`,
  "oriel/http": `import { clientKey } from "oriel/http"; console.log(clientKey("203.0.113.7").length);`,
  "oriel/sql": `import { sqliteSink } from "oriel/sql"; console.log(typeof sqliteSink);`,
};
export const NOTHING = "console.log(2);";
