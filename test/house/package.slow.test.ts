import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { root } from "./sources.ts";

const node = (...args: string[]) => execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" }).trim();
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const use = "const s = new LocalSeries({}); s.record(3); console.log(kernel.name, s.stats().max)";

/** The texts of a built ES module and of what it shares with others. */
function reached(file: string): string[] {
  const text = readFileSync(join(root, "dist", file), "utf8");
  return [text, ...[...text.matchAll(/from\s*"\.\/([^"]+)"/g)].flatMap((match) => reached(match[1]!))];
}

/** Every file that package.json promises. */
function promised(value: unknown): string[] {
  if (typeof value === "string") return value.startsWith("./") ? [value] : [];
  return value && typeof value === "object" ? Object.values(value).flatMap(promised) : [];
}

describe("the built package", () => {
  it("has every file that package.json names", () => {
    const files = [
      ...promised(manifest.exports),
      ...promised(manifest.imports),
      ...promised(manifest.bin),
      manifest.main,
      manifest.module,
      manifest.types,
    ];
    expect(files.length).toBeGreaterThan(12);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it("has declarations that TypeScript 5.4 reads: typed arrays had no parameter before 5.7", () => {
    const files = readdirSync(join(root, "dist")).filter((name) => /\.d\.c?ts$/.test(name));
    expect(files.length).toBeGreaterThan(20);
    const newer = files.filter((name) => /\b\w+\d+Array</.test(readFileSync(join(root, "dist", name), "utf8")));
    expect(newer).toEqual([]);
  });

  it("names its repository and author", () => {
    for (const field of ["author", "homepage", "bugs", "license"]) expect(manifest[field], field).toMatch(/./);
    expect(manifest.repository).toMatchObject({ type: "git", url: expect.stringMatching(/^git\+https:.*\.git$/) });
  });

  const pack = () => {
    const [packed] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: root, encoding: "utf8" }));
    return packed as { unpackedSize: number; files: { path: string; size: number }[] };
  };

  it("has at most 4 MB unpacked", () => {
    const { unpackedSize, files } = pack();
    console.info(`${unpackedSize} bytes unpacked, ${files.length} files`);
    expect(unpackedSize).toBeLessThanOrEqual(4_000_000);
    expect(unpackedSize).toBeGreaterThan(2_000_000);
  });

  it("has source maps for ES modules with one place for each line, without the text, and none for the command", () => {
    const maps = pack().files.flatMap(({ path }) => (path.endsWith(".map") ? [path] : []));
    expect(maps.length).toBeGreaterThan(5);
    expect(maps.filter((path) => !path.endsWith(".js.map") || path.includes("cli"))).toEqual([]);
    for (const path of maps) {
      const { sources, sourcesContent } = JSON.parse(readFileSync(join(root, path), "utf8"));
      expect(sources.length).toBeGreaterThan(0);
      expect(sourcesContent).toBeUndefined();
    }
    const run = 'import { Limiter } from "oriel"; try { new Limiter() } catch (error) { console.log(error.stack) }';
    const stack = node("--enable-source-maps", "--input-type=module", "--eval", run);
    const line = Number(/src\/limits\/limiter\/limiter\.ts:(\d+)/.exec(stack)?.[1]);
    const texts = readFileSync(join(root, "src/limits/limiter/limiter.ts"), "utf8").split("\n");
    expect(texts.slice(line - 3, line).join("\n")).toMatch(/checked|Place|throw/);
  });

  it.each([
    ["oriel.mjs", 'import { Limiter, LocalSeries } from "oriel";'],
    ["oriel.cjs", 'const { Limiter, LocalSeries } = require("oriel");'],
  ])("prints short lines of an error that nobody catches, in %s", (_, line) => {
    const type = line.startsWith("import") ? "module" : "commonjs";
    for (const wrong of ["new Limiter()", "new LocalSeries({ retentionMs: 1 })", "new LocalSeries({}).record(NaN)"]) {
      const run = [`--input-type=${type}`, "--eval", `${line} ${wrong}`];
      const { status, stderr } = spawnSync(process.execPath, run, { cwd: root, encoding: "utf8" });
      expect(status).toBe(1);
      expect(stderr).toMatch(/OrielError: /);
      expect(stderr.split("\n").filter((printed) => printed.length > 500)).toEqual([]);
    }
  });

  it("has at most one CommonJS file for each entry, and two that they share", () => {
    const required = Object.values(manifest.exports).flatMap((entry) =>
      promised(entry).filter((path) => path.endsWith(".cjs")),
    );
    const own = new Set([...required, ...promised(manifest.imports)].filter((path) => path.endsWith(".cjs")));
    const built = readdirSync(join(root, "dist")).filter((name) => name.endsWith(".cjs"));
    expect(built.filter((name) => !own.has(`./dist/${name}`)).sort()).toEqual([
      "shared-core.cjs",
      "shared-kernels.cjs",
    ]);
  });

  it("packs what package.json names, its chunks, types and source maps, the documents, the licences, and nothing else", () => {
    const paths = pack().files.map(({ path }) => path);
    const named = new Set(
      [manifest.exports, manifest.imports, manifest.bin].flatMap(promised).map((path) => path.slice(2)),
    );
    const others = [
      "package.json",
      "README.md",
      "CHANGELOG.md",
      "SKILL.md",
      "LICENSE",
      "dist/THIRD-PARTY-NOTICES.txt",
      "dist/oriel_window.lua",
      "dist/runs.simd.wasm",
    ];
    const isKnown = (path: string): boolean =>
      named.has(path) ||
      others.includes(path) ||
      /^docs\/(\w+\/)?[\w-]+\.md$/.test(path) ||
      /^dist\/inter-[\w-]+\.woff2$/.test(path) ||
      /^docs\/grafana\/(oriel\.json|alerts\.yml)$/.test(path) ||
      /^dist\/shared-[a-z0-9-]+\.c?js$/.test(path) ||
      /^dist\/[a-z-]+-[\w-]{8}\.d\.c?ts$/.test(path) ||
      (path.endsWith(".map") && isKnown(path.slice(0, -4)));
    expect(paths.filter((path) => !isKnown(path))).toEqual([]);
    expect(others.filter((path) => !paths.includes(path) && path !== "README.md")).toEqual([]);
  });

  it("has pages whose links lead to other files of the package, or that say which ones only the repository has", () => {
    const paths = pack().files.map(({ path }) => path);
    const pages = paths.filter((path) => path.endsWith(".md"));
    expect(pages.length).toBeGreaterThan(50);
    const isPacked = (path: string) => paths.some((one) => one === path || one.startsWith(`${path}/`));
    const unsaid = pages.flatMap((page) => {
      const text = readFileSync(join(root, page), "utf8");
      const [, said = ""] = /^In the repository only: (.*)\.\n$/ms.exec(text) ?? [];
      const elsewhere = [...said.matchAll(/`([^`]+)`/g)].map(([, path]) => path!);
      const targets = [...text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(([, path]) => join(dirname(page), path!));
      const missing = targets.filter((path) => !isPacked(path));
      const isSaid = (path: string) =>
        elsewhere.some((one) => one === path || (one.endsWith("/") && `${path}/`.startsWith(one)));
      const isNeeded = (one: string) => missing.some((path) => one === path || `${path}/`.startsWith(one));
      return [
        ...missing.filter((path) => !isSaid(path)).map((path) => `${page} links to ${path}`),
        ...elsewhere.filter((one) => !isNeeded(one)).map((one) => `${page} names ${one} without a link to it`),
      ];
    });
    expect(unsaid).toEqual([]);
  });

  it("carries the licence of every package that its command line contains", async () => {
    const notices = readFileSync(join(root, "dist", "THIRD-PARTY-NOTICES.txt"), "utf8");
    const { metafile } = await build({
      entryPoints: [join(root, "src/command/cli.ts")],
      bundle: true,
      write: false,
      metafile: true,
      platform: "node",
      format: "esm",
      packages: "bundle",
      external: [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)],
    });
    const inside = Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    );
    const names = new Set<string>(
      inside.flatMap((path) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
    );
    names.add("@fontsource/inter"); // files beside the command
    expect(names.size).toBeGreaterThan(10);
    for (const name of names) expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, "m"));
    expect(notices.match(/Copyright/g)?.length).toBeGreaterThanOrEqual(names.size);
  });

  it("gives one ES module to import and require in Node, and CommonJS to Jest and to Node before 20.19", () => {
    type Entry = string | { [condition: string]: Entry };
    const resolved = (entry: Entry, conditions: readonly string[]): string => {
      if (typeof entry === "string") return entry;
      const condition = Object.keys(entry).find((name) => conditions.includes(name) || name === "default");
      return resolved(entry[condition!]!, conditions);
    };
    const entries = Object.values<Entry>(manifest.exports).filter(
      (entry) => typeof entry !== "string" && "require" in entry,
    );
    expect(entries.length).toBeGreaterThan(14);
    for (const entry of entries) {
      const module = resolved(entry, ["node", "module-sync", "import"]);
      expect(module).toMatch(/\.js$/);
      expect(resolved(entry, ["node", "module-sync", "require"])).toBe(module);
      expect(resolved(entry, ["node", "import"])).toBe(module);
      for (const environment of ["node", "browser"])
        expect(resolved(entry, [environment, "require"])).toMatch(/\.cjs$/);
    }
  });

  it("works by import and by require, with the SIMD kernel", () => {
    expect(node("--input-type=module", "--eval", `import { kernel, LocalSeries } from "oriel"; ${use}`)).toBe(
      "wasm-simd 3",
    );
    expect(node("--eval", `const { kernel, LocalSeries } = require("oriel"); ${use}`)).toBe("wasm-simd 3");
  });

  it("works without WebAssembly through oriel/js, which carries none of its bytes", () => {
    expect(node("--input-type=module", "--eval", `import { kernel, LocalSeries } from "oriel/js"; ${use}`)).toBe(
      "js 3",
    );
    expect(reached("kernel.js").some((text) => text.includes("AGFzbQ"))).toBe(true);
    expect(reached("js.js").some((text) => text.includes("AGFzbQ"))).toBe(false);
  });

  it("has oriel/http by import and by require, without kernels and packages", () => {
    const key = "console.log(clientKey('2001:db8::1'))";
    expect(node("--input-type=module", "--eval", `import { clientKey } from "oriel/http"; ${key}`)).toBe(
      "2001:db8:0:0::/64",
    );
    expect(node("--eval", `const { clientKey } = require("oriel/http"); ${key}`)).toBe("2001:db8:0:0::/64");
    expect(reached("http.js").filter((text) => /AGFzbQ|from "[^.]/.test(text))).toEqual([]);
  });

  it("has oriel/sql by import and by require, without kernels and packages", () => {
    const ddl = "console.log(sqliteSink({}).ddl({ name: 'passages', dimensions: ['site'], buckets: ['day'] }).length)";
    expect(node("--input-type=module", "--eval", `import { sqliteSink } from "oriel/sql"; ${ddl}`)).toBe("2");
    expect(node("--eval", `const { sqliteSink } = require("oriel/sql"); ${ddl}`)).toBe("2");
    expect(reached("sql.js").filter((text) => /AGFzbQ|from "[^.]/.test(text))).toEqual([]);
  });

  it("shares one kernel between oriel and oriel/kernel", () => {
    const force = `import { forceKernel } from "oriel/kernel"; import { kernel } from "oriel"; forceKernel("js"); console.log(kernel.name)`;
    expect(node("--input-type=module", "--eval", force)).toBe("js");
  });

  it("has a command that runs as built", () => {
    const csv = "time,value\n2026-01-01 00:00:10,1\n2026-01-01 00:00:20,3\n";
    const row = execFileSync(process.execPath, ["dist/cli.js", "replay", "-", "--span", "1m", "--json"], {
      cwd: root,
      input: csv,
      encoding: "utf8",
    });
    expect(JSON.parse(row.trim().split("\n")[0]!)).toMatchObject({ count: 2, sum: 4, max: 3 });
    expect(node("dist/cli.js", "--version")).toBe(manifest.version);
  });
});
