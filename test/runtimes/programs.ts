import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import { findChromium } from "../../scripts/chromium.mjs";

const { platform, arch } = process;

/** The first of the files that a package for this platform brought. */
function packaged(...paths: string[]): string | undefined {
  return paths.map((path) => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url))).find(existsSync);
}

const node = (major: number) => packaged(`node${major}-${platform}-${arch}/bin/node`);

/** What runs the script by its path; undefined where there is none for this platform. */
export const programs: Record<string, string | undefined> = {
  "Node 22": node(22),
  "Node 24": node(24),
  "Node 26": node(26),
  [`Node ${process.versions.node.split(".")[0]}`]: process.execPath,
  Deno: packaged(`@deno/${platform}-${arch}-glibc/deno`, `@deno/${platform}-${arch}/deno`),
  // Their own start scripts wait for install scripts, which are not run.
  Bun: packaged(`@oven/bun-${platform}-${arch === "arm64" ? "aarch64" : arch}/bin/bun`),
  Chromium: findChromium(),
};

/** Tests in a runtime that may be missing, which is told. */
export function inRuntime(name: string, tests: (program: string) => void): void {
  const program = programs[name];
  if (program) {
    describe(name, () => tests(program));
    return;
  }
  const reason =
    name === "Chromium"
      ? "none found (ORIEL_CHROMIUM, PATH) nor to be had from the system's packages"
      : `no package for ${platform}-${arch}`;
  console.info(`${name}: not run: ${reason}`);
  describe(name, () => test.skip(`not run: ${reason}`));
}
