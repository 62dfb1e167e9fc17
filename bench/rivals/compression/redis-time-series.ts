/**
 * What Redis publishes about RedisTimeSeries. These numbers are quoted, not measured: the module is not a part of the Redis that
 * the benches start.
 */
const PUBLISHED = {
  /** "Each sample is a 128-bit tuple": https://redis.io/docs/data-types/timeseries */
  sampleBytes: 16,
  /** "about 90% memory reduction", except for "highly irregular timestamps or values": https://redis.io/commands/ts.create/ */
  savedPercent: 90,
} as const;

export const PUBLISHED_FORMS = [
  { by: "RedisTimeSeries, uncompressed", bytesPerEvent: PUBLISHED.sampleBytes },
  {
    by: "RedisTimeSeries, compressed",
    bytesPerEvent: (PUBLISHED.sampleBytes * (100 - PUBLISHED.savedPercent)) / 100,
  },
] as const;

export const PUBLISHED_NOTES = [
  "RedisTimeSeries was not measured. Redis publishes 16 bytes for a sample (https://redis.io/docs/data-types/timeseries) and a reduction of about 90 % by Gorilla's algorithm, except for highly irregular times or values (https://redis.io/commands/ts.create/).",
  "The rows of Gorilla are that algorithm on these events, with values of 32 bits instead of 64.",
  "RedisTimeSeries keeps one value for each time in ms. It cannot hold the batches of 32, whose events have one time, and has no rows there.",
] as const;
