const LOW_BITS = 7;
const MORE = 1 << LOW_BITS;

/** Appends numbers to bytes. */
export class ByteWriter {
  readonly #bytes: number[] = [];
  readonly #word = new DataView(new ArrayBuffer(8));

  /** A whole number from 0: seven bits in each byte, so that small ones take one. */
  putCount(value: number): void {
    let rest = value;
    for (; rest >= MORE; rest = Math.floor(rest / MORE)) this.#bytes.push((rest % MORE) | MORE);
    this.#bytes.push(rest);
  }

  putFloat32(value: number): void {
    this.#word.setFloat32(0, value);
    for (let i = 0; i < 4; i++) this.#bytes.push(this.#word.getUint8(i));
  }

  putFloat64(value: number): void {
    this.#word.setFloat64(0, value);
    for (let i = 0; i < 8; i++) this.#bytes.push(this.#word.getUint8(i));
  }

  take(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

/** Reads what a ByteWriter wrote. */
export class ByteReader {
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#view.byteLength;
  }

  takeCount(): number {
    let value = 0;
    for (let unit = 1; ; unit *= MORE) {
      const byte = this.#view.getUint8(this.#at++);
      value += (byte % MORE) * unit;
      if (byte < MORE) return value;
    }
  }

  takeFloat32(): number {
    this.#at += 4;
    return this.#view.getFloat32(this.#at - 4);
  }

  takeFloat64(): number {
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8);
  }
}
