import { argumentError, OrielError } from "../../base/errors.ts";
import { oneOf } from "../../base/options.ts";
import { ownView } from "../../base/realm.ts";
import type { Column } from "./contract.ts";

/** "f32": 4 bytes a value; "f64": 8. Little-endian. */
export type ValueType = "f32" | "f64";

/** Values of callers: typed arrays, or raw little-endian bytes (a Buffer too) at any address. */
export type Values = Float32Array | Float64Array | Uint8Array;

/**
 * A column over `values`. A typed array is returned as it is. Bytes are read as `type` (default "f32"), and copied if
 * they are not aligned. Throws CORRUPT, with the offset, if the last value is truncated; ARGUMENT for other input.
 */
export function columnOf(argument: string, given: Values, type?: ValueType): Column {
  const values = ownView(given);
  const width = widthOf(argument, values, type);
  if (values instanceof Float32Array || values instanceof Float64Array) return values;
  const bytes = aligned(argument, values, width);
  const count = bytes.byteLength / width;
  return width === 8
    ? new Float64Array(bytes.buffer, bytes.byteOffset, count)
    : new Float32Array(bytes.buffer, bytes.byteOffset, count);
}

/** Bytes per value. Throws ARGUMENT if `values` cannot be a column. */
export function widthOf(argument: string, given: Values, type?: ValueType): 4 | 8 {
  const values = ownView(given);
  if (type !== undefined) oneOf("type", type, "f32", "f64");
  checkAttached(argument, values);
  if (values instanceof Float32Array || values instanceof Float64Array) {
    const own = values instanceof Float32Array ? "f32" : "f64";
    if (type !== undefined && type !== own) throw argumentError("type", type, `"${own}", as ${argument} is`);
    return own === "f32" ? 4 : 8;
  }
  if (!(values instanceof Uint8Array))
    throw argumentError(argument, values, "a Float32Array, a Float64Array, or bytes with { type }");
  return type === "f64" ? 8 : 4;
}

/** Times in ms since 1970, from a BigInt64Array or from little-endian i64 bytes. Errors as `columnOf`. */
export function timesOf(argument: string, given: BigInt64Array | Uint8Array): BigInt64Array {
  checkAttached(argument, given);
  const times = ownView(given);
  if (times instanceof BigInt64Array) return times;
  if (!(times instanceof Uint8Array)) throw argumentError(argument, times, "a BigInt64Array, or bytes of i64 ms");
  const bytes = aligned(argument, times, 8);
  return new BigInt64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
}

/** Throws ARGUMENT for a view of a transferred buffer, which would look like an empty column. */
export function checkAttached(argument: string, view: unknown): void {
  if (!ArrayBuffer.isView(view) || view.byteLength > 0) return;
  try {
    new Uint8Array(view.buffer, 0, 0);
  } catch {
    throw argumentError(argument, view, "an array whose buffer was not transferred");
  }
}

function aligned(argument: string, bytes: Uint8Array, sizeBytes: number): Uint8Array {
  const rest = bytes.byteLength % sizeBytes;
  if (rest !== 0)
    throw new OrielError(
      "CORRUPT",
      `${argument} ends in the middle of a value: ${rest} of ${sizeBytes} bytes at offset ${bytes.byteLength - rest}`,
    );
  // `new Uint8Array(bytes)` copies; a Buffer's own slice would not.
  return bytes.byteOffset % sizeBytes === 0 ? bytes : new Uint8Array(bytes);
}
