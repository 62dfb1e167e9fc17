import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** What only `npm test` runs: real faults, other servers and runtimes, long runs, the built package. */
const SLOW = [
  "test/{bench,cli,drain,faults,fuzz,matrix,runtimes,simulator,soak,storm,types}/**",
  "test/**/{faults,simulator,storm,rolling,twins}/**",
  "test/**/*{heap,memory,processes,python,soak,storms,schedules,oracle,load}.test.ts",
  "test/house/{bundles,imports,misuse,package,percent,readme,types}.test.ts",
  "test/journal/{garbage,summary-*,frame-names}.test.ts",
  "test/kernel/{choose,init,stats,wasm}.test.ts",
  "test/limiter/{groups,keys,hot-key}.test.ts",
  "test/queue/{due-times,idle-handlers,inbox}.test.ts",
  "test/series/{summaries,cold-trips,traces,server-redis}.test.ts",
  "test/stats/{cores,live}.test.ts",
  "test/store/{refusing-node,contract/traced}.test.ts",
  "test/counter/cells.test.ts",
  "test/breaker/{real-input,types}.test.ts",
  "test/http/{express-rate-limit-skips,permits}.test.ts",
];
const root = fileURLToPath(new URL(".", import.meta.url));

/** The tests of a room; those of all rooms where it has none of its own. */
function testsOf(room: string): string[] {
  const isTest = (path: string) => path.endsWith(".test.ts");
  try {
    return readdirSync(`${root}test/${room}`, { recursive: true, encoding: "utf8" })
      .filter(isTest)
      .map((path) => `test/${room}/${path.replaceAll("\\", "/")}`);
  } catch {
    return [];
  }
}

/** `npm run test:quick` and `npm run dev`: over the memory store and one Redis. */
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...SLOW],
    env: { ORIEL_QUICK: "1" },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
    isolate: false,
    setupFiles: ["test/harness/setup.ts"],
    watchTriggerPatterns: [
      { pattern: /\/src\/(?!generated\/)([\w-]+)\//, testsToRun: (_file, [, room]) => testsOf(room!) },
      {
        pattern: /\/lua\/([\w-]+)\//,
        testsToRun(_file, [, room]) {
          execFileSync(process.execPath, ["scripts/build-scripts.mjs"], { cwd: root, stdio: "inherit" });
          return testsOf(room!);
        },
      },
    ],
  },
});
