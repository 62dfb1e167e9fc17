import { checkKnown } from "../errors.ts";
import { decideLocally } from "../limiter/steps/decide-locally.ts";
import { provideLocalForm } from "../limiter/steps/request.ts";
import { placed } from "../place.ts";
import { provideLocalForm as provideAnnounce } from "../registry/steps/announce.ts";
import { announceLocally } from "../registry/steps/announce-locally.ts";
import { type MemoryStore, type MemoryStoreOptions, storeInMemory } from "../store/memory/memory.ts";

/**
 * A store within this process. Every step runs at once, in the order of the calls, on the injected clock. It never
 * evicts. When it is full (`maxBytes`), it refuses steps that would make it grow (OVERLOADED) and runs all others. An
 * AbortSignal that was aborted before the call rejects it with the signal's reason, unchanged.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return placed("memoryStore", () => {
    checkKnown(options, ["clock", "monotonic", "maxBytes", "prefix", "registry"]);
    provideLocalForm(decideLocally);
    provideAnnounce(announceLocally);
    return storeInMemory(options);
  });
}
