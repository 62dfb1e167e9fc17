import { onTestFinished } from "vitest";
import { Series } from "../../src/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { law } from "../../src/window/law.ts";

export const NAME = "found";

/** Short chunks: one for each second call. */
export function shortChunks(): void {
  const usual = law.rotateBytes;
  law.rotateBytes = 500;
  onTestFinished(() => {
    law.rotateBytes = usual;
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

/** The same store; `asked` tells which operations it was asked for. */
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
