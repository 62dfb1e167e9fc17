import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median } from "./runner/measure.ts";
import type { Report } from "./runner/report.ts";

export interface ImportsOptions {
  turns: number;
}
export const FULL_IMPORTS: ImportsOptions = { turns: 21 };
export const SMALL_IMPORTS: ImportsOptions = { turns: 1 };

const ORIEL = ["oriel", "oriel/limiter", "oriel/lock", "oriel/breaker", "oriel/queue", "oriel/series"];
const RIVALS = ["ioredis", "rate-limiter-flexible", "redis-semaphore", "redlock", "bullmq", "opossum", "prom-client"];

/** The rivals are packages of bench. oriel finds itself by its name only in its own package, above it. */
const folderOf = (name: string | undefined) =>
  fileURLToPath(new URL(name && RIVALS.includes(name) ? "." : "..", import.meta.url));

/** CPU time of a whole Node process that imports the package and does nothing else. */
function cpuMsOf(name: string | undefined): number {
  const load = name ? `const all = await import("${name}"); if (Object.keys(all).length === 0) throw 0;` : "";
  const print = `process.on("exit", () => {
    const { user, system } = process.cpuUsage();
    console.log((user + system) / 1000);
  });`;
  const args = ["--input-type=module", "--eval", print + load];
  return Number(execFileSync(process.execPath, args, { cwd: folderOf(name), encoding: "utf8" }));
}

/** Starts a new process for each import. The packages take turns. */
export function benchImports({ turns }: ImportsOptions): Report {
  const names = [undefined, ...ORIEL, ...RIVALS];
  const cpuMs = new Map(names.map((name) => [name, [] as number[]]));
  // The first turn loads files into memory.
  for (let turn = 0; turn <= turns; turn++)
    for (const name of names) {
      const ms = cpuMsOf(name);
      if (turn > 0) cpuMs.get(name)!.push(ms);
    }
  const empty = cpuMs.get(undefined)!;
  return {
    bench: "imports",
    title: "CPU time to import a package",
    rows: [...cpuMs].map(([name, each]) => ({
      import: name ?? "nothing",
      cpuMs: median(each),
      timesEmpty: median(each.map((ms, turn) => ms / empty[turn]!)),
    })),
    notes: [
      "cpuMs is the CPU time of a Node process, from its start to its end, that imports the package. timesEmpty is its ratio to a process that imports nothing. Both are medians over turns.",
      "An import of oriel loads no client of Redis. A program that uses Redis loads ioredis too, when it makes its store.",
    ],
  };
}
