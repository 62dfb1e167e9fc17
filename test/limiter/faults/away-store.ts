import { OrielError } from "../../../src/errors.ts";
import type { Store } from "../../../src/store/contract.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";

/** A store in memory that is out of reach while `isAway`: nothing is done then. */
export interface AwayStore {
  store: Store;
  isAway: boolean;
  /** Steps that were asked for. */
  asked: number;
}

export function awayStore(): AwayStore {
  const memory = memoryStore();
  const opened: AwayStore = {
    isAway: false,
    asked: 0,
    store: {
      ...memory,
      run(...args) {
        opened.asked++;
        if (!opened.isAway) return memory.run(...args);
        return Promise.reject(new OrielError("DEADLINE", "no answer", { transient: true, applied: "unknown" }));
      },
    },
  };
  return opened;
}
