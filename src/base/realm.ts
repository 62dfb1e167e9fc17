/**
 * Values of another realm: in test environments such as jsdom, and in `vm`, the buffers of Node and of its packages are of
 * other classes than those of this code, so that `instanceof` fails.
 */
const VIEWS: Record<string, new (buffer: ArrayBufferLike, byteOffset: number, length: number) => object> = {
  "[object Uint8Array]": Uint8Array,
  "[object Float32Array]": Float32Array,
  "[object Float64Array]": Float64Array,
  "[object BigInt64Array]": BigInt64Array,
};

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value);
}

/** A view of another realm as one of this realm over the same memory. Other values are returned as they are. */
export function ownView<T>(value: T): T {
  if (value instanceof Uint8Array || !ArrayBuffer.isView(value)) return value;
  const Own = VIEWS[tagOf(value)];
  if (Own === undefined || value instanceof Own) return value;
  return new Own(value.buffer, value.byteOffset, (value as unknown as Uint8Array).length) as T;
}

export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array || tagOf(value) === "[object Uint8Array]";
}

export function isDate(value: unknown): value is Date {
  return value instanceof Date || tagOf(value) === "[object Date]";
}
