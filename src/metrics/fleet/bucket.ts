import * as layout from "../../generated/layouts/fleet.ts";

const FIELD_BYTES = 8;

/** Fields of a bucket in stored order, f64 each. */
export const START = layout.BUCKET_START_MS_AT / FIELD_BYTES;
export const ALLOWED = layout.BUCKET_ALLOWED_AT / FIELD_BYTES;
export const DENIED = layout.BUCKET_DENIED_AT / FIELD_BYTES;
export const SUCCESS = layout.BUCKET_SUCCESS_AT / FIELD_BYTES;
export const FAILURE = layout.BUCKET_FAILURE_AT / FIELD_BYTES;
export const LATENCY_SUM = layout.BUCKET_LATENCY_SUM_AT / FIELD_BYTES;
export const LATENCY_MIN = layout.BUCKET_LATENCY_MIN_AT / FIELD_BYTES;
export const LATENCY_MAX = layout.BUCKET_LATENCY_MAX_AT / FIELD_BYTES;
const FIELDS = layout.BUCKET_BYTES / FIELD_BYTES;

export function newBucket(startMs: number): Float64Array {
  return Float64Array.of(startMs, 0, 0, 0, 0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
}

/** Whether the bucket is valid: the start is a time, counts and sums are 0 or more, response times are numbers. */
export function isValidBucket(bucket: Float64Array): boolean {
  if (!(bucket[START]! >= 0 && bucket[START]! <= layout.LATEST_MS)) return false;
  for (let field = ALLOWED; field <= LATENCY_SUM; field++)
    if (!(bucket[field]! >= 0 && bucket[field]! < Number.POSITIVE_INFINITY)) return false;
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
  const bytes = new Uint8Array(layout.BUCKET_BYTES);
  const view = new DataView(bytes.buffer);
  for (let field = 0; field < FIELDS; field++) view.setFloat64(FIELD_BYTES * field, bucket[field]!, true);
  return bytes;
}

/** Decodes consecutive buckets. */
export function unpackBuckets(bytes: Uint8Array): Float64Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / layout.BUCKET_BYTES }, (_, i) =>
    Float64Array.from({ length: FIELDS }, (_, field) =>
      view.getFloat64(layout.BUCKET_BYTES * i + FIELD_BYTES * field, true),
    ),
  );
}
