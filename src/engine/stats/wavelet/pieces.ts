import type { Wavelet } from "../../kernel/contract.ts";
import { bitsOfKey } from "../../kernel/js/keys.ts";
import type { Positions, ValuesVisitor } from "./positions.ts";

/** Sizes of pieces are 256 times a power of 4, up to 2^20. */
const MIN_PIECE = 256;
const GROWTH = 4;
const MAX_PIECE = 2 ** 20;
/** Bytes of a piece before its levels; assembly/wavelet/wavelet-levels.ts. */
const HEAD_BYTES = 144;
/** A window may have up to this many events outside the pieces. */
export const MAX_LOOSE = 1024;
/** Ranks of one descent. */
const MAX_RANKS = 64;
const RANGE_BYTES = 12;
/** Room for each rank: two nodes, and four ranges of each piece; assembly/wavelet/wavelet-select.ts. */
const NODES_BYTES = 2 * 44;
const LISTS = 4;
/** Cost of copying a value and making its key, in levels. */
const KEY_LEVELS = 2;

interface Piece {
  address: number;
  sizeBytes: number;
  /** Number of its first event, and number of its events. */
  start: number;
  count: number;
}

/** A piece whose levels are being written. */
interface Job extends Piece {
  keys: number;
  /** The levels that are still missing, as bits. */
  missing: number;
}

/**
 * Wavelet matrices over consecutive events. A piece of n events begins at a multiple of n, and four pieces are replaced by
 * one, so a window of n events has O(log n) pieces. Work is done in steps, of one key and level each.
 */
export class Pieces {
  /** The number after the last event in a piece. */
  end = 0;
  readonly #wavelet: Wavelet;
  readonly #space: FreeSpace;
  #list: Piece[] = [];
  #cover: Job | undefined;
  #merge: Job | undefined;
  /** Address and size of the loose keys, the ranks, the answers, the ranges and their rooms. */
  #query = 0;
  #queryBytes = 0;
  readonly #copied = new ValuesCopy();

  constructor(wavelet: Wavelet) {
    this.#wavelet = wavelet;
    this.#space = new FreeSpace(wavelet.start);
  }

  /** Memory in use, up to the last piece. */
  get sizeBytes(): number {
    return this.#space.end;
  }

  /** Frees the pieces whose events are all before `position`. */
  dropBefore(position: number): void {
    while (this.#list[0] && this.#list[0].start + this.#list[0].count <= position) this.#free(this.#list.shift()!);
    if (this.#merge && this.#merge.start < position) this.#abandon();
  }

  /** Adds pieces until none is due, or for about `steps` steps. */
  cover(positions: Positions, steps: number): void {
    const { end } = positions;
    for (let left = steps; left > 0; ) {
      this.#cover ??= this.#covering(positions, end);
      if (!this.#cover) return;
      left -= this.#advance(this.#cover);
      if (this.#cover.missing === 0) this.#cover = this.#finish(this.#cover);
    }
  }

  /** Joins pieces, for about `steps` steps. Returns how many are left; they may be negative. */
  join(positions: Positions, steps: number): number {
    let left = steps;
    while (left > 0) {
      this.#merge ??= this.#merging(positions);
      if (!this.#merge) return left;
      left -= this.#advance(this.#merge);
      if (this.#merge.missing === 0) this.#merge = this.#finish(this.#merge);
    }
    return left;
  }

  /** The values at ascending `ranks` of the events from number `from` to before `to`, NaN last. */
  select(positions: Positions, from: number, to: number, ranks: readonly number[]): number[] {
    const values: number[] = [];
    if (ranks.length <= MAX_RANKS) this.#selectSome(positions, from, to, ranks, values);
    else
      for (let i = 0; i < ranks.length; i += MAX_RANKS)
        this.#selectSome(positions, from, to, ranks.slice(i, i + MAX_RANKS), values);
    return values;
  }

  #selectSome(positions: Positions, from: number, to: number, ranks: readonly number[], values: number[]): void {
    const loose = this.#queryArea();
    const ranksAt = loose + MAX_LOOSE * 4;
    const out = ranksAt + MAX_RANKS * 4;
    const ranges = out + MAX_RANKS * 4;
    const wavelet = this.#wavelet;
    const { words } = wavelet;
    let at = ranges >>> 2;
    for (let i = 0; i < this.#list.length; i++) {
      const piece = this.#list[i]!;
      const l = Math.max(0, from - piece.start);
      const r = Math.min(piece.count, to - piece.start);
      if (l >= r) continue;
      words[at++] = piece.address;
      words[at++] = l;
      words[at++] = r;
    }
    const looseFrom = Math.max(from, this.end);
    const looseCount = Math.max(0, to - looseFrom);
    if (looseCount > 0) {
      this.#copy(positions, looseFrom, to, loose);
      wavelet.keys(loose, looseCount);
    }
    for (let i = 0; i < ranks.length; i++) words[(ranksAt >>> 2) + i] = ranks[i]!;
    const count = (at - (ranges >>> 2)) / 3;
    const room = ranges + this.#list.length * RANGE_BYTES;
    wavelet.select(ranges, count, loose, looseCount, ranksAt, ranks.length, out, room);
    for (let i = out >>> 2; i < (out >>> 2) + ranks.length; i++) {
      words[i] = bitsOfKey(words[i]!);
      values.push(this.#copied.floats[i]!);
    }
  }

  #copy(positions: Positions, from: number, to: number, address: number): void {
    this.#copied.at = address >>> 2;
    positions.visit(from, to, this.#copied);
  }

  #queryArea(): number {
    const rangesBytes = this.#list.length * RANGE_BYTES;
    const perRank = 8 + NODES_BYTES + LISTS * rangesBytes;
    const needed = 16 * Math.ceil((MAX_LOOSE * 4 + rangesBytes + MAX_RANKS * perRank) / 16);
    if (needed > this.#queryBytes) {
      if (this.#queryBytes > 0) this.#space.give(this.#query, this.#queryBytes);
      this.#queryBytes = 2 * needed;
      this.#query = this.#take(this.#queryBytes);
    }
    return this.#query;
  }

  /** The next piece after the last one. */
  #covering(positions: Positions, end: number): Job | undefined {
    if (end - this.end < MIN_PIECE) return undefined;
    let count = Math.min(largestOf(positions), sizeUpTo(end - this.end));
    while (this.end % count !== 0) count /= GROWTH;
    return this.#begin(positions, this.end, count);
  }

  /** The largest piece that can replace others. */
  #merging(positions: Positions): Job | undefined {
    const largest = largestOf(positions);
    for (const piece of this.#list) {
      if (piece.start < positions.first) continue;
      for (let count = largest; count > piece.count; count /= GROWTH)
        if (piece.start % count === 0 && piece.start + count <= this.end)
          return this.#begin(positions, piece.start, count);
    }
    return undefined;
  }

  #begin(positions: Positions, start: number, count: number): Job {
    const keys = this.#take(8 * count);
    this.#copy(positions, start, start + count, keys);
    const vary = this.#wavelet.keys(keys, count);
    const firstKey = this.#wavelet.words[keys >>> 2]!;
    const levelBytes = 12 * (Math.floor(count / 64) + 1);
    let levels = 0;
    for (let bits = vary; bits !== 0; bits &= bits - 1) levels++;
    const sizeBytes = 16 * Math.ceil((HEAD_BYTES + levels * levelBytes) / 16);
    const address = this.#take(sizeBytes);
    this.#wavelet.words.set([vary, firstKey, count, levelBytes], address >>> 2);
    return { address, sizeBytes, start, count, keys, missing: vary };
  }

  /** Writes a level. Returns the number of steps. */
  #advance(job: Job): number {
    if (job.missing === 0) return KEY_LEVELS * job.count;
    const isFirst = job.missing >>> 0 === this.#wavelet.words[job.address >>> 2];
    const level = 31 - Math.clz32(job.missing);
    this.#wavelet.level(job.address, level, job.keys, job.keys + 4 * job.count);
    job.missing ^= 1 << level;
    return (isFirst ? KEY_LEVELS + 1 : 1) * job.count;
  }

  #finish({ keys, address, sizeBytes, start, count }: Job): undefined {
    this.#space.give(keys, 8 * count);
    const end = start + count;
    for (const piece of this.#list) if (piece.start >= start && piece.start < end) this.#free(piece);
    const before = this.#list.filter((piece) => piece.start < start);
    const after = this.#list.filter((piece) => piece.start >= end);
    this.#list = [...before, { address, sizeBytes, start, count }, ...after];
    this.end = Math.max(this.end, end);
  }

  #abandon(): void {
    const { keys, address, sizeBytes, count } = this.#merge!;
    this.#space.give(keys, 8 * count);
    this.#space.give(address, sizeBytes);
    this.#merge = undefined;
  }

  #free({ address, sizeBytes }: Piece): void {
    this.#space.give(address, sizeBytes);
  }

  #take(sizeBytes: number): number {
    const address = this.#space.take(sizeBytes);
    this.#wavelet.reserve(this.#space.end);
    this.#copied.follow(this.#wavelet.words);
    return address;
  }
}

/** The largest piece for these events, at most half of them, since a piece is freed when its last event has left. */
function largestOf({ first, end }: Positions): number {
  return sizeUpTo(Math.min(MAX_PIECE, (end - first) / 2));
}

/** The largest size of a piece that is at most `limit`, or the smallest size. */
function sizeUpTo(limit: number): number {
  let size = MIN_PIECE;
  while (size * GROWTH <= limit) size *= GROWTH;
  return size;
}

/** Up to this many values, a loop is faster than `TypedArray.set`. */
const MAX_LOOPED = 64;

/** Copies values into the memory of wavelet matrices. */
class ValuesCopy implements ValuesVisitor {
  floats: Float32Array = new Float32Array(0);
  at = 0;

  follow({ buffer }: Uint32Array): void {
    if (buffer !== this.floats.buffer) this.floats = new Float32Array(buffer);
  }

  addValues(values: Float32Array, begin: number, end: number): void {
    if (end - begin > MAX_LOOPED) this.floats.set(values.subarray(begin, end), this.at);
    else for (let i = begin; i < end; i++) this.floats[this.at + i - begin] = values[i]!;
    this.at += end - begin;
  }
}

interface Gap {
  from: number;
  to: number;
}

/** Keeps account of the free parts of a memory. All sizes and addresses are multiples of 16. Cost: O(gaps), which are few. */
export class FreeSpace {
  readonly #gaps: Gap[];

  constructor(start: number) {
    this.#gaps = [{ from: start, to: Number.POSITIVE_INFINITY }];
  }

  /** The first address after all parts in use. */
  get end(): number {
    return this.#gaps.at(-1)!.from;
  }

  take(sizeBytes: number): number {
    const i = this.#gaps.findIndex(({ from, to }) => to - from >= sizeBytes);
    const gap = this.#gaps[i]!;
    const address = gap.from;
    gap.from += sizeBytes;
    if (gap.from === gap.to) this.#gaps.splice(i, 1);
    return address;
  }

  give(address: number, sizeBytes: number): void {
    const end = address + sizeBytes;
    const i = this.#gaps.findIndex(({ from }) => from >= end);
    const [before, after] = [this.#gaps[i - 1], this.#gaps[i]!];
    const joinsAfter = after.from === end;
    if (before?.to === address) {
      before.to = joinsAfter ? after.to : end;
      if (joinsAfter) this.#gaps.splice(i, 1);
    } else if (joinsAfter) after.from = address;
    else this.#gaps.splice(i, 0, { from: address, to: end });
  }
}
