// Runs all checks of the sources and the package, two at a time, and prints what the failed ones say.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";

/** The longest ones first. */
const CHECKS = [
  "tsc --noEmit",
  "knip --include files,exports,types",
  "tsc --noEmit -p src/operate/dashboard/page",
  "attw --pack . --profile node16 --exclude-entrypoints kernels.simd.wasm kernels.scalar.wasm package.json --format ascii --quiet",
  "biome check .",
  "publint --strict",
];

async function run(command) {
  const child = spawn(command, { shell: true, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      text += chunk;
    });
  const [status] = await once(child, "close");
  console.log(`${status === 0 ? "good  " : "FAILED"} ${command}`);
  if (status === 0) return;
  process.stdout.write(text);
  process.exitCode = 1;
}

const waiting = [...CHECKS];
const runner = async () => {
  for (let next = waiting.shift(); next; next = waiting.shift()) await run(next);
};
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, runner));
