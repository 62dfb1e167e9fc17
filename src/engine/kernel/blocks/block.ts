import { argumentError } from "../../../base/errors.ts";
import {
  BLOCK_BYTES,
  FORM,
  GROUP,
  MAX_IN_BLOCK,
  ORDER,
  TIMING,
  TOTALS_BYTES,
} from "../../../generated/layouts/block.ts";
import type { Column, Kernel } from "../contract.ts";
import type { BlockCodec, BlockDecoder, BlockHead, BlockParts, EncodedValues, Outline, SomeParts } from "./contract.ts";
import { checkLength, damaged, writeHead } from "./head.ts";
import { writeLeast } from "./js/decode.ts";
import { decodeSamples, groupsOf, writePlaces } from "./js/ladder.ts";
import { writeTotals } from "./totals.ts";

/** Encodes 1 to 1024 events. `kernel` gives the header its statistics. The parts follow each other in one buffer. */
export function encodeBlock(codec: BlockCodec, kernel: Kernel, times: Float64Array, values: Column): BlockParts {
  const count = values.length;
  if (count === 0 || count > MAX_IN_BLOCK) throw argumentError("values.length", count, `1 to ${MAX_IN_BLOCK}`);
  if (times.length !== count) throw argumentError("times.length", times.length, `${count}, the number of values`);
  const encodedTimes = codec.encodeTimes(times);
  const { earliestMs, latestMs, runs } = encodedTimes;
  const timeBytes = encodedTimes.bytes ?? bytesOf(times);
  const { fields, samples, exceptions, body, order } = smallestOf(codec.encode(values), values);
  const headBytes = BLOCK_BYTES + samples.length + exceptions.length;
  const summary = kernel.summary(values);
  // Each field by its name: objects that are spread here cost more than the codec.
  const head: BlockHead = {
    form: fields.form,
    order: fields.order,
    decimals: fields.decimals,
    shift: fields.shift,
    distinct: fields.distinct,
    exceptions: fields.exceptions,
    top: fields.top,
    integer: fields.integer,
    keyLow: fields.keyLow,
    keyHigh: fields.keyHigh,
    wide: values instanceof Float64Array,
    timing: encodedTimes.bytes ? (runs > 0 ? TIMING.runs : TIMING.each) : TIMING.raw,
    count,
    runs: encodedTimes.bytes ? runs : 0,
    headBytes,
    bodyBytes: body.length,
    orderBytes: order.length,
    timesBytes: timeBytes.length,
    nanCount: summary.nanCount,
    positiveInfinityCount: summary.positiveInfinityCount,
    negativeInfinityCount: summary.negativeInfinityCount,
  };
  const bodyAt = headBytes + TOTALS_BYTES;
  const bytes = new Uint8Array(bodyAt + body.length + order.length + timeBytes.length);
  bytes.set(samples, BLOCK_BYTES);
  bytes.set(exceptions, BLOCK_BYTES + samples.length);
  bytes.set(body, bodyAt);
  bytes.set(order, bodyAt + body.length);
  bytes.set(timeBytes, bodyAt + body.length + order.length);
  const parts = cut(bytes, head);
  writeHead(head, parts.head);
  writeTotals({ earliestMs, latestMs, summary }, parts.totals);
  return parts;
}

function bytesOf({ buffer, byteOffset, byteLength }: Column): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** The encoded values, or the values themselves if these are not longer. */
function smallestOf(encoded: EncodedValues, values: Column): EncodedValues {
  const { samples, exceptions, body, order } = encoded;
  if (samples.length + exceptions.length + body.length + order.length < values.byteLength) return encoded;
  const none = new Uint8Array(0);
  const rest = { order: ORDER.none, decimals: 0, shift: 0, distinct: 0, exceptions: 0, top: 0, integer: 0 };
  return {
    fields: { ...rest, form: FORM.raw, keyLow: 0, keyHigh: 0 },
    samples: none,
    exceptions: none,
    body: bytesOf(values),
    order: none,
  };
}

function cut(bytes: Uint8Array, { headBytes, bodyBytes, orderBytes }: BlockHead): BlockParts {
  const bodyAt = headBytes + TOTALS_BYTES;
  const orderAt = bodyAt + bodyBytes;
  return {
    head: bytes.subarray(0, headBytes),
    totals: bytes.subarray(headBytes, bodyAt),
    body: bytes.subarray(bodyAt, orderAt),
    order: bytes.subarray(orderAt, orderAt + orderBytes),
    times: bytes.subarray(orderAt + orderBytes),
  };
}

/** The parts of a whole block. Throws CORRUPT. */
export function partsOf(block: Uint8Array, head: BlockHead): BlockParts {
  checkLength("block", block, head.headBytes + TOTALS_BYTES + head.bodyBytes + head.orderBytes + head.timesBytes);
  return cut(block, head);
}

/** Writes the values in order of arrival to `out`, or in ascending order of their bits without `parts.order`. Throws CORRUPT. */
export function decodeValues(codec: BlockDecoder, head: BlockHead, parts: SomeParts, out: Column): void {
  const { head: bytes, body, order } = parts;
  checkLength("head", bytes, head.headBytes);
  if (!body || body.length !== head.bodyBytes)
    throw damaged(`its values have ${body?.length} bytes; it names ${head.bodyBytes}`);
  if (order) checkLength("order", order, head.orderBytes);
  if (head.form === FORM.raw) new Uint8Array(out.buffer, out.byteOffset, out.byteLength).set(body);
  else if (!codec.decode(head, bytes, body, order, out)) throw damaged("its values do not fit their length");
}

type SmallColumn = Float32Array | Float64Array | Uint32Array;

/** Values of one memory. */
const SLAB_VALUES = 4096;

/**
 * Small arrays that share a memory. An array with a memory of its own costs more than the few values that are written to it, and a
 * query makes thousands. A memory lives as long as one of its arrays.
 */
class Slab<T extends SmallColumn> {
  readonly #make: (count: number) => T;
  #memory: T | undefined;
  #used = 0;

  constructor(make: (count: number) => T) {
    this.#make = make;
  }

  /** An array with any content. */
  take(count: number): T {
    if (!this.#memory || this.#used + count > this.#memory.length) {
      this.#memory = this.#make(Math.max(count, SLAB_VALUES));
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += count;
    return this.#memory.subarray(from, this.#used) as T;
  }
}

/** Samples, and zeros after them. One memory for all calls, because an outline has many blocks. */
let padded = new Uint8Array(1024);
let paddedView = new DataView(padded.buffer);

const placesSlab = new Slab((count) => new Uint32Array(count));
const slab32 = new Slab((count) => new Float32Array(count));
const slab64 = new Slab((count) => new Float64Array(count));

function columnOf({ wide }: BlockHead, count: number): Column {
  return wide ? slab64.take(count) : slab32.take(count);
}

/** The groups of a block that is not raw. Throws CORRUPT. */
export function outlineOf(head: BlockHead, bytes: Uint8Array): Outline {
  const { samples } = tailOf(head, bytes);
  const paddedBytes = samples.length + GROUP * 8;
  if (paddedBytes > padded.length) {
    padded = new Uint8Array(2 * paddedBytes);
    paddedView = new DataView(padded.buffer);
  }
  padded.set(samples);
  padded.fill(0, samples.length, paddedBytes);
  const regular = head.count - head.exceptions;
  const { first, end } = decodeSamples(paddedView, 0, regular, head.top);
  for (let i = 0; i * GROUP < regular; i++) if (first[i + 1]! < first[i]!) throw damaged("its samples do not ascend");
  const places = placesSlab.take(groupsOf(regular) + 1);
  writePlaces(first, regular, head.shift, places);
  if (end !== samples.length || places.at(-1) !== head.bodyBytes) throw damaged("its samples do not fit its lengths");
  const least = columnOf(head, places.length - 1);
  writeLeast(head, first.subarray(0, least.length), least);
  return { places, least };
}

/** The regular values of groups `first` to `last` - 1, ascending. `body`: the bytes of these groups alone. Throws CORRUPT. */
export function decodeGroups(
  codec: BlockDecoder,
  head: BlockHead,
  bytes: Uint8Array,
  body: Uint8Array,
  first: number,
  last: number,
): Column {
  checkLength("head", bytes, head.headBytes);
  const some = Math.min(head.count - head.exceptions, last * GROUP) - first * GROUP;
  const out = columnOf(head, some);
  if (!codec.decodeGroups(head, bytes, body, first, last, out)) throw damaged("its values do not fit their length");
  return out;
}

/** The values that are in no group, in order of their bits. */
export function exceptionsOf(head: BlockHead, bytes: Uint8Array): Column {
  const { buffer } = new Uint8Array(tailOf(head, bytes).exceptions);
  return head.wide ? new Float64Array(buffer) : new Float32Array(buffer);
}

function tailOf(head: BlockHead, bytes: Uint8Array): { samples: Uint8Array; exceptions: Uint8Array } {
  checkLength("head", bytes, head.headBytes);
  const at = head.headBytes - head.exceptions * (head.wide ? 8 : 4);
  return { samples: bytes.subarray(BLOCK_BYTES, at), exceptions: bytes.subarray(at) };
}
