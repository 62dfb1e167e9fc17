// The parts of the tests. A test file belongs to the part that its name says: x.slow.test.ts to slow, x.test.ts to core. `.own`
// before that (x.own.slow.test.ts) gives it a process of its own.

/**
 * What scripts/setup.mjs installs for each part, besides the packages and a Redis. `npm test` runs core, and rows over the memory
 * store and one Redis, for which the flags of core are enough. The suites of rows run over every store.
 */
export const PARTS = {
  core: ["--build"],
  rows: ["--build", "--valkey"],
  slow: ["--build", "--valkey"],
  servers: ["--build", "--valkey", "--servers", "--sql"],
  sql: ["--build", "--valkey", "--servers", "--sql"],
  python: ["--build", "--python"],
  http: ["--build", "--http", "--dashboard"],
  exporters: ["--build", "--exporters", "--bench", "--sql"],
  browser: ["--build", "--dashboard"],
  runtimes: ["--build", "--runtimes", "--http"],
  examples: ["--build", "--examples", "--http", "--runtimes"],
  docs: ["--build", "--docs", "--sql", "--http", "--exporters", "--runtimes", "--examples", "--bench"],
  bench: ["--build", "--bench", "--sql", "--runtimes", "--dashboard"],
};

/** The test files of a part. */
export function filesOf(part) {
  return part === "core" ? "test/**/+([a-z0-9-]).test.ts" : `test/**/+([a-z0-9-]).${part}.test.ts`;
}

/** The files of a part that have a process of their own. */
export function ownFilesOf(part) {
  return part === "core" ? "test/**/+([a-z0-9-]).own.test.ts" : `test/**/+([a-z0-9-]).own.${part}.test.ts`;
}
