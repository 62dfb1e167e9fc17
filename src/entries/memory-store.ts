import { atSite } from "../base/site.ts";
import { decisionForms } from "../limits/limiter/steps/decide-locally.ts";
import { bringLocalForms, type MemoryStore, type MemoryStoreOptions, storeInMemory } from "../store/memory/memory.ts";
import { announceLocally } from "../store/registry/steps/announce-locally.ts";

/** @internal Called by what runs steps in this process. */
export function bringAllForms(): void {
  bringLocalForms({ ...decisionForms, "registry/announce": announceLocally });
}

/**
 * A store within this process. Every step runs at once, in the order of the calls, on the injected clock. It never
 * evicts. When it is full (`maxBytes`), it refuses steps that would make it grow (OVERLOADED) and runs all others. An
 * AbortSignal that was aborted before the call rejects it with the signal's reason, unchanged.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return atSite("memoryStore", () => {
    bringAllForms();
    return storeInMemory(options);
  });
}
