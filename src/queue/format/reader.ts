/** Keeps a byte order mark, so that text is unchanged. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Reads a reply from its beginning, value by value. Returned bytes are views of it. */
export class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get at(): number {
    return this.#at;
  }
  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }
  f64(): number {
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }
  u16(): number {
    this.#at += 2;
    return this.#view.getUint16(this.#at - 2, true);
  }
  u8(): number {
    return this.#bytes[this.#at++]!;
  }
  /** Reads a u32 length, then that many bytes. */
  bytes(): Uint8Array {
    const from = this.#at + 4;
    this.#at = from + this.#view.getUint32(this.#at, true);
    return this.#bytes.subarray(from, this.#at);
  }
  text(): string {
    return decoder.decode(this.bytes());
  }
}
