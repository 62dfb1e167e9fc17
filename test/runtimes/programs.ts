import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findChromium } from "../../scripts/find-programs.mjs";

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
