import type { StepOfArguments, Store } from "../../src/store/contract.ts";

export interface CountingStore {
  store: Store;
  /** Names of the operations, in the order of the calls. */
  names: string[];
  /** Number of requests to the server. Calls that travel together are one. */
  requests(): number;
  /** Number of bytes in the answers. */
  bytes(): number;
}

/** `store`, with counts of its requests and of the bytes of its answers. */
export function countingStore(store: Store): CountingStore {
  const names: string[] = [];
  const runs = new Set<object>();
  // One step for each operation, because only calls of the same step travel together.
  const counting = new Map<unknown, unknown>();
  let bytes = 0;
  const run: Store["run"] = (operation, key, input, options) => {
    names.push(operation.name);
    let counted = counting.get(operation) as typeof operation | undefined;
    if (!counted) {
      const { decode, ...step } = operation as StepOfArguments<typeof input, unknown>;
      const counts = (reply: Uint8Array) => {
        bytes += reply.length;
        return decode(reply);
      };
      counted = { ...step, decode: counts } as unknown as typeof operation;
      counting.set(operation, counted);
    }
    const ranIn = (one: object) => {
      runs.add(one);
      options?.ranIn?.(one);
    };
    return store.run(counted, key, input, { ...options, ranIn });
  };
  const { monotonic, leaseClock } = store;
  return {
    store: { ...store, monotonic, leaseClock, run },
    names,
    requests: () => runs.size,
    bytes: () => bytes,
  };
}
