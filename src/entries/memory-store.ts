import { atSite } from "../base/site.ts";
import { provideLocalForm } from "../limits/limiter/steps/decide.ts";
import { decideLocally } from "../limits/limiter/steps/decide-locally.ts";
import { type MemoryStore, type MemoryStoreOptions, storeInMemory } from "../store/memory/memory.ts";
import { provideLocalForm as provideAnnounce } from "../store/registry/steps/announce.ts";
import { announceLocally } from "../store/registry/steps/announce-locally.ts";

/**
 * A store within this process. Every step runs at once, in the order of the calls, on the injected clock. It never
 * evicts. When it is full (`maxBytes`), it refuses steps that would make it grow (OVERLOADED) and runs all others. An
 * AbortSignal that was aborted before the call rejects it with the signal's reason, unchanged.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return atSite("memoryStore", () => {
    provideLocalForm(decideLocally);
    provideAnnounce(announceLocally);
    return storeInMemory(options);
  });
}
