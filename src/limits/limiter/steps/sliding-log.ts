import { KIND, TOTAL_MODULUS } from "../../../generated/layouts/limiter.ts";
import type { StoredState } from "./state.ts";

/** Memory of one record: two arrays, which grow by half. */
export const RECORD_BYTES = 22;
const LOG_BYTES = 640;

/**
 * Permits taken: one record for each millisecond, with its time and the running total. The permits in a window are the
 * difference of two totals, found by binary search.
 */
export class SlidingLog implements StoredState {
  readonly kind = KIND.sliding;
  blockedUntilMs = 0;
  reservedUntilMs = 0;
  /** The longest span of any call. Older records are dropped. */
  longestMs = 0;
  #times: number[] = [];
  #totals: number[] = [];
  /** Index of the first live record. */
  #head = 0;
  /** Total before that record. */
  #before = 0;
  newestMs = 0;

  get records(): number {
    return this.#times.length - this.#head;
  }

  /** Memory, including dropped records that are still in the arrays. */
  get sizeBytes(): number {
    return LOG_BYTES + RECORD_BYTES * this.#times.length;
  }

  /** Permits taken after `cutoffMs`. */
  usedAfter(cutoffMs: number): number {
    return this.#total - this.#totalBefore(this.#firstAfter(cutoffMs));
  }

  recordsAfter(cutoffMs: number): number {
    return this.#times.length - this.#firstAfter(cutoffMs);
  }

  /** When the permits taken after `cutoffMs` reached the number `permits`: the time of that record. */
  timeOfRelease(cutoffMs: number, permits: number): number {
    const first = this.#firstAfter(cutoffMs);
    const target = this.#totalBefore(first) + permits;
    return this.#times[search(first, this.#times.length - 1, (i) => this.#totals[i]! >= target)]!;
  }

  put(atMs: number, permits: number, dropUntilMs: number): void {
    const first = this.#firstAfter(dropUntilMs);
    this.#before = this.#totalBefore(first);
    this.#head = first;
    if (this.#before >= TOTAL_MODULUS) this.#rebase();
    const total = this.#total + permits;
    if (this.records > 0 && this.newestMs === atMs) this.#totals[this.#totals.length - 1] = total;
    else {
      this.#times.push(atMs);
      this.#totals.push(total);
    }
    this.newestMs = atMs;
    if (this.#head > 32 && this.#head * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#head);
      this.#totals = this.#totals.slice(this.#head);
      this.#head = 0;
    }
  }

  newestAfterGivingBack(permits: number, atMs: number): number {
    const target = this.#total - permits;
    if (target <= this.#before) return atMs;
    return this.#times[search(this.#head, this.#times.length - 1, (i) => this.#totals[i]! >= target)]!;
  }

  /** Gives permits back, the newest ones first. */
  giveBack(permits: number, atMs: number): void {
    const target = this.#total - permits;
    this.newestMs = this.newestAfterGivingBack(permits, atMs);
    const records =
      target <= this.#before
        ? this.#head
        : search(this.#head, this.#times.length - 1, (i) => this.#totals[i]! >= target) + 1;
    this.#times.length = records;
    this.#totals.length = records;
    if (records > this.#head) this.#totals[records - 1] = target;
    else this.#before = target;
  }

  /** Lowers all totals, so that they stay exact whole numbers. */
  #rebase(): void {
    this.#times = this.#times.slice(this.#head);
    this.#totals = this.#totals.slice(this.#head).map((total) => total - this.#before);
    this.#head = 0;
    this.#before = 0;
  }

  get #total(): number {
    return this.records > 0 ? this.#totals[this.#totals.length - 1]! : this.#before;
  }

  #totalBefore(index: number): number {
    return index > this.#head ? this.#totals[index - 1]! : this.#before;
  }

  #firstAfter(cutoffMs: number): number {
    return search(this.#head, this.#times.length, (i) => this.#times[i]! > cutoffMs);
  }
}

/** The first index from `low` for which `holds` is true; `high` if there is none below. */
function search(low: number, high: number, holds: (index: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
