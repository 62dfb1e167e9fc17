import { ARRAY_BYTES } from "../../../store/memory/heap-bytes.ts";
import { type ChunkHeader, HEADER_BYTES, readHeader, writeHeader } from "./chunk.ts";

/** Overhead in the heap besides its bytes. */
const CHUNK_BYTES = ARRAY_BYTES + 48;

/** A chunk in a memory store: the bytes of the string in Redis, in a buffer that doubles. */
export class ChunkBytes {
  #bytes: Uint8Array;
  length: number;

  constructor(header: ChunkHeader, capacityBytes = 256) {
    this.#bytes = new Uint8Array(Math.max(capacityBytes, HEADER_BYTES));
    this.length = HEADER_BYTES;
    writeHeader(this.#bytes, header);
  }

  get header(): ChunkHeader {
    return readHeader(this.#bytes);
  }

  set header(header: ChunkHeader) {
    writeHeader(this.#bytes, header);
  }

  /** A view of the bytes in use, valid until the next append. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  /** Its size in the heap after an append of `moreBytes`, with spare capacity. */
  sizeBytes(moreBytes = 0): number {
    return CHUNK_BYTES + this.#roomFor(moreBytes);
  }

  /** Makes room for `moreBytes` in one step. */
  reserve(moreBytes: number): void {
    const roomBytes = this.#roomFor(moreBytes);
    if (roomBytes === this.#bytes.length) return;
    const larger = new Uint8Array(roomBytes);
    larger.set(this.bytes);
    this.#bytes = larger;
  }

  append(frame: Uint8Array): void {
    this.reserve(frame.length);
    this.#bytes.set(frame, this.length);
    this.length += frame.length;
  }

  #roomFor(moreBytes: number): number {
    const length = this.length + moreBytes;
    return length > this.#bytes.length ? Math.max(length, this.#bytes.length * 2) : this.#bytes.length;
  }

  /** A copy without spare capacity. */
  clone(): ChunkBytes {
    const copy = new ChunkBytes(this.header, this.length);
    copy.#bytes.set(this.bytes);
    copy.length = this.length;
    return copy;
  }
}
