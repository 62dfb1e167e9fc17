import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** What only `npm test` runs: real faults, other servers and runtimes, long runs, the built package. */
const SLOW = [
  "test/{bench,cli,drain,examples,faults,fuzz,managed,matrix,runtimes,simulator,soak,storm,types}/**",
  "test/**/{faults,simulator,storm,rolling,twins}/**",
  "test/**/*{heap,memory,processes,python,soak,storms,schedules,oracle,load}.test.ts",
  "test/dashboard/{browser,use}.test.ts",
  "test/docs/{blocks,shell,site}.test.ts",
  "test/house/{bundles,imports,misuse,package,percent,readme,types}.test.ts",
  "test/journal/{garbage,summary-*,frame-names}.test.ts",
  "test/kernel/{choose,init,stats,wasm}.test.ts",
  "test/limiter/{groups,keys,hot-key}.test.ts",
  "test/queue/{due-times,idle-handlers,inbox}.test.ts",
  "test/series/{summaries,cold-trips,traces,server-redis}.test.ts",
  "test/stats/{cores,live}.test.ts",
  "test/store/{refusing-node,contract/traced,restricted/{arguments,key-locking,no-subscribe}}.test.ts",
  "test/store/{acl,lua54}/**",
  "test/contributing/{policy,kernel,sink}/**",
  "test/counter/cells.test.ts",
  "test/breaker/{real-input,types}.test.ts",
  "test/exporters/prometheus/**",
  "test/http/{express-rate-limit-skips,permits}.test.ts",
];
const root = fileURLToPath(new URL(".", import.meta.url));

/** The tests named after a source or importing it; where there are none, the contract of its room, else all of the room. */
function testsOf(room: string, source: string): string[] {
  const folder = `test/${room}`;
  if (!existsSync(`${root}${folder}`)) return [];
  const tests = readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => `${folder}/${path.replaceAll("\\", "/")}`);
  const name = basename(source).replace(/\.\w+$/, "");
  const own = tests.filter(
    (path) => basename(path).startsWith(name) || readFileSync(`${root}${path}`, "utf8").includes(`/${name}.ts"`),
  );
  const contract = tests.filter((path) => path.includes("/contract/suite"));
  return [own, contract, tests].find((some) => some.length > 0) ?? [];
}

/** `npm run test:quick`: over the memory store and one Redis. `npm run dev`: over the memory store. */
export default defineConfig(({ mode }) => ({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...SLOW],
    env: { ORIEL_QUICK: mode === "dev" ? "memory" : "redis" },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
    isolate: false,
    setupFiles: ["test/harness/setup.ts"],
    watchTriggerPatterns: [
      { pattern: /\/src\/(?!generated\/)([\w-]+)\//, testsToRun: (file, [, room]) => testsOf(room!, file) },
      {
        pattern: /\/lua\/([\w-]+)\//,
        testsToRun(file, [, room]) {
          execFileSync(process.execPath, ["scripts/build-scripts.mjs"], { cwd: root, stdio: "inherit" });
          return testsOf(room!, file);
        },
      },
    ],
  },
}));
