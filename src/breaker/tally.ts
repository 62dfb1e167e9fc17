/** Numbers of a record: the ms, and the calls, failures and slow calls counted in it. */
const WIDTH = 4;
const LEAST_RECORDS = 16;

/**
 * Calls of a sliding window, one record for each ms in which any were counted, oldest first, and their totals. Totals are
 * whole numbers: what is taken off when a record leaves leaves no trace.
 */
export class SlidingTally {
  calls = 0;
  failures = 0;
  slow = 0;
  #records = new Float64Array(WIDTH * LEAST_RECORDS);
  /** Records lie from here to there. */
  #from = 0;
  #to = 0;

  /** Records. */
  get count(): number {
    return (this.#to - this.#from) / WIDTH;
  }

  /** Of the records, and of room for others. */
  get roomBytes(): number {
    return this.#records.byteLength;
  }

  /** Counts at an instant, which may lie before others that were counted. O(1) at the end, else O(records after it). */
  add(atMs: number, calls: number, failures: number, slow: number): void {
    this.calls += calls;
    this.failures += failures;
    this.slow += slow;
    let place = this.#to;
    while (place > this.#from && this.#records[place - WIDTH]! > atMs) place -= WIDTH;
    if (place > this.#from && this.#records[place - WIDTH] === atMs) place -= WIDTH;
    else place = this.#insert(place, atMs);
    this.#records[place + 1]! += calls;
    this.#records[place + 2]! += failures;
    this.#records[place + 3]! += slow;
  }

  /** Forgets what was counted at `cutoffMs` or before. */
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

  /** Takes the oldest records out, so many at most: four numbers each. */
  cut(most: number): Float64Array {
    const end = Math.min(this.#to, this.#from + most * WIDTH);
    const taken = this.#records.slice(this.#from, end);
    if (taken.length > 0) this.dropThrough(this.#records[end - WIDTH]!);
    return taken;
  }

  clear(): void {
    this.calls = this.failures = this.slow = 0;
    this.#from = this.#to = 0;
    if (this.#records.length > WIDTH * LEAST_RECORDS) this.#records = new Float64Array(WIDTH * LEAST_RECORDS);
  }

  /** Moves all that is counted back in time. */
  moveBack(byMs: number): void {
    for (let at = this.#from; at < this.#to; at += WIDTH) this.#records[at]! -= byMs;
  }

  /** Makes a record at a place, or nearby where room had to be made first; where it lies then. */
  #insert(place: number, atMs: number): number {
    const before = place - this.#from;
    if (this.#to === this.#records.length) this.#makeRoom();
    const at = this.#from + before;
    this.#records.copyWithin(at + WIDTH, at, this.#to);
    this.#records.fill(0, at, at + WIDTH);
    this.#records[at] = atMs;
    this.#to += WIDTH;
    return at;
  }

  /** Twice the room that the records need: what it costs is shared by as many that come, and memory follows them down. */
  #makeRoom(): void {
    const live = this.#records.subarray(this.#from, this.#to);
    const records = new Float64Array(Math.max(WIDTH * LEAST_RECORDS, 2 * live.length));
    records.set(live);
    this.#records = records;
    this.#to = live.length;
    this.#from = 0;
  }
}
