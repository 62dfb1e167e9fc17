import { defineConfig } from "vitest/config";

/** Tests of a process: the kernel before `init`, modules loaded anew, the heap, warnings given once, functions that ran. */
const OWN_PROCESS = [
  "test/kernel/{init,choose}.test.ts",
  "test/{house/percent,drain/warnings}.test.ts",
  "test/**/{heap,*memory*,many-ids,files-per-call}.test.ts",
  // They step the timers of the whole process, so none of another test may be among them.
  "test/**/schedules.test.ts",
  "test/{soak,fuzz,bench}/**/*.test.ts",
];

/** `--mode servers`: the suites run over each server that is found, in each form (test/servers/forms.ts). */
export default defineConfig(({ mode }) => ({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000, // more than a slow server is waited for, which then says what did not start
    maxWorkers: 4, // of two cores, a third of which stand still while tests wait
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
