import { argumentError, OrielError } from "../../base/errors.ts";
import { ownView } from "../../base/realm.ts";
import { checkAttached, type Values, type ValueType, widthOf } from "./column.ts";
import type { Source } from "./contract.ts";

const MIN_I64 = -(2n ** 63n);
const MAX_I64 = 2n ** 63n - 1n;

/** A source over columns or raw bytes, without a copy. Throws CORRUPT for truncated bytes, else ARGUMENT. */
export function sourceOf(
  givenTimes: BigInt64Array | Uint8Array,
  givenValues: Values,
  type: ValueType | undefined,
  first: bigint,
  last: bigint,
  sorted: boolean,
): Source {
  const [times, values] = [ownView(givenTimes), ownView(givenValues)];
  if (!(times instanceof BigInt64Array) && !(times instanceof Uint8Array))
    throw argumentError("times", times, "a BigInt64Array, or bytes of i64 ms");
  checkAttached("times", times);
  const instants = wholeBytes("times", times, 8);
  const width = widthOf("values", values, type);
  const bytes = wholeBytes("values", values, width);
  const count = instants.byteLength / 8;
  if (bytes.byteLength / width !== count)
    throw argumentError("values.length", bytes.byteLength / width, `${count}, the number of times`);
  const source: Source = { times: instants, values: bytes, wide: width === 8, begin: 0, end: count, first, last };
  if (first > MAX_I64 || last < MIN_I64 || first > last) return { ...source, times: null, end: 0 };
  if (first < MIN_I64) source.first = MIN_I64;
  if (last > MAX_I64) source.last = MAX_I64;
  if (!sorted) return source;
  const begin = countBelow(instants, count, source.first);
  const end = source.last === MAX_I64 ? count : countBelow(instants, count, source.last + 1n);
  return { ...source, times: null, begin, end };
}

/** Count of the times before `limit`. The times never decrease. */
function countBelow(times: Uint8Array, count: number, limit: bigint): number {
  const view = new DataView(times.buffer, times.byteOffset, times.byteLength);
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (view.getBigInt64(8 * middle, true) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function wholeBytes(argument: string, values: ArrayBufferView, sizeBytes: number): Uint8Array {
  const rest = values.byteLength % sizeBytes;
  if (rest !== 0)
    throw new OrielError(
      "CORRUPT",
      `${argument} ends in the middle of a value: ${rest} of ${sizeBytes} bytes at offset ${values.byteLength - rest}`,
    );
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
