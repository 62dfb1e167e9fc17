/** Numbers per record: the ms, and its calls, failures and slow calls. */
const WIDTH = 4;
const MIN_RECORDS = 16;

/**
 * The calls of a sliding window: one record for each ms with calls, oldest first, and their totals. Totals are whole
 * numbers, so adding and subtracting is exact.
 */
export class SlidingTally {
  calls = 0;
  failures = 0;
  slow = 0;
  #records = new Float64Array(WIDTH * MIN_RECORDS);
  /** The live records lie from `#from` to `#to`. */
  #from = 0;
  #to = 0;

  /** Number of records. */
  get count(): number {
    return (this.#to - this.#from) / WIDTH;
  }

  /** Memory of the records, with the room for more. */
  get roomBytes(): number {
    return this.#records.byteLength;
  }

  /** Counts at an instant, which may be earlier than others. O(1) for the newest, else O(later records). */
  add(atMs: number, calls: number, failures: number, slow: number): void {
    this.calls += calls;
    this.failures += failures;
    this.slow += slow;
    let offset = this.#to;
    while (offset > this.#from && this.#records[offset - WIDTH]! > atMs) offset -= WIDTH;
    if (offset > this.#from && this.#records[offset - WIDTH] === atMs) offset -= WIDTH;
    else offset = this.#insert(offset, atMs);
    this.#records[offset + 1]! += calls;
    this.#records[offset + 2]! += failures;
    this.#records[offset + 3]! += slow;
  }

  /** Drops the records at `cutoffMs` and before. */
  dropThrough(cutoffMs: number): void {
    const records = this.#records;
    while (this.#from < this.#to && records[this.#from]! <= cutoffMs) {
      this.calls -= records[this.#from + 1]!;
      this.failures -= records[this.#from + 2]!;
      this.slow -= records[this.#from + 3]!;
      this.#from += WIDTH;
    }
    if (this.#from === this.#to) this.#from = this.#to = 0;
  }

  /** Takes at most `max` of the oldest records out: four numbers each. */
  cut(max: number): Float64Array {
    const end = Math.min(this.#to, this.#from + max * WIDTH);
    const taken = this.#records.slice(this.#from, end);
    if (taken.length > 0) this.dropThrough(this.#records[end - WIDTH]!);
    return taken;
  }

  clear(): void {
    this.calls = this.failures = this.slow = 0;
    this.#from = this.#to = 0;
    if (this.#records.length > WIDTH * MIN_RECORDS) this.#records = new Float64Array(WIDTH * MIN_RECORDS);
  }

  /** Moves all records back in time. */
  moveBack(byMs: number): void {
    for (let at = this.#from; at < this.#to; at += WIDTH) this.#records[at]! -= byMs;
  }

  /** Inserts an empty record at `offset` and returns its offset, which changes if room had to be made. */
  #insert(offset: number, atMs: number): number {
    const before = offset - this.#from;
    if (this.#to === this.#records.length) this.#makeRoom();
    const at = this.#from + before;
    this.#records.copyWithin(at + WIDTH, at, this.#to);
    this.#records.fill(0, at, at + WIDTH);
    this.#records[at] = atMs;
    this.#to += WIDTH;
    return at;
  }

  /** Allocates twice what the records need. The cost is spread over as many insertions, and memory shrinks with them. */
  #makeRoom(): void {
    const live = this.#records.subarray(this.#from, this.#to);
    const records = new Float64Array(Math.max(WIDTH * MIN_RECORDS, 2 * live.length));
    records.set(live);
    this.#records = records;
    this.#to = live.length;
    this.#from = 0;
  }
}
