import type { Keyspace } from "../contract.ts";
import { storeFull } from "./full.ts";
import { SLOT_BYTES, textBytes } from "./heap-bytes.ts";

export interface Entry {
  value: unknown;
  /** Counted size of the entry: its value, its key and its own overhead. */
  sizeBytes: number;
  keyBytes: number;
  expireAtMs: number;
}

/** Overhead of an entry in bytes, without its key and its value. */
const ENTRY_BYTES = SLOT_BYTES + 88;
/** Entries that each step checks for expiry, so that unused entries are removed too. It is more than a step can add. */
const SWEPT_PER_STEP = 4;
/** Entries checked for expiry when the bound is reached, before a step is refused. */
const SWEPT_WHEN_FULL = 1024;

/**
 * The entries of a memory store: a bounded map whose writes are buffered during a step and kept when it returns.
 * As in Redis, an entry is still there at `expireAtMs` and gone after it.
 */
export class Entries {
  sizeBytes = 0;
  readonly #maxBytes: number;
  readonly #evicts: boolean;
  readonly #publish: (channel: string, message: string) => void;
  readonly #entries = new Map<string, Entry>();
  #sweep: Iterator<[string, Entry]> = this.#entries.entries();

  /** With `evicts`, a full store evicts the entries that were unused for the longest time before it refuses a step. */
  constructor(maxBytes: number, publish: (channel: string, message: string) => void = () => {}, evicts = false) {
    this.#maxBytes = maxBytes;
    this.#evicts = evicts;
    this.#publish = publish;
  }

  peek(key: string): Readonly<Entry> | undefined {
    return this.#entries.get(key);
  }

  clear(): void {
    this.#entries.clear();
    // The old iterator would keep the removed entries in memory.
    this.#sweep = this.#entries.entries();
    this.sizeBytes = 0;
  }

  /** Runs `step` on the declared keys. If it throws, no entry, size or expiry has changed. */
  step<Output>(declared: readonly string[], nowMs: number, step: (keys: Keyspace) => Output): Output {
    this.#expire(nowMs, SWEPT_PER_STEP);
    for (const key of declared) {
      const entry = this.#entries.get(key);
      if (entry && entry.expireAtMs < nowMs) this.#remove(key, entry);
    }
    const writes = new Map<string, Entry | undefined>();
    const published: [channel: string, message: string][] = [];
    let growthBytes = 0;
    const current = (key: string): Entry | undefined => {
      if (!declared.includes(key)) throw new Error(`the step touched ${key}, which it did not declare`);
      return writes.has(key) ? writes.get(key) : this.#entries.get(key);
    };
    const output = step({
      get: (key) => current(key)?.value,
      find: (key) => {
        const entry = this.#entries.get(key);
        return entry && entry.expireAtMs >= nowMs ? entry.value : undefined;
      },
      set: (key, value, sizeBytes, expireAtMs) => {
        const before = current(key);
        const keyBytes = before?.keyBytes ?? textBytes(key);
        const entry = { value, sizeBytes: ENTRY_BYTES + keyBytes + sizeBytes, keyBytes, expireAtMs };
        const added = entry.sizeBytes - (before?.sizeBytes ?? 0);
        if (added > 0) this.#makeRoom(growthBytes + added, nowMs, declared);
        growthBytes += added;
        writes.set(key, entry);
      },
      delete: (key) => {
        growthBytes -= current(key)?.sizeBytes ?? 0;
        writes.set(key, undefined);
      },
      publish: (...message) => void published.push(message),
    });
    for (const [key, entry] of writes) {
      // Moves the entry to the end: the order of the map is the order of use.
      if (this.#evicts || !entry) this.#entries.delete(key);
      if (entry) this.#entries.set(key, entry);
    }
    this.sizeBytes += growthBytes;
    for (const [channel, message] of published) this.#publish(channel, message);
    return output;
  }

  #makeRoom(growthBytes: number, nowMs: number, declared: readonly string[]): void {
    if (this.sizeBytes + growthBytes > this.#maxBytes) this.#expire(nowMs, SWEPT_WHEN_FULL);
    if (this.#evicts && this.sizeBytes + growthBytes > this.#maxBytes) this.#evict(growthBytes, declared);
    if (this.sizeBytes + growthBytes > this.#maxBytes)
      throw storeFull(
        `the store held ${this.sizeBytes} of at most ${this.#maxBytes} bytes before the call, which needs ${growthBytes} more`,
      );
  }

  #evict(growthBytes: number, declared: readonly string[]): void {
    for (const [key, entry] of this.#entries) {
      if (this.sizeBytes + growthBytes <= this.#maxBytes) return;
      if (!declared.includes(key)) this.#remove(key, entry);
    }
  }

  /** Checks the next `count` entries in turn. A Map's iterator stays valid while entries are added and removed. */
  #expire(nowMs: number, count: number): void {
    for (let i = 0; i < count && this.#entries.size > 0; i++) {
      const next = this.#sweep.next();
      if (next.done) {
        this.#sweep = this.#entries.entries();
        continue;
      }
      const [key, entry] = next.value;
      if (entry.expireAtMs < nowMs) this.#remove(key, entry);
    }
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.sizeBytes -= entry.sizeBytes;
  }
}
