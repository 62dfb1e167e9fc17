// `npm run faults`: many random schedules, the rules of the journal taken out one by one, and the scenarios on real servers; the tally of the schedules is the last line.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = mkdtempSync(join(tmpdir(), "oriel-faults-"));
const tally = join(folder, "tally");
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const tests = [
  "test/simulator/faults.slow.test.ts",
  "test/simulator/mutations.slow.test.ts",
  "test/simulator/holds.slow.test.ts",
  "test/counter/simulator",
  "test/counter/faults",
  "test/faults",
  "test/drain/faults/killed.sql.test.ts",
  "test/queue/schedules.own.slow.test.ts",
  "test/queue/storms.slow.test.ts",
  "test/storm",
];
const run = spawnSync(process.execPath, [vitest, "run", ...tests, ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...process.env, ORIEL_SEEDS: process.env.ORIEL_SEEDS ?? "1000", ORIEL_TALLY: tally },
});
console.log(existsSync(tally) ? readFileSync(tally, "utf8") : "faults: no tally, the run broke off");
rmSync(folder, { recursive: true });
process.exitCode = run.status ?? 1;
