// Vitest runs this before each test file. Modules are shared by the files that one worker runs, so a module that
// registered hooks would do so for the first of them only.
import { afterAll, afterEach, beforeEach } from "vitest";
import { forceKernel } from "../../src/engine/kernel/choose.ts";
import { defaults } from "../../src/store/delivery/script-store.ts";
import { endFile, endTest } from "./ends.ts";

// Where a terminal or a CI has colours, Vitest sets FORCE_COLOR. The texts of the command are compared without colours.
delete process.env.FORCE_COLOR;
process.env.NO_COLOR = "1";

// Vitest keeps 100 frames, and tests of faults make errors by the million.
Error.stackTraceLimit = 20;

// A machine may be slow. Tests of deadlines set one, and stop the server.
defaults.deadlineMs = 20_000;

// .ci/run has 20 minutes. On a machine that needs more, the tests that have not begun by then are counted as skipped.
const lastStartMs = Number(process.env.ORIEL_LAST_START_MS ?? Number.POSITIVE_INFINITY);
const { now } = Date; // tests set another time
beforeEach(({ skip }) => skip(now() > lastStartMs, "the time of this run is over"));

afterEach(endTest);
afterAll(endFile);
// A file that imports the JavaScript kernel alone would choose it for all files after it.
afterAll(() => forceKernel(null));
