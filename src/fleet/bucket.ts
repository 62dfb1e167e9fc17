/** Fields of a bucket, f64 each, in stored order. */
export const START = 0;
export const ALLOWED = 1;
export const DENIED = 2;
export const SUCCESS = 3;
export const FAILURE = 4;
export const LATENCY_SUM = 5;
export const LATENCY_MIN = 6;
export const LATENCY_MAX = 7;
const FIELDS = 8;
export const BUCKET_BYTES = 8 * FIELDS;

/** The last day of a Date. */
const LATEST_MS = 8.64e15;

export function newBucket(startMs: number): Float64Array {
  return Float64Array.of(startMs, 0, 0, 0, 0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
}

/** Whether the bucket is valid: the start is a time, counts and sums are 0 or more, response times are numbers. */
export function isValidBucket(bucket: Float64Array): boolean {
  if (!(bucket[START]! >= 0 && bucket[START]! <= LATEST_MS)) return false;
  for (let field = ALLOWED; field <= LATENCY_SUM; field++)
    if (!(bucket[field]! >= 0 && bucket[field]! < Infinity)) return false;
  return !Number.isNaN(bucket[LATENCY_MIN]!) && !Number.isNaN(bucket[LATENCY_MAX]!);
}

/** Adds the counts of `other`. */
export function merge(bucket: Float64Array, other: Float64Array): void {
  for (let field = ALLOWED; field <= LATENCY_SUM; field++) bucket[field]! += other[field]!;
  bucket[LATENCY_MIN] = Math.min(bucket[LATENCY_MIN]!, other[LATENCY_MIN]!);
  bucket[LATENCY_MAX] = Math.max(bucket[LATENCY_MAX]!, other[LATENCY_MAX]!);
}

/** Encodes a bucket as stored: little-endian on every platform. */
export function packBucket(bucket: Float64Array): Uint8Array {
  const bytes = new Uint8Array(BUCKET_BYTES);
  const view = new DataView(bytes.buffer);
  for (let field = 0; field < FIELDS; field++) view.setFloat64(8 * field, bucket[field]!, true);
  return bytes;
}

/** Decodes consecutive buckets. */
export function unpackBuckets(bytes: Uint8Array): Float64Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / BUCKET_BYTES }, (_, i) =>
    Float64Array.from({ length: FIELDS }, (_, field) => view.getFloat64(BUCKET_BYTES * i + 8 * field, true)),
  );
}
