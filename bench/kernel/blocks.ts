import { uniform } from "../events.ts";
import { COMPRESSORS, type Compressor } from "../rivals/compression/compressor.ts";
import { median } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";

export interface BlocksOptions {
  events: number;
  turns: number;
}

export const FULL_BLOCKS: BlocksOptions = { events: 1_000_000, turns: 5 };
export const SMALL_BLOCKS: BlocksOptions = { events: 3_000, turns: 1 };

type Random = () => number;

const normal = (random: Random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const latency = (random: Random) => 5 * Math.exp(0.8 * normal(random));
const word = new DataView(new ArrayBuffer(4));

/** Values of successive events, in ms. */
const VALUES: Record<string, (random: Random) => number> = {
  "lognormal to 1 µs": (random) => Math.round(1000 * latency(random)) / 1000,
  "lognormal to 1 ms": (random) => Math.round(latency(random)),
  "lognormal, unrounded": latency,
  ties: (random) => Math.round(8 * random()),
  "99 % zero": (random) => (random() < 0.99 ? 0 : Math.round(1000 * latency(random)) / 1000),
  "random bits": (random) => {
    // A signalling NaN does not survive a JavaScript number.
    word.setUint32(0, random() * 2 ** 32);
    return Number.isNaN(word.getFloat32(0)) ? 1 : word.getFloat32(0);
  },
};

/** The ms between an event and the one before. */
const STEPS: Record<string, (random: Random, i: number) => number> = {
  "batches of 32": (random, i) => (i % 32 === 0 ? 64 * random() : 0),
  "one by one": (random) => -Math.log(1 - random()),
};

interface Timings {
  encode: number[];
  decode: number[];
  values: number[];
  sorted: number[];
}

/** Bytes and speed of events in several stored forms. Each is decoded and compared, bit by bit. */
export function benchBlocks(options: BlocksOptions): Report {
  const report: Report = {
    bench: "blocks",
    title: `Bytes of ${options.events.toLocaleString("en-US")} events, f32, about one event a ms`,
    rows: [],
    notes: [
      "encode and decode: million events a second, with times. values: values alone, in order of arrival. sorted: values alone, sorted in each block. Medians over turns, in which all take part.",
      "Lognormal latencies have a median of 5 ms and sigma 0.8. Every form was decoded and compared with the events, bit by bit.",
      "oriel blocks have 1024 events and statistics in their headers. Gorilla, Chimp and zstd store one stream, which can only be decoded from its beginning.",
      "Gorilla and Chimp are textbook adapters in JavaScript for floats of 32 bits; their speed says little about other implementations.",
    ],
  };
  const able = COMPRESSORS.filter((compressor) => {
    const reason = compressor.missing?.();
    if (reason) report.notes.push(`${compressor.name} was skipped: ${reason}.`);
    return !reason;
  });
  for (const [shape, value] of Object.entries(VALUES))
    for (const [arrival, step] of Object.entries(STEPS)) {
      const random = uniform(41);
      const values = Float32Array.from({ length: options.events }, () => value(random));
      let ms = 1_790_000_000_000;
      const times = Float64Array.from({ length: options.events }, (_, i) => {
        ms += step(random, i);
        return Math.floor(ms);
      });
      report.rows.push(...benchEach(able, `${shape}, ${arrival}`, times, values, options.turns));
    }
  return report;
}

function benchEach(
  able: readonly Compressor[],
  events: string,
  times: Float64Array,
  values: Float32Array,
  turns: number,
): Row[] {
  const sizes = able.map(() => 0);
  // One for all turns, because the first write to new memory is slow.
  const out = { times: new Float64Array(times.length), values: new Float32Array(values.length) };
  const timings = able.map((): Timings => ({ encode: [], decode: [], values: [], sorted: [] }));
  for (let turn = 0; turn < turns; turn++)
    for (const [i, compressor] of able.entries())
      sizes[i] = takeTurn(compressor, times, values, out, timings[i] as Timings);
  return able.map(({ name }, i) => {
    const rate = (timesMs: number[]) => values.length / median(timesMs) / 1000;
    const { encode, decode, values: valuesOnly, sorted } = timings[i] as Timings;
    return {
      events,
      by: name,
      bytesPerEvent: (sizes[i] as number) / values.length,
      encode: rate(encode),
      decode: rate(decode),
      values: rate(valuesOnly),
      sorted: rate(sorted),
    };
  });
}

/** Returns the stored bytes. Throws if the events come back changed. */
function takeTurn(
  compressor: Compressor,
  times: Float64Array,
  values: Float32Array,
  { times: timesOut, values: valuesOut }: { times: Float64Array; values: Float32Array },
  timings: Timings,
): number {
  timesOut.fill(0);
  valuesOut.fill(0);
  const stored = timed(timings.encode, () => compressor.encode(times, values));
  timed(timings.decode, () => compressor.decode(stored, timesOut, valuesOut));
  if (!sameBytes(times, timesOut) || !sameBytes(values, valuesOut)) throw new Error(`${compressor.name} lost an event`);
  if (compressor.decodeValues) timed(timings.values, () => compressor.decodeValues?.(stored, valuesOut));
  if (!sameBytes(values, valuesOut)) throw new Error(`${compressor.name} lost a value`);
  if (compressor.decodeSorted) timed(timings.sorted, () => compressor.decodeSorted?.(stored, valuesOut));
  return stored.reduce((sum, bytes) => sum + bytes.length, 0);
}

function timed<T>(timesMs: number[], run: () => T): T {
  const startMs = performance.now();
  const result = run();
  timesMs.push(performance.now() - startMs);
  return result;
}

function sameBytes(a: ArrayBufferView, b: ArrayBufferView): boolean {
  return (
    Buffer.compare(
      new Uint8Array(a.buffer, a.byteOffset, a.byteLength),
      new Uint8Array(b.buffer, b.byteOffset, b.byteLength),
    ) === 0
  );
}
