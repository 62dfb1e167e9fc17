import { MAX_SHARDS } from "../format/layout.ts";

const FIRST_CELLS = 1024;
const FIRST_TEXT_BYTES = 32_768;
/** Arrays double up to this size. Larger arrays grow by this size, so that little memory is unused. */
const MAX_GROWTH_BYTES = 8 << 20;

/** The size of a record, in 8-byte and in 4-byte elements. */
const FLOATS = 4;
const INTS = 8;

/**
 * The cells of a producer, in dense records. Counting an event of a random row among 100 000 costs mainly cache misses,
 * so a record takes half a cache line:
 *
 *   f64 count of the row that was counted last ..... floats[4c]
 *   f64 number of the batch that counts it ......... floats[4c + 1]
 *   f64 start of that row, minutes since 1970 ...... floats[4c + 2]
 *   i32 place of the text .......................... ints[8c + 6]
 *   i32 bytes of the text * 1024 + shard ........... ints[8c + 7]
 *
 * The text is the part of a shard's field after the start, in UTF-8.
 */
export class CellMemory {
  #floats = new Float64Array(FIRST_CELLS * FLOATS);
  #ints = new Int32Array(this.#floats.buffer);
  #texts = new Uint8Array(FIRST_TEXT_BYTES);
  #textBytes = 0;
  #length = 0;
  #lastBatch = 0;

  /** The number of cells. */
  get length(): number {
    return this.#length;
  }

  /** The size of the arrays after a cell with a text of this length is added. */
  bytesWith(textBytes: number): number {
    const floats = this.#floats.length;
    const records = (this.#length + 1) * FLOATS > floats ? grownLength(floats, 8) : floats;
    let texts = this.#texts.length;
    while (this.#textBytes + textBytes > texts) texts = grownLength(texts, 1);
    return records * 8 + texts;
  }

  /** Adds a cell and returns its number. */
  append(text: Uint8Array, shard: number): number {
    const cell = this.#length++;
    if (this.#length * FLOATS > this.#floats.length) this.#growRecords();
    while (this.#textBytes + text.length > this.#texts.length) this.#growTexts();
    const at = cell * INTS;
    this.#ints[at + 6] = this.#textBytes;
    this.#ints[at + 7] = text.length * MAX_SHARDS + shard;
    this.#texts.set(text, this.#textBytes);
    this.#textBytes += text.length;
    return cell;
  }

  #growRecords(): void {
    const grown = new Float64Array(grownLength(this.#floats.length, 8));
    grown.set(this.#floats);
    this.#floats = grown;
    this.#ints = new Int32Array(grown.buffer);
  }

  #growTexts(): void {
    const grown = new Uint8Array(grownLength(this.#texts.length, 1));
    grown.set(this.#texts);
    this.#texts = grown;
  }

  shardOf(cell: number): number {
    return this.#ints[cell * INTS + 7]! % MAX_SHARDS;
  }

  textOf(cell: number): Uint8Array {
    const at = this.#ints[cell * INTS + 6]!;
    return this.#texts.subarray(at, at + this.textBytesOf(cell));
  }

  textBytesOf(cell: number): number {
    return Math.floor(this.#ints[cell * INTS + 7]! / MAX_SHARDS);
  }

  /** Writes a cell's text and returns the position after it. */
  writeText(cell: number, bytes: Uint8Array, at: number): number {
    const texts = this.#texts;
    const from = this.#ints[cell * INTS + 6]!;
    const length = this.textBytesOf(cell);
    for (let i = 0; i < length; i++) bytes[at + i] = texts[from + i]!;
    return at + length;
  }

  /** Returns an unused batch number. */
  newBatch(): number {
    return ++this.#lastBatch;
  }

  /** Whether the batch already counts a row of this cell. If not, it starts to count this one. */
  isCountedBy(batch: number, cell: number, startMinute: number): boolean {
    if (this.#floats[cell * FLOATS + 1] === batch) return true;
    this.#floats[cell * FLOATS + 1] = batch;
    this.begin(cell, startMinute);
    return false;
  }

  /** Starts to count a row with another start. */
  begin(cell: number, startMinute: number): void {
    this.#floats[cell * FLOATS] = 0;
    this.#floats[cell * FLOATS + 2] = startMinute;
  }

  startOf(cell: number): number {
    return this.#floats[cell * FLOATS + 2]!;
  }

  countOf(cell: number): number {
    return this.#floats[cell * FLOATS]!;
  }

  count(cell: number, count: number): void {
    this.#floats[cell * FLOATS]! += count;
  }
}

function grownLength(length: number, elementBytes: number): number {
  return length + Math.min(length, MAX_GROWTH_BYTES / elementBytes);
}

/** Bytes of a Map with its table. The table has room for four entries and doubles when it is full. */
export const MAP_BYTES = 192;
const FIRST_ENTRIES = 4;
const ENTRY_BYTES = 28;
const STRING_BYTES = 24;
/** From this length on, V8 lets a substring or a concatenation refer to the original strings. */
const SHARING_LENGTH = 13;
const BAR = 0x7c;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes by which a Map grew when it reached this number of entries. */
export function growthOf(entries: number): number {
  const before = entries - 1;
  const wasFull = before >= FIRST_ENTRIES && (before & (before - 1)) === 0;
  return wasFull ? before * ENTRY_BYTES : 0;
}

/** Copies the text, because a caller's string may keep a whole request alive. Returns the copy and its bytes in V8. */
export function keptText(text: string): { text: string; bytes: number } {
  if (text.length < SHARING_LENGTH) return { text, bytes: STRING_BYTES + 2 * text.length };
  const bytes = encoder.encode(text);
  // One byte per character only if all are ASCII. Other decoded text may take two.
  return { text: decoder.decode(bytes), bytes: STRING_BYTES + text.length * (bytes.length === text.length ? 1 : 2) };
}

/** The number of different values of each dimension, by 32-bit hashes. Nearly exact, and keeps no value in memory. */
export function distinctValues(memory: CellMemory, dimensions: number): number[] {
  const found = Array.from({ length: dimensions }, () => new Set<number>());
  for (let cell = 0; cell < memory.length; cell++) {
    const text = memory.textOf(cell);
    let dimension = -1;
    let hash = 0;
    for (const byte of text) {
      if (byte === BAR) {
        if (dimension >= 0) found[dimension]!.add(hash);
        dimension++;
        hash = 0x811c9dc5;
      } else hash = Math.imul(hash ^ byte, 0x01000193);
    }
    found[dimension]!.add(hash);
  }
  return found.map((hashes) => hashes.size);
}
