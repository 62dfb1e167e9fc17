import { type ChunkHeader, HEADER_BYTES, readHeader, writeHeader } from "./chunk.ts";

/** A chunk as the in-process store keeps it: what Redis keeps as one string, in a buffer that doubles. */
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

  /** The bytes in use, not a copy: valid until the next append. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  append(frame: Uint8Array): void {
    const length = this.length + frame.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, this.#bytes.length * 2));
      larger.set(this.bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(frame, this.length);
    this.length = length;
  }

  /** A copy without spare capacity. */
  clone(): ChunkBytes {
    const copy = new ChunkBytes(this.header, this.length);
    copy.#bytes.set(this.bytes);
    copy.length = this.length;
    return copy;
  }
}
