import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { build as buildWithVite } from "vite";
import { afterAll } from "vitest";
import { consumer, written } from "../consumer.ts";

/** A folder that is gone after the test file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "oriel-runtimes-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** esbuild's bundle, as text, of a main that lies in the consumer's folder. */
export async function bundled(main: string, options: BuildOptions): Promise<string> {
  const stdin = { contents: main, resolveDir: consumer(), sourcefile: "main.mjs" };
  const { outputFiles } = await build({
    stdin,
    bundle: true,
    format: "esm",
    write: false,
    logLevel: "error",
    ...options,
  });
  return outputFiles![0]!.text;
}

/** Vite's bundle of a library, as text, of a main that is written into the consumer's folder. */
export async function viteBundled(name: string, main: string): Promise<string> {
  const built = await buildWithVite({
    root: consumer(),
    configFile: false,
    logLevel: "error",
    build: { lib: { entry: written(name, main), formats: ["es"] }, write: false },
  });
  const [{ output }] = built as unknown as [{ output: { code: string }[] }];
  return output[0]!.code;
}
