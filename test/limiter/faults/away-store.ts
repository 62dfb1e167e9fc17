import { OrielError } from "../../../src/base/errors.ts";
import { memoryStore } from "../../../src/entries/memory-store.ts";
import type { Store } from "../../../src/store/contract.ts";

/** A store in memory that is out of reach while `isStoreFailure`: nothing is done then. */
export interface AwayStore {
  store: Store;
  isStoreFailure: boolean;
  /** Steps that were asked for. */
  asked: number;
}

export function awayStore(): AwayStore {
  const memory = memoryStore();
  const opened: AwayStore = {
    isStoreFailure: false,
    asked: 0,
    store: {
      ...memory,
      run(...args) {
        opened.asked++;
        if (!opened.isStoreFailure) return memory.run(...args);
        return Promise.reject(new OrielError("DEADLINE", "no answer", { transient: true, applied: "unknown" }));
      },
    },
  };
  return opened;
}
