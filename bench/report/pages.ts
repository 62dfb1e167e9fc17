import { fileURLToPath } from "node:url";

const inRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The run from which the pages are written. */
export const RESULT = inRoot("bench/report/results.jsonl");
export const PAGES = [
  "README.md",
  "docs/understand/benchmarks.md",
  "docs/understand/why-not.md",
  "docs/understand/storms.md",
  "docs/understand/scale.md",
  "docs/promises/limiter.md",
  "docs/reference/series.md",
].map(inRoot);
