import { deferred } from "../../../base/async/deferred.ts";
import { OrielError } from "../../../base/errors.ts";
import { ARRAY_HEAD_BYTES, writeArrayHead, writeStringHead } from "../../../store/message-pack.ts";
import type { CellMemory } from "./cell-memory.ts";
import { MAX_UNCONFIRMED_BYTES } from "./unconfirmed-batches.ts";

/** Bytes of the rows of all shards of a counter that wait for an answer. */
export interface Pending {
  bytes: number;
}

export const MAX_PENDING_BYTES = 64 << 20;

export function overloaded(bytes: number): OrielError {
  return new OrielError("OVERLOADED", `${bytes} bytes of rows wait for the store; the bound is ${MAX_PENDING_BYTES}`, {
    transient: true,
  });
}

const MAX_ROWS = 2048;
/** A batch of this size is sent early, so that the server works while the process counts. */
const ENOUGH_ROWS = 512;
/** Bytes of a row without its text: MessagePack heads, start and count. */
const ROW_BYTES = 32;
/** 765 characters of 3 bytes, and one "|" for each of 16 values. */
const MAX_ROW_BYTES = ROW_BYTES + 765 * 3 + 16;

/** Counts that are sent to one shard together. Each row appears once, with its sum. All callers share one promise. */
export class Batch {
  readonly #outcome = deferred();
  readonly counted = this.#outcome.promise;
  readonly resolve = this.#outcome.resolve;
  readonly reject = this.#outcome.reject;
  /** At most 2^53 - 1, so each row's count is too. */
  total = 0;
  readonly #pending: Pending;
  #memory: CellMemory | undefined;
  readonly #number: number;
  /** Cells whose latest row is in this batch. */
  #cells: number[] = [];
  /** Earlier rows of cells that have since counted another start. */
  #left: [cell: number, startMinute: number, count: number][] = [];
  #maxBytes = ARRAY_HEAD_BYTES;
  #packed: Uint8Array | undefined;

  constructor(memory: CellMemory, pending: Pending) {
    this.#memory = memory;
    this.#pending = pending;
    this.#number = memory.newBatch();
  }

  get rowCount(): number {
    return this.#cells.length + this.#left.length;
  }

  /** Whether the batch is open, uses cells of this memory, and has room for this count and one more row. */
  hasRoomFor(count: number, memory: CellMemory): boolean {
    const hasRoom = this.rowCount < MAX_ROWS && this.#maxBytes <= MAX_UNCONFIRMED_BYTES - MAX_ROW_BYTES;
    return this.#memory === memory && hasRoom && this.total + count <= Number.MAX_SAFE_INTEGER;
  }

  get isWorthSending(): boolean {
    return this.rowCount === ENOUGH_ROWS;
  }

  add(memory: CellMemory, cell: number, startMinute: number, count: number): void {
    if (!memory.isCountedBy(this.#number, cell, startMinute)) {
      this.#cells.push(cell);
      this.#hold(memory.textBytesOf(cell));
    } else if (memory.startOf(cell) !== startMinute) {
      this.#left.push([cell, memory.startOf(cell), memory.countOf(cell)]);
      memory.begin(cell, startMinute);
      this.#hold(memory.textBytesOf(cell));
    }
    memory.count(cell, count);
    this.total += count;
  }

  #hold(textBytes: number): void {
    this.#maxBytes += ROW_BYTES + textBytes;
    this.#pending.bytes += ROW_BYTES + textBytes;
  }

  /** Closes the batch and drops its reference to the cells. Returns the rows in the form of lua/counter/add.lua. */
  close(): Uint8Array {
    this.#packed ??= this.#pack();
    return this.#packed;
  }

  #pack(): Uint8Array {
    const memory = this.#memory!;
    const rows = new RowWriter(memory, new Uint8Array(this.#maxBytes), this.rowCount);
    for (const [cell, startMinute, count] of this.#left) rows.write(cell, startMinute, count);
    for (const cell of this.#cells) rows.write(cell, memory.startOf(cell), memory.countOf(cell));
    this.#memory = undefined;
    this.#cells = [];
    this.#left = [];
    return rows.written();
  }

  /** Its rows no longer wait for an answer. */
  release(): void {
    this.#pending.bytes -= this.#maxBytes - ARRAY_HEAD_BYTES;
    this.#maxBytes = ARRAY_HEAD_BYTES;
  }
}

/** Writes rows as MessagePack: fields and counts in alternation. */
class RowWriter {
  readonly #memory: CellMemory;
  readonly #bytes: Uint8Array;
  #at = ARRAY_HEAD_BYTES;
  #startMinute = Number.NaN;
  #start = "";

  constructor(memory: CellMemory, bytes: Uint8Array, rowCount: number) {
    this.#memory = memory;
    this.#bytes = bytes;
    writeArrayHead(bytes, 2 * rowCount);
  }

  write(cell: number, startMinute: number, count: number): void {
    const bytes = this.#bytes;
    if (startMinute !== this.#startMinute) {
      this.#startMinute = startMinute;
      this.#start = `${startMinute}`;
    }
    let at = writeStringHead(bytes, this.#at, this.#start.length + this.#memory.textBytesOf(cell));
    at = writeAscii(bytes, at, this.#start);
    at = this.#memory.writeText(cell, bytes, at);
    const digits = `${count}`;
    this.#at = writeAscii(bytes, writeStringHead(bytes, at, digits.length), digits);
  }

  written(): Uint8Array {
    return this.#bytes.slice(0, this.#at);
  }
}

function writeAscii(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
  return at + text.length;
}
