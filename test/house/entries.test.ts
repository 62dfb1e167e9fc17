// The entries of single structures share one copy of every class, and an import of one loads little.
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { root } from "./sources.ts";

const STRUCTURES = ["series", "limiter", "lock", "counters", "queue", "breaker", "metrics", "fleet"];
/** Bytes of the JavaScript that an entry reads, a little above the present size. */
const MAX_BYTES = { limiter: 352_000, lock: 298_500, breaker: 275_000 };

const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" }).trim();
const SHARED = `
  const different = Object.keys(one).filter((name) => one[name] !== all[name]);
  console.log(JSON.stringify([Object.keys(one).length > 4, different]));`;

describe.each(STRUCTURES)("oriel/%s", (name) => {
  it("exports the same classes and functions as oriel, by import and by require", () => {
    const load = `import * as all from "oriel"; import * as one from "oriel/${name}";`;
    expect(JSON.parse(run("--input-type=module", "--eval", load + SHARED))).toEqual([true, []]);
    const required = `const all = require("oriel"), one = require("oriel/${name}");`;
    expect(JSON.parse(run("--eval", required + SHARED))).toEqual([true, []]);
  });
});

it.each(["oriel", "oriel/semaphore"])("the classes of %s keep their names, which consoles print", (entry) => {
  const print = "console.log(JSON.stringify(Object.entries(all).map(([name, one]) => [name, one.name])))";
  for (const args of [
    ["--input-type=module", "--eval", `import * as all from "${entry}"; ${print}`],
    ["--eval", `const all = require("${entry}"); ${print}`],
  ]) {
    const names: [string, string | undefined][] = JSON.parse(run(...args));
    const others = names.filter(([name, own]) => /^[A-Z][a-z]/.test(name) && own !== name);
    expect([names.length > 4, others]).toEqual([true, []]);
  }
});

describe("an import", () => {
  it.each(["oriel", ...STRUCTURES.map((name) => `oriel/${name}`)])("of %s loads no client of Redis", (entry) => {
    const list = "console.log(JSON.stringify(Object.keys(require.cache)))";
    const files: string[] = JSON.parse(run("--eval", `require("${entry}"); ${list}`));
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((file) => file.includes("node_modules"))).toEqual([]);
  });

  it.each(Object.entries(MAX_BYTES))("of oriel/%s reads at most %i bytes", (name, maxBytes) => {
    const print = "console.log(Object.keys(require.cache).reduce((sum, file) => sum + fs.statSync(file).size, 0), ms)";
    const load = `const from = performance.now(); require("oriel/${name}"); const ms = performance.now() - from;`;
    const [bytes, ms] = run("--eval", `${load} ${print}`).split(" ").map(Number);
    console.info(`oriel/${name}: ${bytes} bytes, ${ms!.toFixed(1)} ms`);
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
