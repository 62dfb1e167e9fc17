import { type Cell, moveTo } from "./cells.ts";
import { ARRAY_HEAD_BYTES, writeArrayHead } from "./message-pack.ts";

const MOST_ROWS = 2048;
const COUNT_BYTES = 17;

/** What is counted together in one shard: each row once, with its sum. All who counted share its promise. */
export class Batch {
  readonly counted: Promise<void>;
  resolve!: () => void;
  reject!: (reason: unknown) => void;
  /** At most 2^53 - 1, and so is each row's count. */
  total = 0;
  /** Cells whose last row is counted here. */
  readonly #cells: Cell[] = [];
  /** Rows that their cells have left for another start: field and count. */
  readonly #left: [field: Uint8Array, count: number][] = [];
  #packed: Uint8Array | undefined;

  constructor() {
    this.counted = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  get rowCount(): number {
    return this.#cells.length + this.#left.length;
  }

  hasRoomFor(count: number): boolean {
    return this.rowCount < MOST_ROWS && this.total + count <= Number.MAX_SAFE_INTEGER;
  }

  add(cell: Cell, startMinute: number, count: number): void {
    if (cell.batch !== this) {
      this.#cells.push(cell);
      cell.batch = this;
      cell.count = 0;
      moveTo(cell, startMinute);
    } else if (cell.startMinute !== startMinute) {
      this.#left.push([cell.field, cell.count]);
      cell.count = 0;
      moveTo(cell, startMinute);
    }
    cell.count += count;
    this.total += count;
  }

  /** Ends the batch: its cells are free for the next one. The rows, as lua/counter/add.lua takes them. */
  close(): Uint8Array {
    if (this.#packed) return this.#packed;
    let sizeBytes = ARRAY_HEAD_BYTES + COUNT_BYTES * this.rowCount;
    for (const { field } of this.#cells) sizeBytes += field.length;
    for (const [field] of this.#left) sizeBytes += field.length;
    const bytes = new Uint8Array(sizeBytes);
    writeArrayHead(bytes, 2 * this.rowCount);
    let at = ARRAY_HEAD_BYTES;
    for (const [field, count] of this.#left) at = writeRow(bytes, at, field, count);
    for (const cell of this.#cells) {
      at = writeRow(bytes, at, cell.field, cell.count);
      cell.batch = undefined;
    }
    this.#packed = bytes.subarray(0, at);
    return this.#packed;
  }
}

function writeRow(bytes: Uint8Array, at: number, field: Uint8Array, count: number): number {
  bytes.set(field, at);
  return writeCount(bytes, at + field.length, count);
}

/** A count as decimal text, a MessagePack string of up to 16 digits; where it ends. */
function writeCount(bytes: Uint8Array, at: number, count: number): number {
  if (count < 10) {
    bytes[at] = 0xa1;
    bytes[at + 1] = 48 + count;
    return at + 2;
  }
  const digits = `${count}`;
  bytes[at] = 0xa0 | digits.length;
  for (let i = 0; i < digits.length; i++) bytes[at + 1 + i] = digits.charCodeAt(i);
  return at + 1 + digits.length;
}
