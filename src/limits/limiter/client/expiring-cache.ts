import type { Clock } from "../../../base/time.ts";
import type { Policy } from "../policies.ts";

interface Entry<Value> {
  value: Value;
  untilMs: number;
  sizeBytes: number;
}

/** Enough for about 10 000 ids with one policy and a short name. */
export const MAX_CACHE_BYTES = 8 * 2 ** 20;

/** Heap of an id's decision, slightly overestimated. Each id may have its own policies. */
export function entryBytesOf(keyPrefix: string, policies: readonly Policy[]): number {
  return 2 * keyPrefix.length + 400 + 350 * policies.length;
}

/**
 * Values of ids, each with an expiry, bounded by their total size. When it is full, the oldest entry is evicted, which usually
 * expires first. Each `set` also removes up to two expired entries.
 */
export class ExpiringCache<Value> {
  sizeBytes = 0;
  readonly #now: Clock;
  readonly #entries = new Map<string, Entry<Value>>();

  constructor(now: Clock) {
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(keyPrefix: string): Value | undefined {
    const entry = this.#entries.get(keyPrefix);
    if (entry === undefined) return undefined;
    if (this.#now() < entry.untilMs) return entry.value;
    this.delete(keyPrefix);
    return undefined;
  }

  set(keyPrefix: string, value: Value, untilMs: number, sizeBytes: number): void {
    this.delete(keyPrefix);
    if (sizeBytes > MAX_CACHE_BYTES) return;
    this.#entries.set(keyPrefix, { value, untilMs, sizeBytes });
    this.sizeBytes += sizeBytes;
    const nowMs = this.#now();
    let expiredLeft = 2;
    for (const [first, entry] of this.#entries) {
      if (this.sizeBytes <= MAX_CACHE_BYTES && (entry.untilMs > nowMs || expiredLeft-- === 0)) return;
      this.delete(first);
    }
  }

  delete(keyPrefix: string): void {
    const entry = this.#entries.get(keyPrefix);
    if (entry === undefined) return;
    this.#entries.delete(keyPrefix);
    this.sizeBytes -= entry.sizeBytes;
  }
}
