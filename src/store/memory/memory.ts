import { leaseClock } from "../../async/lease-clock.ts";
import { argumentError, checkKnown, corruptError, OrielError } from "../../errors.ts";
import { Place } from "../../place.ts";
import type { Clock } from "../../time.ts";
import type { Operation, RunOptions, StoreHealth, WatchedStore } from "../contract.ts";
import { failureReports } from "../health/failures.ts";
import { storeListeners } from "../health/store-events.ts";
import { checkPrefix, keyOf } from "../keys.ts";
import { Channels } from "./channels.ts";
import { Entries, type Entry } from "./entries.ts";

export interface MemoryStoreOptions {
  /** Ms since 1970; default `Date.now`. Tests step it. */
  clock?: Clock | undefined;
  /** Default: `clock` where one is given, else `performance.now`. */
  monotonic?: Clock | undefined;
  /**
   * Bound on what all values and keys take in the heap, about; default 256 MiB, some 530 000 ids of a limiter or 430 000
   * small messages of a queue. A step that would pass it is OVERLOADED.
   */
  maxBytes?: number | undefined;
  /** Begins every key; default "oriel:". */
  prefix?: string | undefined;
}

/** A store within one process. */
export interface MemoryStore extends WatchedStore {
  /** What the entries count, expired ones that were not yet met included. */
  readonly sizeBytes: number;
  /** @internal The entry under a full key as it stands, for tests and diagnosis; not to be changed. */
  entryOf(key: string): Readonly<Entry> | undefined;
  /** Forgets everything. */
  clear(): void;
}

/**
 * A store within this process: every step is done at once, in the order of the calls, on the injected clock.
 * Nothing is ever evicted: full (`maxBytes`), it refuses what would grow (OVERLOADED) and goes on with the rest.
 * An AbortSignal that was aborted before the call rejects it with the signal's reason, as it is.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const at = new Place("memoryStore");
  at.checked(undefined, () => checkKnown(options, ["clock", "monotonic", "maxBytes", "prefix"]));
  return at.checked(undefined, () => storeInMemory(options, false));
}

/** `evicts`: when it is full, what was not used for the longest time goes, and nothing is refused for want of room. */
export function storeInMemory(options: MemoryStoreOptions, evicts: boolean): MemoryStore {
  const { clock = Date.now, maxBytes = 256 * 2 ** 20 } = options;
  const injected = options.monotonic ?? options.clock;
  const prefix = checkPrefix(options.prefix ?? "oriel:");
  for (const name of ["clock", "monotonic"] as const)
    if (options[name] !== undefined && typeof options[name] !== "function")
      throw argumentError(name, options[name], "a function that gives ms");
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1)
    throw argumentError("maxBytes", maxBytes, "a whole number of bytes, 1 or more");
  const channels = new Channels();
  const entries = new Entries(maxBytes, (...told) => queueMicrotask(() => channels.call(...told)), evicts);
  const listeners = storeListeners("memoryStore");
  const health: StoreHealth = { state: "up", since: Date.now(), reason: undefined, address: undefined };
  let closed = false;

  return {
    monotonic: injected ?? (() => performance.now()),
    leaseClock: injected ?? leaseClock(),
    keyOf: (name) => keyOf(prefix, name),
    health,
    on: (name, listener) => listeners.on(name, listener),
    get sizeBytes() {
      return entries.sizeBytes;
    },
    entryOf: (key) => entries.peek(key),
    clear: () => entries.clear(),
    report: failureReports((failure) => listeners.tell("error", failure)),
    async run<Input, Output>(
      operation: Operation<Input, Output>,
      key: string,
      input: Input,
      runOptions?: RunOptions,
    ): Promise<Output> {
      runOptions?.signal?.throwIfAborted();
      if (runOptions?.replicas) throw argumentError("replicas", runOptions.replicas, "0 in memory, which has none");
      if (closed) throw new OrielError("UNAVAILABLE", "the store is closed");
      const nowMs = Math.floor(clock());
      const declared = operation.keysOf?.(key, input) ?? [key];
      try {
        const output = entries.step(declared, nowMs, (keyspace) => operation.local(keyspace, key, input, nowMs));
        runOptions?.ranOnce?.();
        return output;
      } catch (error) {
        if (error instanceof OrielError)
          throw error.code === "CORRUPT" ? corruptError(key, OrielError.detailOf(error)) : error;
        throw corruptError(declared, "no step of oriel wrote it", { cause: error });
      }
    },
    subscribe(channel, listener) {
      channels.add(channel, listener);
      queueMicrotask(() => listener());
      return () => channels.delete(channel, listener);
    },
    async close() {
      closed = true;
      channels.clear();
      entries.clear();
    },
  };
}
