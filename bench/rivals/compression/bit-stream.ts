/** Bits in a growing list of bytes, the highest of a byte first. */
export class BitWriter {
  #bytes = new Uint8Array(1024);
  #bits = 0;

  /** Writes the lowest `count` bits, 0 to 32. */
  put(value: number, count: number): void {
    if (this.#bits + count > 8 * this.#bytes.length) {
      const grown = new Uint8Array(2 * this.#bytes.length);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    for (let left = count; left > 0; ) {
      const room = 8 - (this.#bits & 7);
      const some = Math.min(room, left);
      const part = (value >>> (left - some)) & ((1 << some) - 1);
      const at = this.#bits >> 3;
      this.#bytes[at] = (this.#bytes[at] as number) | (part << (room - some));
      this.#bits += some;
      left -= some;
    }
  }

  take(): Uint8Array {
    return this.#bytes.slice(0, (this.#bits + 7) >> 3);
  }
}

export class BitReader {
  readonly #bytes: Uint8Array;
  #bits = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The next `count` bits, 0 to 32, as an unsigned number. */
  take(count: number): number {
    let value = 0;
    for (let left = count; left > 0; ) {
      const room = 8 - (this.#bits & 7);
      const some = Math.min(room, left);
      const byte = this.#bytes[this.#bits >> 3] as number;
      value = (value << some) | ((byte >> (room - some)) & ((1 << some) - 1));
      this.#bits += some;
      left -= some;
    }
    return value >>> 0;
  }

  /** How many ones come before a zero, at most `most`. */
  ones(most: number): number {
    let count = 0;
    while (count < most && this.take(1) === 1) count++;
    return count;
  }
}
