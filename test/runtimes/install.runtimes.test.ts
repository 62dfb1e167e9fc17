// The packed tarball, installed by each package manager as a user does.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const packaged = (path: string) => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));
const shell = process.platform === "win32";

let folder: string;
let tarball: string;
let registry: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "oriel-install-"));
  const npm = (...args: string[]) => execFileSync("npm", args, { cwd: root, encoding: "utf8", shell }).trim();
  tarball = join(folder, npm("pack", "--ignore-scripts", "--silent", "--pack-destination", folder));
  registry = npm("config", "get", "registry");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const USE = "const s = new LocalSeries({}); s.record(3); console.log(kernel.name, s.stats().max)";

const managers: Record<string, (project: string) => { command: string; args: string[]; env?: NodeJS.ProcessEnv }> = {
  npm: () => ({ command: "npm", args: ["install", tarball, "--no-audit", "--no-fund", "--prefer-offline"] }),
  pnpm: () => ({
    command: process.execPath,
    args: [packaged("pnpm/bin/pnpm.mjs"), "add", tarball, "--prefer-offline"],
  }),
  yarn: (project) => ({
    command: process.execPath,
    args: [packaged("@yarnpkg/cli-dist/bin/yarn.js"), "add", `oriel@file:${tarball}`],
    env: {
      YARN_NPM_REGISTRY_SERVER: registry,
      YARN_NODE_LINKER: "node-modules",
      YARN_GLOBAL_FOLDER: join(project, "y"),
    },
  }),
};

test.each(Object.keys(managers))("%s installs the package; it works by import, by require and as a command", (name) => {
  const project = mkdtempSync(join(folder, `${name}-`));
  writeFileSync(join(project, "package.json"), '{ "name": "user", "version": "1.0.0", "private": true }\n');
  const { command, args, env } = managers[name]!(project);
  execFileSync(command, args, { cwd: project, env: { ...process.env, CI: "", ...env }, shell, stdio: "pipe" });
  const node = (...rest: string[]) => execFileSync(process.execPath, rest, { cwd: project, encoding: "utf8" }).trim();
  expect(node("--input-type=module", "--eval", `import { kernel, LocalSeries } from "oriel"; ${USE}`)).toBe(
    "wasm-simd 3",
  );
  expect(node("--eval", `const { kernel, LocalSeries } = require("oriel"); ${USE}`)).toBe("wasm-simd 3");
  expect(readdirSync(join(project, "node_modules", ".bin"))).toContain("oriel");
  expect(node("node_modules/oriel/dist/cli.js", "--version")).toMatch(/^\d+\.\d+\.\d+$/);
});
