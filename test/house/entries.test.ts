// The entries of single structures share one copy of every class, and an import of one loads little.
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { root } from "./sources.ts";

const STRUCTURES = ["series", "limiter", "lock", "counters", "queue", "breaker", "metrics", "fleet"];
/** Bytes of the JavaScript that an entry reads, a little above the present size. */
const MAX_BYTES = {
  oriel: 877_170,
  "oriel/limiter": 283_350,
  "oriel/lock": 283_250,
  "oriel/breaker": 283_180,
};

const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" }).trim();
/** What Node before 20.19 and Jest do: `require` loads the CommonJS files. */
const COMMON_JS = ["--no-experimental-require-module"];
/** Prints the entries whose exports are few, or other than those of oriel. `all` and `ones` are modules. */
const COMPARE = `
  const wrong = Object.entries(ones).flatMap(([entry, one]) => {
    const different = Object.keys(one).filter((name) => one[name] !== all[name]);
    return Object.keys(one).length > 4 && different.length === 0 ? [] : [[entry, different]];
  });
  console.log(JSON.stringify(wrong));`;

/** Modules by the names of their structures, each loaded by this function. */
const modulesBy = (load: string) => `{ ${STRUCTURES.map((name) => `${name}: ${load}("oriel/${name}")`).join(", ")} }`;

describe("the entries of single structures", () => {
  it("export the same classes and functions as oriel, by import, by require and in CommonJS", () => {
    const imported = `const all = await import("oriel"), ones = ${modulesBy("await import")};`;
    expect(JSON.parse(run("--input-type=module", "--eval", imported + COMPARE))).toEqual([]);
    const required = `const all = require("oriel"), ones = ${modulesBy("require")};`;
    for (const form of [[], COMMON_JS]) expect(JSON.parse(run(...form, "--eval", required + COMPARE))).toEqual([]);
  });

  it("are one module by import and by require", () => {
    const both = `const ones = ${modulesBy("require")};
      (async () => { const all = Object.assign({}, ...Object.values(${modulesBy("await import")})); ${COMPARE} })();`;
    expect(JSON.parse(run("--eval", both))).toEqual([]);
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
  /** The files that the module or script loads. */
  const loadedBy = (load: string): string[] => {
    const code = `import { createRequire } from "node:module"; import { Session } from "node:inspector";
      const files = []; const require = createRequire("${pathToFileURL(root)}/"); const session = new Session();
      session.connect();
      session.on("Debugger.scriptParsed", ({ params }) => files.push(params.url));
      session.post("Debugger.enable");
      ${load};
      console.log(JSON.stringify(files.filter((url) => /^file:.*\\.(c?js|json)$/.test(url))));`;
    return JSON.parse(run("--input-type=module", "--eval", code));
  };

  it("of each entry loads no client of Redis", () => {
    for (const load of [
      (entry: string) => `await import("./dist/${entry}.js")`,
      (entry: string) => `require("./dist/${entry}.cjs")`,
    ]) {
      const entries = ["index", ...STRUCTURES];
      const files = loadedBy(entries.map(load).join(";"));
      const loaded = entries.filter((entry) => files.some((file) => file.includes(`/dist/${entry}.`)));
      expect([loaded, files.filter((file) => file.includes("node_modules"))]).toEqual([entries, []]);
    }
    expect(loadedBy('require("ioredis")').some((file) => file.includes("node_modules"))).toBe(true);
  });

  it.each(Object.entries(MAX_BYTES))("of %s reads at most %i bytes", (name, maxBytes) => {
    const files = loadedBy(`await import("${name}")`);
    const bytes = files.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0);
    console.info(`${name}: ${files.length} files, ${bytes} bytes`);
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(bytes).toBeGreaterThan(maxBytes / 2);
  });
});
