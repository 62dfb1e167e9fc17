import { leaseClock } from "../../base/async/lease-clock.ts";
import { argumentError, byteBound, corruptError, OrielError } from "../../base/errors.ts";
import { flag, fn, type Schema, settingsOf } from "../../base/options.ts";
import type { Clock } from "../../base/time.ts";
import { version } from "../../generated/version.ts";
import type { Operation, RunOptions, Step, StoreHealth, WatchedStore } from "../contract.ts";
import { failureReports, WithoutStore } from "../health/failures.ts";
import { storeListeners } from "../health/store-events.ts";
import { keyOf, PREFIX } from "../keys.ts";
import { Channels } from "./channels.ts";
import { Entries, type Entry } from "./entries.ts";

/** Options of `memoryStore`: clocks, bound on memory, and prefix. */
export interface MemoryStoreOptions {
  /** Ms since 1970; default `Date.now`. Tests step it. */
  clock?: Clock | undefined;
  /** Default: `clock` if given, else `performance.now`. */
  monotonic?: Clock | undefined;
  /**
   * Approximate bound on the heap bytes of all values and keys. Default 256 MiB: about 530 000 ids of a limiter or 430
   * 000 small messages of a queue. A step that would exceed it rejects with OVERLOADED.
   */
  maxBytes?: number | undefined;
  /** Prefix of every key; default "oriel:". */
  prefix?: string | undefined;
  /** Whether the structures on this store announce themselves, as in `redisStore`. Default true. */
  registry?: boolean | undefined;
}

/** A store within one process. */
export interface MemoryStore extends WatchedStore {
  /** Counted bytes of all entries, including expired ones that were not removed yet. */
  readonly sizeBytes: number;
  /** @internal The entry under a full key for tests and diagnosis. It must not be changed. */
  entryOf(key: string): Readonly<Entry> | undefined;
  /** Removes all entries. */
  clear(): void;
}

const CLOCK = [fn<Clock>, null, "a function that returns ms"] as const;
const MEMORY_STORE = {
  clock: CLOCK,
  monotonic: CLOCK,
  maxBytes: [byteBound, 256 * 2 ** 20, 1],
  prefix: PREFIX,
  registry: [flag, true],
} as const satisfies Schema<MemoryStoreOptions>;

/** With `evicts`, a full store evicts the entries that were unused for the longest time before it refuses a step. */
export function storeInMemory(options: MemoryStoreOptions, evicts = false): MemoryStore {
  const { clock: given, monotonic, maxBytes, prefix, registry } = settingsOf(MEMORY_STORE, options);
  const clock = given ?? Date.now;
  const injected = monotonic ?? given;
  let onTurn: (() => void) | undefined;
  let turnMs = Number.NaN;
  let isAnnouncing = false;
  /** In a microtask, so that the listener's step does not come between two calls of one turn. */
  const announce = () => {
    isAnnouncing = true;
    onTurn?.();
    isAnnouncing = false;
  };
  const channels = new Channels();
  const entries = new Entries(maxBytes, (...message) => queueMicrotask(() => channels.call(...message)), evicts);
  const listeners = storeListeners("memoryStore");
  const health: StoreHealth = { state: "up", since: Date.now(), reason: undefined, address: undefined };
  const withoutStore = new WithoutStore((failure) => listeners.emit("error", failure));
  let closed = false;
  /** The calls of one turn that no other step came between. */
  let turn: object | undefined;
  const turnOf = ({ ranIn }: RunOptions): void => {
    if (!turn) {
      turn = {};
      queueMicrotask(() => {
        turn = undefined;
      });
    }
    ranIn!(turn);
  };

  return {
    monotonic: injected ?? (() => performance.now()),
    leaseClock: injected ?? leaseClock(),
    keyOf: (name) => keyOf(prefix, name),
    health,
    on: (name, listener) => listeners.on(name, listener),
    async ready() {
      if (closed) throw new OrielError("UNAVAILABLE", "the store is closed");
    },
    get sizeBytes() {
      return entries.sizeBytes;
    },
    entryOf: (key) => entries.peek(key),
    clear: () => entries.clear(),
    onTurn: registry ? (listener) => (onTurn = listener) : undefined,
    report: failureReports((failure) => listeners.emit("error", failure)),
    goesOnWithout: (effect, error) => withoutStore.goesOn(effect, error),
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
        const output = entries.step(declared, nowMs, (keyspace) => localFormOf(operation)(keyspace, key, input, nowMs));
        withoutStore.succeeded(0);
        runOptions?.ranOnce?.();
        if (runOptions?.ranIn) turnOf(runOptions);
        else turn = undefined;
        // The first call of each ms counts as a turn.
        if (nowMs !== turnMs) {
          turnMs = nowMs;
          if (onTurn && !isAnnouncing) queueMicrotask(announce);
        }
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
      entries.clear();
      channels.callAll();
    },
  };
}

type LocalForm<Input, Output> = NonNullable<Step<Input, Output>["local"]>;

/** The large forms, by the names of their steps. Only a bundle that calls `bringLocalForms` has them. */
const brought: Record<string, LocalForm<never, unknown>> = {};

/** Called by what makes a store in memory, with the forms that the structures on it may need. */
export function bringLocalForms(forms: typeof brought): void {
  Object.assign(brought, forms);
}

/** How to run a step in this process. Throws MISMATCH. */
export function localFormOf<Input, Output>({ name, local, localFrom }: Step<Input, Output>): LocalForm<Input, Output> {
  if (local) return local;
  if (localFrom === version && brought[name]) return brought[name] as LocalForm<Input, Output>;
  throw new OrielError(
    "MISMATCH",
    "the store in memory is of another copy of oriel in this process, which has another version: load one version only",
  );
}
