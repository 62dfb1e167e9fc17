import type { Clock } from "../../time.ts";
import type { Policy } from "../policies.ts";

interface Entry<Value> {
  value: Value;
  untilMs: number;
  sizeBytes: number;
}

/** What is known of ids for a short time, some 10 000 of one policy and a usual name. */
export const MAX_CACHE_BYTES = 8 * 2 ** 20;

/** What is held for an id with a decision, a little more than V8 takes: a function may give each id policies of its own. */
export function entryBytesOf(keyPrefix: string, policies: readonly Policy[]): number {
  return 2 * keyPrefix.length + 400 + 350 * policies.length;
}

/**
 * Values of ids, each until a time, of at most so many bytes together: full, what was put in first goes. That is what is over
 * first, as a rule; each `set` takes two of those away, so that they do not wait for the bound.
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
    let over = 2;
    for (const [first, entry] of this.#entries) {
      if (this.sizeBytes <= MAX_CACHE_BYTES && (entry.untilMs > nowMs || over-- === 0)) return;
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
