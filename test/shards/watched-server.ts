import { ChunkSealer } from "../../src/engine/journal/sealed/sealer.ts";
import { read } from "../../src/engine/journal/steps/read.ts";
import { rotate } from "../../src/engine/journal/steps/rotate.ts";
import { jsCodec } from "../../src/engine/kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../src/engine/kernel/choose.ts";
import { memoryStore, OrielError } from "../../src/entries/index.ts";
import type { RunOptions, Store } from "../../src/store/contract.ts";

/** A server in memory on a stepped clock. It lists its calls, and does not answer those that `isCut` names. */
export function watchedServer(clock: { nowMs: number }) {
  const now = () => clock.nowMs;
  const memory = memoryStore({ clock: now, registry: false });
  const calls: { name: string; key: string; options: RunOptions | undefined }[] = [];
  const state = { isCut: (_name: string, _key: string): boolean => false, keys: 0 };
  const store: Store = {
    ...memory,
    monotonic: now,
    leaseClock: now,
    keyOf(name) {
      state.keys++;
      return memory.keyOf(name);
    },
    run(operation, key, input, options) {
      calls.push({ name: operation.name, key, options });
      if (!state.isCut(operation.name, key)) return memory.run(operation, key, input, { ...options, replicas: 0 });
      return Promise.reject(new OrielError("UNAVAILABLE", "cut off", { transient: true, applied: "no" }));
    },
  };
  const removed = { name: "test/remove", script: { text: "" }, arity: 0, keyCount: 1, repeatable: true };
  const forget = (key: string) =>
    memory.run<void, void>(
      { ...removed, encode: () => [], decode: () => {}, local: (keys) => keys.delete(key) },
      key,
      undefined,
    );
  return {
    store,
    memory,
    state,
    calls,
    forget,
    called: (name: string) => calls.filter((call) => call.name === name).length,
  };
}

/** Closes the open chunk of a shard and seals it. Returns the number of the chunk. */
export async function sealOpenChunk(store: Store, key: string): Promise<number> {
  const { number, birth } = (await store.run(read, key, "header")).header!;
  await store.run(rotate, key, { number, birth, nextBirth: number + 7 });
  await new ChunkSealer(store, key, () => ({ codec: jsCodec, kernel: activeKernel() })).seal(number);
  return number;
}
