// Writes src/generated: kernels, Lua scripts, fonts and the page of the dashboard. The parts run at once, one process each.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const scripts = dirname(fileURLToPath(import.meta.url));
const PARTS = ["build-kernels.mjs", "build-scripts.mjs", "fonts/build-fonts.mjs", "dashboard/build.mjs"];

const ended = await Promise.all(
  PARTS.map((part) => once(spawn(process.execPath, [join(scripts, part)], { stdio: "inherit" }), "close")),
);
if (ended.some(([status]) => status !== 0)) process.exit(1);
