// Writes the tables of the pages from bench/report/results.jsonl.
import { readFileSync, writeFileSync } from "node:fs";
import { runOf } from "./lines.ts";
import { filled } from "./page.ts";
import { PAGES, RESULT } from "./pages.ts";

const run = runOf(readFileSync(RESULT, "utf8"));
for (const page of PAGES) writeFileSync(page, filled(readFileSync(page, "utf8"), run));
