// Compiles assembly/ twice (SIMD and scalar, one source) and assembly/blocks once, and writes the bytes as base64 modules to
// src/generated. Compiles assembly/runs to a file alone.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const generated = join(root, "src", "generated");
const compiler = join(root, "node_modules", "assemblyscript", "bin", "asc.js");
mkdirSync(generated, { recursive: true });

async function compile(config, target, wasm, module) {
  const args = [compiler, "--config", config, "--target", target];
  // Its warnings are about other embedders. They are shown with an error.
  await promisify(execFile)(process.execPath, args, { cwd: root }).catch(({ stdout, stderr }) => {
    console.error(`${stdout}${stderr}`);
    process.exit(1);
  });
  if (!module) return;
  const bytes = readFileSync(join(root, wasm));
  writeFileSync(join(generated, module), `export const wasmBase64 =\n  "${bytes.toString("base64")}";\n`);
}

const kernels = ["simd", "scalar"].map((target) =>
  compile("asconfig.json", target, `dist/kernels.${target}.wasm`, `kernels.${target}.ts`),
);
await Promise.all([
  ...kernels,
  compile("assembly/blocks/asconfig.json", "blocks", "src/generated/blocks.wasm", "blocks.ts"),
  compile("assembly/runs/asconfig.json", "simd"),
]);

writeFileSync(
  join(root, "dist", "kernels.wasm.d.ts"),
  `/** A compiled module where a runtime imports .wasm files (Workers, Deno); elsewhere what its bundler makes of one. */
declare const module: object;
export default module;
`,
);
