// `npm run soak`: ten minutes at full load, then the wait until everything has expired; the tally is the last line.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = mkdtempSync(join(tmpdir(), "oriel-soak-"));
const tally = join(folder, "tally");
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const run = spawnSync(process.execPath, [vitest, "run", "test/soak/soak.own.slow.test.ts", ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...process.env, ORIEL_SOAK_SECONDS: process.env.ORIEL_SOAK_SECONDS ?? "600", ORIEL_TALLY: tally },
});
console.log(existsSync(tally) ? readFileSync(tally, "utf8") : "soak: no tally, the run broke off");
rmSync(folder, { recursive: true });
process.exitCode = run.status ?? 1;
