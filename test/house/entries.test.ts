// The entries of single structures share one copy of every class, and an import of one loads little.
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { root } from "./sources.ts";

const STRUCTURES = ["series", "limiter", "lock", "counters", "queue", "breaker", "metrics", "fleet"];
/** Bytes of the JavaScript that an entry reads, a little above the present size. */
const MAX_BYTES = { limiter: 240_000, lock: 240_000, breaker: 240_000 };

const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" }).trim();
/** What Node before 20.19 and Jest do: `require` loads the CommonJS files. */
const COMMON_JS = ["--no-experimental-require-module"];
const SHARED = `
  const different = Object.keys(one).filter((name) => one[name] !== all[name]);
  console.log(JSON.stringify([Object.keys(one).length > 4, different]));`;

describe.each(STRUCTURES)("oriel/%s", (name) => {
  it("exports the same classes and functions as oriel, by import, by require and in CommonJS", () => {
    const load = `import * as all from "oriel"; import * as one from "oriel/${name}";`;
    expect(JSON.parse(run("--input-type=module", "--eval", load + SHARED))).toEqual([true, []]);
    const required = `const all = require("oriel"), one = require("oriel/${name}");`;
    for (const form of [[], COMMON_JS])
      expect(JSON.parse(run(...form, "--eval", required + SHARED))).toEqual([true, []]);
  });

  it("is one module by import and by require", () => {
    const both = `const one = require("oriel/${name}"); import("oriel/${name}").then((all) => { ${SHARED} });`;
    expect(JSON.parse(run("--eval", both))).toEqual([true, []]);
  });
});

it.each(["oriel", "oriel/semaphore"])("the classes of %s keep their names, which consoles print", (entry) => {
  const print = "console.log(JSON.stringify(Object.entries(all).map(([name, one]) => [name, one.name])))";
  for (const args of [
    ["--input-type=module", "--eval", `import * as all from "${entry}"; ${print}`],
    [...COMMON_JS, "--eval", `const all = require("${entry}"); ${print}`],
  ]) {
    const names: [string, string | undefined][] = JSON.parse(run(...args));
    const others = names.filter(([name, own]) => /^[A-Z][a-z]/.test(name) && own !== name);
    expect([names.length > 4, others]).toEqual([true, []]);
  }
});

describe("an import", () => {
  /** The files that the module or script loads, with the time of loading them. */
  const loadedBy = (load: string): { files: string[]; ms: number } => {
    const code = `import { createRequire } from "node:module"; import { Session } from "node:inspector";
      const files = []; const require = createRequire("${pathToFileURL(root)}/"); const session = new Session();
      session.connect();
      session.on("Debugger.scriptParsed", ({ params }) => files.push(params.url));
      session.post("Debugger.enable");
      const from = performance.now(); ${load}; const ms = performance.now() - from;
      console.log(JSON.stringify({ files: files.filter((url) => /^file:.*\\.(c?js|json)$/.test(url)), ms }));`;
    return JSON.parse(run("--input-type=module", "--eval", code));
  };

  it.each(["index", ...STRUCTURES])("of %s loads no client of Redis", (entry) => {
    for (const load of [`await import("./dist/${entry}.js")`, `require("./dist/${entry}.cjs")`]) {
      const { files } = loadedBy(load);
      expect(files.length).toBeGreaterThan(1);
      expect(files.filter((file) => file.includes("node_modules"))).toEqual([]);
    }
    expect(loadedBy('require("ioredis")').files.some((file) => file.includes("node_modules"))).toBe(true);
  });

  it.each(Object.entries(MAX_BYTES))("of oriel/%s reads at most %i bytes", (name, maxBytes) => {
    const { files, ms } = loadedBy(`await import("oriel/${name}")`);
    const bytes = files.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0);
    console.info(`oriel/${name}: ${files.length} files, ${bytes} bytes, ${ms.toFixed(1)} ms`);
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(bytes).toBeGreaterThan(maxBytes / 2);
  });
});

describe("an import in a new process", () => {
  /** Of CPU time, since other work on the machine takes none of it. */
  const msOf = (name: string) => {
    const print = "const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000);";
    const code = `const before = process.cpuUsage(); await import("${name}"); ${print}`;
    return Number(run("--input-type=module", "--eval", code));
  };

  it("of oriel takes at most 1.8 times the CPU of an empty process", () => {
    const msOfProcess = (code: string) => {
      const print = `process.on("exit", () => {
        const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);
      });`;
      return Number(run("--input-type=module", "--eval", code + print));
    };
    // The best of several, as below.
    const best = { empty: Number.POSITIVE_INFINITY, oriel: Number.POSITIVE_INFINITY };
    const ratio = () => best.oriel / best.empty;
    for (let round = 0; round < 20 && (round < 5 || ratio() > 1.8); round++) {
      best.empty = Math.min(best.empty, msOfProcess(""));
      best.oriel = Math.min(best.oriel, msOfProcess('import "oriel";'));
    }
    console.info(`an empty process: ${best.empty.toFixed(1)} ms, with oriel: ${best.oriel.toFixed(1)} ms`);
    expect(ratio()).toBeLessThanOrEqual(1.8);
    expect(ratio()).toBeGreaterThan(1);
  });

  it("of oriel/limiter, lock or breaker takes at most a third of the time of ioredis", () => {
    const names = ["oriel/limiter", "oriel/lock", "oriel/breaker", "ioredis"];
    // The best of several: neighbours on one core slow it down, and nothing makes it faster than it is.
    const bestMs = names.map(() => Number.POSITIVE_INFINITY);
    const ratio = () => Math.max(...bestMs.slice(0, 3)) / bestMs[3]!;
    for (let round = 0; round < 20 && (round < 5 || ratio() > 0.33); round++)
      for (const [i, name] of names.entries()) bestMs[i] = Math.min(bestMs[i]!, msOf(name));
    console.info(names.map((name, i) => `${name}: ${bestMs[i]!.toFixed(1)} ms`).join(", "));
    expect(ratio()).toBeLessThanOrEqual(0.33);
  });
});
