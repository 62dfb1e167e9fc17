import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests of a process: the kernel before `init`, modules loaded anew, the heap, warnings given once, functions that ran. */
const OWN_PROCESS = [
  "test/kernel/{init,choose}.test.ts",
  "test/{house/percent,drain/warnings}.test.ts",
  "test/**/{heap,*memory*,many-ids,files-per-call}.test.ts",
  // They collect garbage, which takes longer in the large heap of many files.
  "test/{limiter/faults/bounds,journal/frame-names,journal/residents,journal/soak}.test.ts",
  // They step the timers of the whole process, so none of another test may be among them.
  "test/**/schedules.test.ts",
  "test/{soak,fuzz,bench}/**/*.test.ts",
];

/** They take longest, but are small files, which vitest starts last. */
const SLOW = [
  /^test\/(queue|lock|series|limiter|store)\/contract\/suite/,
  /^test\/(lock\/read-write|semaphore|drain\/sql\/contract|breaker\/contract)\/suite/,
  /^test\/docs\/(site|blocks)/,
  /^test\/(fuzz\/fuzz|servers\/conformance|simulator\/faults|storm\/storm|drain\/matrix|queue\/faults)/,
];

/** Starts slow files first. Otherwise the workers wait at the end for the last of them. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const path = moduleId.slice(moduleId.lastIndexOf("/test/") + 1);
      const rank = SLOW.findIndex((pattern) => pattern.test(path));
      return rank < 0 ? SLOW.length : rank;
    };
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b));
  }
}

/** `--mode servers`: the suites run over each server that is found, in each form (test/servers/forms.ts). */
export default defineConfig(({ mode }) => ({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000, // more than a slow server is waited for, which then says what did not start
    maxWorkers: 4, // of two cores, a third of which stand still while tests wait
    sequence: { sequencer: SlowFirst },
    setupFiles: ["test/harness/setup.ts"],
    env: mode === "servers" ? { ORIEL_STORES: "servers" } : {},
    projects: [
      {
        extends: true,
        // Files that run in one process share its modules: to load the library again costs each file a second of CPU.
        test: {
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: ["**/node_modules/**", ...OWN_PROCESS],
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "own", include: OWN_PROCESS, exclude: ["**/node_modules/**"] },
      },
    ],
  },
}));
