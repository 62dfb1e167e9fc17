// Compiles assembly/ twice (SIMD and scalar, one source) and writes the bytes as base64 modules to src/generated.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const generated = join(root, "src", "generated");
mkdirSync(generated, { recursive: true });

for (const target of ["simd", "scalar"]) {
  const { error, stderr } = await asc.main(["--config", "asconfig.json", "--target", target], {
    readFile: (name, base) => {
      try {
        return readFileSync(join(base, name), "utf8");
      } catch {
        return null;
      }
    },
  });
  if (error) {
    console.error(stderr.toString());
    process.exit(1);
  }
  const bytes = readFileSync(join(root, "dist", `kernels.${target}.wasm`));
  writeFileSync(
    join(generated, `kernels.${target}.ts`),
    `export const wasmBase64 =\n  "${bytes.toString("base64")}";\n`,
  );
}

writeFileSync(
  join(root, "dist", "kernels.wasm.d.ts"),
  `/** A compiled module where a runtime imports .wasm files (Workers, Deno); elsewhere what its bundler makes of one. */
declare const module: object;
export default module;
`,
);
