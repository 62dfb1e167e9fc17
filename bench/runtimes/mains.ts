/** A program that answers each input line, [work, size, runs], with a line. */
export const PROGRAM = `import process from "node:process";
import { createInterface } from "node:readline";
import { timed } from "./work.mjs";
for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await timed(...JSON.parse(line))));
`;

/** A worker that answers each request's body. Its own clock stands still while it computes. */
export const WORKER = `import { work } from "./work.mjs";
export default { fetch: async (request) => Response.json(await work(...(await request.json()))) };
`;

/** A page that exposes the work to its caller. */
export const PAGE = `import { timed } from "./work.mjs";
globalThis.timed = timed;
`;

const MEDIAN = "kernel.percentile(Float64Array.of(1, 2, 3), 50)";

/** For each entry the imports and the expression of a first answer. */
export const FIRST_ANSWERS: Record<string, [imports: string, answer: string]> = {
  nothing: ["", "2"],
  oriel: [`import { kernel } from "oriel";`, MEDIAN],
  "oriel/kernel": [`import { kernel } from "oriel/kernel";`, MEDIAN],
  "oriel/js": [`import { kernel } from "oriel/js";`, MEDIAN],
  "oriel/slim": [
    `import { readFileSync } from "node:fs"; import { initSync, kernel } from "oriel/slim";`,
    `(initSync(readFileSync(WASM)), ${MEDIAN})`,
  ],
  "oriel/http": [`import { clientKey } from "oriel/http";`, `clientKey("203.0.113.7")`],
  "oriel/sql": [`import { sqliteSink } from "oriel/sql";`, "typeof sqliteSink"],
};
