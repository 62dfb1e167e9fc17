import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../measure.ts";
import type { Row } from "../report.ts";
import { programOf, root } from "./hosts.ts";
import { FIRST_ANSWERS, NOTHING } from "./mains.ts";

const PROGRAMS = ["Node 24", "Deno", "Bun"];

/** From the start of a process to its end: what an entry and its first answer add to a program that does nothing. */
export function firstAnswers(turns: number): Row[] {
  const folder = mkdtempSync(join(tmpdir(), "oriel-first-answers-"));
  try {
    return PROGRAMS.flatMap((name) => firstAnswersOf(name, turns, folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function firstAnswersOf(name: string, turns: number, folder: string): Row[] {
  const { path, args } = programOf(name);
  if (!path) return [];
  const permission = name === "Deno" ? ["--allow-read"] : [];
  const wasm = JSON.stringify(join(root, "dist", "kernels.simd.wasm"));
  const mains = Object.entries({ nothing: NOTHING, ...FIRST_ANSWERS }).map(([entry, text], i) => {
    const file = join(folder, `first-${i}.mjs`);
    writeFileSync(
      file,
      text.replace("WASM", wasm).replace(/from "oriel(\/\w+)?"/g, (_, sub) => `from "${fileOf(name, sub)}"`),
    );
    return { entry, file, tookMs: [] as number[] };
  });
  for (let turn = 0; turn < turns; turn++)
    for (const { file, tookMs } of mains) {
      const begunMs = performance.now();
      execFileSync(path, [...args, ...permission, file], { cwd: folder });
      tookMs.push(performance.now() - begunMs);
    }
  const [nothing, ...entries] = mains;
  return entries.map(({ entry, tookMs }) => ({
    what: `start and first answer of ${entry}`,
    runtime: name,
    kernel: "",
    ms: median(tookMs.map((ms, turn) => ms - nothing!.tookMs[turn]!)),
    timesNode: "",
  }));
}

function fileOf(name: string, sub = ""): string {
  const entry = sub ? sub.slice(1) : name === "Deno" ? "deno" : "index";
  return join(root, "dist", `${entry}.js`);
}
