// Closed chunks of random frames, and the events that a reader counts in them, by the definition.
import type { Known } from "../../../src/engine/journal/format/answer.ts";
import { type ChunkHeader, HEADER_BYTES, writeHeader } from "../../../src/engine/journal/format/chunk.ts";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { encodeFrame } from "../../../src/engine/journal/format/frames.ts";
import type { RawChunk } from "../../../src/engine/journal/sealed/raw-chunk.ts";
import { RANDOM_BITS, VALUES, valuesOf } from "../../kernel/blocks/shapes.ts";

export const CREATED_MS = 1_790_000_000_000;
export const SHAPES = [...Object.keys(VALUES), RANDOM_BITS];

export interface Frame {
  producer: number;
  sequence: number;
  stampMs: number;
  times: number[];
  values: number[];
}

export interface MadeChunk extends RawChunk {
  frames: Frame[];
  end: Known;
}

type Random = () => number;
const below = (random: Random, n: number) => Math.floor(n * random());

export function headerOf(valueType: number, lastStampMs: number): ChunkHeader {
  return {
    format: constants.format,
    valueType,
    guardMs: 0,
    clock: 0,
    chunkMs: 1000,
    number: 5,
    createdMs: CREATED_MS,
    birth: 77,
    birthBefore: 76,
    lastStampMs,
    retentionMs: 60_000,
    completeSinceMs: Number.NEGATIVE_INFINITY,
    latestMs: Number.NEGATIVE_INFINITY,
  };
}

/** A chunk of `count` frames, some of them copies of earlier ones, some with times of their own. */
export function madeChunk(random: Random, shape: string, count: number, valueType = below(random, 2)): MadeChunk {
  const frames: Frame[] = [];
  const parts: Uint8Array[] = [];
  const next = [7, 0xffff_fffe, 100];
  let sinceMs = 0;
  for (let i = 0; i < count; i++) {
    if (random() < 0.6) sinceMs += below(random, random() < 0.02 ? 15_000 : 4);
    const stampMs = CREATED_MS + sinceMs;
    const earlier = random() < 0.1 ? frames[below(random, frames.length)] : undefined;
    const producer = earlier?.producer ?? below(random, 3);
    if (!earlier) next[producer] = (next[producer]! + (random() < 0.05 ? 3 : 1)) >>> 0;
    const sequence = earlier?.sequence ?? next[producer]!;
    const column = valuesOf(shape, valueType === 1 ? Float64Array : Float32Array, 1 + below(random, 40), random);
    const isDated = random() < 0.3;
    const times = Array.from(column, () => (isDated ? stampMs - below(random, 50) : stampMs));
    const { bytes } = encodeFrame(producer, sequence, column, isDated ? times : undefined);
    new DataView(bytes.buffer).setUint32(12, sinceMs, true);
    parts.push(bytes);
    frames.push({ producer, sequence, stampMs, times, values: [...column] });
  }
  const header = headerOf(valueType, CREATED_MS + sinceMs);
  const head = new Uint8Array(HEADER_BYTES);
  writeHeader(head, header);
  const bytes = new Uint8Array(Buffer.concat([head, ...parts]));
  const last = parts.at(-1)!;
  const place = bytes.length - last.length;
  return {
    header,
    bytes,
    frames,
    end: { number: 5, birth: 77, length: bytes.length, place, frame: last.slice(0, 16) },
  };
}

/** The frames that count: none of whose name was counted less than 20 s before. */
export function countedOf(frames: readonly Frame[], before: readonly Frame[] = []): Frame[] {
  const counted = [...before];
  const found: Frame[] = [];
  for (const frame of frames) {
    const { producer, sequence, stampMs } = frame;
    const isCopy = counted.some(
      (one) => one.producer === producer && one.sequence === sequence && stampMs - one.stampMs < constants.dedupeMs,
    );
    if (isCopy) continue;
    counted.push(frame);
    found.push(frame);
  }
  return found;
}
