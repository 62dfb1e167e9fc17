import { onTestFinished } from "vitest";
import { constants } from "../../src/engine/journal/format/constants.ts";
import { encodeFrame } from "../../src/engine/journal/format/frames.ts";
import { append } from "../../src/engine/journal/steps/append.ts";
import { rotate } from "../../src/engine/journal/steps/rotate.ts";
import { Series } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";

export const NAME = "found";

/** Short chunks: one for each second call. */
export function shortChunks(): void {
  const usual = constants.rotateBytes;
  constants.rotateBytes = 500;
  onTestFinished(() => {
    constants.rotateBytes = usual;
  });
}

/** Events of `count` calls, over about half as many chunks. */
export async function fill(store: Store, count = 20): Promise<number[]> {
  const writer = new Series(store, NAME, { values: "float64" });
  const values: number[] = [];
  for (let i = 0; i < count; i++) {
    const some = Array.from({ length: 40 }, (_, j) => i * 40 + j);
    await writer.recordMany(some);
    values.push(...some);
  }
  await writer.close();
  return values;
}

/** The same store. `asked` lists its operations. */
export function counted(store: Store) {
  const asked: string[] = [];
  const run: Store["run"] = (operation, key, input, options) => {
    asked.push(operation.name);
    return store.run(operation, key, input, options);
  };
  return { asked, store: { ...store, monotonic: store.monotonic, run } as Store };
}

export async function ask(store: Store) {
  const reader = new Series(store, NAME, { values: "float64" });
  const stats = await reader.stats();
  const values = await reader.values();
  await reader.close();
  return { stats, values: [...values] };
}

export const column = (count: number) => Float32Array.from({ length: count }, (_, i) => (i * 7919) % 10_007);

/** What processes that record one event each write: 20 bytes an event. */
export async function writeSingly(store: Store, name: string, count: number) {
  const values = column(count);
  const key = store.keyOf(name);
  const retentionMs = 3_600_000;
  for (let from = 0; from < count; from += 5_000) {
    const each = (_: unknown, i: number) => encodeFrame(7, from + i, values.subarray(from + i, from + i + 1));
    const frames = Array.from({ length: 5_000 }, each);
    const input = { valueType: 0, clock: 0, retentionMs, voidAfterMs: Date.now() + 10_000, birth: 1 + from, frames };
    const { header, length } = await store.run(append, key, { ...input, known: "none" });
    const { number, birth } = header!;
    if (length > constants.rotateBytes) await store.run(rotate, key, { number, birth, nextBirth: from });
  }
  return { values };
}
