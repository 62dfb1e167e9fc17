import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import type { Column } from "../../src/engine/kernel/contract.ts";
import { selectRanks } from "../../src/engine/kernel/passes/select.ts";
import { wasmPasses } from "../../src/engine/kernel/wasm/wasm.ts";
import { bytesOf, instantiate } from "../../src/engine/kernel/wasm/wasm-exports.ts";
import { wasmBase64 } from "../../src/generated/kernels.simd.ts";
import { draw } from "../distributions.ts";
import { uniform } from "../events.ts";
import { medianRunUs, takeTurns } from "../lock/turns.ts";
import type { Effort } from "../runner/forms.ts";
import type { Report, Row } from "../runner/report.ts";

const SUM = "sum pass";
const RANDOM = "random order";

declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: unknown };
};

export interface HeldOptions extends Effort {
  values: number;
}

export const FULL_HELD: HeldOptions = { values: 1_000_000, turns: 7, repetitions: 9 };
export const SMALL_HELD: HeldOptions = { values: 5_000, turns: 1, repetitions: 2 };

/** p99 and p50 of columns in WebAssembly memory, in units of one sum pass over the same bytes. */
export async function benchHeld(options: HeldOptions): Promise<Report> {
  return {
    bench: "held",
    title: `Percentiles of ${options.values.toLocaleString("en-US")} f32 in WebAssembly memory`,
    rows: await heldRows(options.values, options),
    notes: [
      "sumPasses: the time over that of one vector pass that adds the same bytes up in f64, hot, in turns.",
      "timesRandom: sumPasses over those of the same percentile in random order. All answers were checked with a sort.",
    ],
  };
}

async function heldRows(count: number, effort: Effort): Promise<Row[]> {
  const module = await sumModule();
  const rows: Row[] = [];
  const random = draw("lognormal", count, 12);
  const randomPasses = new Map<number, number>();
  for (const [values, column] of Object.entries({ [RANDOM]: random, ...adversaries(random) })) {
    const held = holding(column, module);
    const shares = [99, 50];
    const select = (p: number) => held.select(Math.floor((p / 100) * (count - 1)));
    const sorted = column.slice().sort();
    for (const p of shares) {
      const k = Math.floor((p / 100) * (count - 1));
      if (select(p)[0] !== sorted[k]) throw new Error(`p${p} of ${values} is ${select(p)[0]}; right is ${sorted[k]}`);
    }
    // Repeats until V8 has optimised all of them.
    for (let i = 0; i < effort.repetitions * 4; i++) for (const p of shares) held.sum(select(p)[0]);
    const turns = await takeTurns(
      [
        { name: SUM, turnUs: () => medianRunUs(effort.repetitions, () => held.sum(0)) },
        ...shares.map((p) => ({ name: `p${p}`, turnUs: () => medianRunUs(effort.repetitions, () => select(p)) })),
      ],
      effort.turns,
    );
    for (const p of shares) {
      const sumPasses = 1 / turns.timesFaster(`p${p}`, SUM);
      if (values === RANDOM) randomPasses.set(p, sumPasses);
      const timesRandom = sumPasses / (randomPasses.get(p) as number);
      rows.push({ values, computation: `p${p} held`, medianUs: turns.medianUs(`p${p}`), sumPasses, timesRandom });
    }
  }
  return rows;
}

/** The column stays where it is: `hold` copies it in once. */
function holding(column: Column, module: object) {
  const exports = instantiate(bytesOf(wasmBase64));
  const passes = wasmPasses("wasm-simd", exports);
  const held = passes.hold(column);
  passes.hold = () => held;
  const { sum } = new WebAssembly.Instance(module, { env: { memory: exports.memory } }).exports as {
    sum(from: number, count: number): number;
  };
  return {
    select: (k: number) => selectRanks(passes, column, [k])?.[0] ?? [Number.NaN, Number.NaN],
    sum: (_: number) => sum(held.address, held.count),
  };
}

/** Orders and repetitions that mislead selections: they may cost three times what random order costs. */
function adversaries(values: Float32Array): Record<string, Float32Array> {
  const count = values.length;
  const sorted = values.slice().sort();
  const make = (value: (i: number) => number) => Float32Array.from({ length: count }, (_, i) => value(i));
  const random = uniform(3);
  const stride = Math.floor(count / 1352);
  const blocks = values.slice();
  for (let i = 0; i < count; i += 4096) blocks.subarray(i, i + 4096).sort();
  return {
    sorted,
    reversed: sorted.slice().reverse(),
    "organ pipe": make((i) => Math.min(i, count - i)),
    "two values": make(() => (random() < 0.5 ? 1 : 2)),
    "nine values": draw("ties", count, 12),
    "period of the sample's stride": make((i) => i % stride),
    "sorted blocks": blocks,
    "median-of-3 killer": make((i) => (i % 2 === 0 ? i / 2 : count - i)),
    "unseen by the sample": unseen(count),
  };
}

/** Values are low where p50 takes its sample, and high everywhere else. */
function unseen(count: number): Float32Array {
  const values = Float32Array.from({ length: count }, (_, i) => 1e6 + i);
  const size = Math.floor(Math.min(16384, Math.max(256, (count / 4) ** (2 / 3))));
  let random = 1;
  for (let i = 0; i < size; i++) {
    random = (Math.imul(1664525, random) + 1013904223) >>> 0;
    values[Math.min(count - 1, Math.floor((i + random * 2 ** -32) * (count / size)))] = i;
  }
  return values;
}

async function sumModule(): Promise<object> {
  const source = fileURLToPath(new URL("../assembly/sum.ts", import.meta.url));
  let binary = new Uint8Array();
  const flags = ["--importMemory", "--enable", "simd", "--runtime", "stub", "-O3", "--noAssert"];
  const { error, stderr } = await asc.main(["sum.ts", "--outFile", "sum.wasm", ...flags], {
    readFile: (name) => (name === "sum.ts" ? readFileSync(source, "utf8") : null),
    writeFile: (name, contents) => {
      if (name === "sum.wasm") binary = contents as Uint8Array<ArrayBuffer>;
    },
    listFiles: () => [],
  });
  if (error) throw new Error(`bench/assembly/sum.ts: ${stderr.toString()}`);
  return new WebAssembly.Module(binary);
}
