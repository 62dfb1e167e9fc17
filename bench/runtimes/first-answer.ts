import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programs } from "../../test/runtimes/programs.ts";
import { median } from "../runner/measure.ts";
import type { Row } from "../runner/report.ts";
import { bundled, chromium, programOf, root, workerOf } from "./hosts.ts";
import { FIRST_ANSWERS } from "./mains.ts";

/** Returns the time from the start to the answer in ms. */
type Start = (entry: string, imports: string, answer: string) => Promise<number>;

async function timed(work: () => unknown): Promise<number> {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
}

/** From the start of a process to its end. The entries are the files of dist/, each with its imports. */
function programStart(name: string, folder: string): Start | undefined {
  const { path, args } = programOf(name);
  if (!path) return undefined;
  const permission = name === "Deno" ? ["--allow-read"] : [];
  const fileOf = (_: string, sub = name === "Deno" ? "/deno" : "/index") => `from "${join(root, "dist", sub)}.js"`;
  const wasm = JSON.stringify(join(root, "dist", "kernels.simd.wasm"));
  return (entry, imports, answer) => {
    const file = join(folder, `${entry.replace("/", "-")}.mjs`);
    const main = `${imports.replace(/from "oriel(\/\w+)?"/g, fileOf)}\nconsole.log(${answer.replace("WASM", wasm)});`;
    writeFileSync(file, main);
    return timed(() => execFileSync(path, [...args, ...permission, file], { cwd: folder }));
  };
}

/** From the start of the runtime to the first response. The code is bundled, as in a deployment. */
const workerdStart: Start = async (entry, imports, answer) => {
  const main = `${imports}\nexport default { fetch: () => new Response(String(${answer})) };`;
  const worker = await workerOf(`first-${entry.replace("/", "-")}`, main);
  try {
    return await timed(async () => (await worker.dispatchFetch("http://localhost/")).text());
  } finally {
    await worker.dispose();
  }
};

/** In a page of a running browser. The code is bundled. */
function pageStart(browser: Awaited<ReturnType<typeof chromium.launch>>): Start {
  return async (entry, imports, answer) => {
    const main = `${imports}\nglobalThis.answer = ${answer};`;
    const path = await bundled(`page-${entry.replace("/", "-")}`, main, ["browser"], "neutral");
    const page = await browser.newPage();
    const ms = await timed(async () => {
      await page.addScriptTag({ path, type: "module" });
      await page.waitForFunction("globalThis.answer !== undefined");
    });
    await page.close();
    return ms;
  };
}

/** The time that each entry and its first answer add to an empty program, worker or page. */
export async function firstAnswers(turns: number): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "oriel-first-answers-"));
  const browser =
    programs.Chromium && (await chromium.launch({ executablePath: programs.Chromium, args: ["--no-sandbox"] }));
  const starts: [string, Start | undefined][] = [
    ...["Node 24", "Deno", "Bun"].map((name): [string, Start | undefined] => [name, programStart(name, folder)]),
    ["workerd", workerdStart],
    ["Chromium", browser ? pageStart(browser) : undefined],
  ];
  try {
    const rows: Row[] = [];
    for (const [runtime, start] of starts) if (start) rows.push(...(await rowsOf(runtime, start, turns)));
    return rows;
  } finally {
    await browser?.close();
    rmSync(folder, { recursive: true });
  }
}

async function rowsOf(runtime: string, start: Start, turns: number): Promise<Row[]> {
  const hasFiles = runtime !== "workerd" && runtime !== "Chromium";
  const mains = Object.entries(FIRST_ANSWERS).filter(([entry]) => hasFiles || entry !== "oriel/slim");
  const tookMs = new Map(mains.map(([entry]) => [entry, [] as number[]]));
  // The first turn loads files into memory.
  for (let turn = 0; turn <= turns; turn++)
    for (const [entry, main] of mains) {
      const ms = await start(entry, ...main);
      if (turn > 0) tookMs.get(entry)!.push(ms);
    }
  const nothing = tookMs.get("nothing")!;
  tookMs.delete("nothing");
  return [...tookMs].map(([entry, each]) => ({
    what: `start and first answer of ${entry}`,
    runtime,
    kernel: "",
    ms: median(each.map((ms, turn) => ms - nothing[turn]!)),
    timesNode: "",
  }));
}
