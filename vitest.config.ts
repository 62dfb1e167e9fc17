import { createHash } from "node:crypto";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { filesOf, ownFilesOf, PARTS } from "./scripts/test/parts.mjs";

/** They take longest, but are small files, which vitest starts last. */
const LONGEST = [
  /^test\/(queue|lock|series|limiter|store)\/contract\/suite/,
  /^test\/(lock\/read-write|semaphore|drain\/sql\/contract|breaker\/contract)\/suite/,
  /^test\/docs\/(site|blocks)/,
  /^test\/(fuzz\/fuzz|servers\/conformance|simulator\/faults|storm\/storm|drain\/matrix|queue\/faults)/,
];

/** Any text. Each gives the files another order. .ci/run passes the commit, so that a run that ends early leaves out others each time. */
const { ORIEL_ORDER } = process.env;

/** Starts the longest files first. Otherwise the workers wait at the end for the last of them. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const pathOf = ({ moduleId }: TestSpecification) => moduleId.slice(moduleId.lastIndexOf("/test/") + 1);
    const rankOf = (file: TestSpecification) => {
      const rank = LONGEST.findIndex((pattern) => pattern.test(pathOf(file)));
      return rank < 0 ? LONGEST.length : rank;
    };
    const placeOf = (file: TestSpecification) =>
      createHash("sha1")
        .update(`${ORIEL_ORDER} ${pathOf(file)}`)
        .digest("hex");
    const ordered = await super.sort(files);
    if (ORIEL_ORDER) console.log(`ORIEL_ORDER=${ORIEL_ORDER} gives the order of the test files`);
    if (ORIEL_ORDER) ordered.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
    return ordered.sort((a, b) => rankOf(a) - rankOf(b));
  }
}

/** scripts/test.mjs names the parts that run. `npx vitest run <file>` finds a file of any part. */
const parts = process.env.ORIEL_PARTS?.split(",") ?? Object.keys(PARTS);
const others = parts.filter((part) => part !== "rows");
/** The stores of the part rows (test/harness/rows.ts). Files of other parts that use them run over all. */
const { ORIEL_ROWS_OVER } = process.env;

export default defineConfig({
  test: {
    // Only a test that hangs takes this long, on any machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000 } },
    experimental: { fsModuleCache: true }, // of three projects, each of which would compile each module
    maxWorkers: 4, // of two cores, a third of which stand still while tests wait
    sequence: { sequencer: LongestFirst },
    setupFiles: ["test/harness/setup.ts"],
    projects: [
      {
        extends: true,
        // Files that run in one process share its modules: to load the library again costs each file a second of CPU.
        test: { name: "shared", include: others.map(filesOf), exclude: ["**/node_modules/**"], isolate: false },
      },
      {
        extends: true,
        test: {
          name: "rows",
          include: parts.includes("rows") ? [filesOf("rows")] : [],
          exclude: ["**/node_modules/**"],
          isolate: false,
          ...(ORIEL_ROWS_OVER && { env: { ORIEL_ROWS: ORIEL_ROWS_OVER } }),
        },
      },
      {
        extends: true,
        // Tests of a process: the kernel before `init`, modules loaded anew, the heap, warnings given once, functions that ran.
        test: { name: "own", include: others.map(ownFilesOf), exclude: ["**/node_modules/**"] },
      },
    ],
  },
});
