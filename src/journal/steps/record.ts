import { script } from "../../generated/journal/record.ts";
import type { PackedStep } from "../../store/contract.ts";
import { STATUS } from "../format/answer.ts";
import { type ChunkSeen, expiryOf, HEADER_BYTES } from "../format/chunk.ts";
import type { ChunkBytes } from "../format/chunk-bytes.ts";
import { encodeFrame, type Frame } from "../format/frames.ts";
import { law } from "../format/law.ts";
import { isVoid, stamped } from "./append.ts";

export interface Event {
  valueType: number;
  producer: number;
  sequence: number;
  value: number;
  retentionMs: number;
  voidAfterMs: number;
}

/** Of what `append` answers, as much as one event needs. */
export interface Done {
  nowMs: number;
  length: number;
  header: ChunkSeen;
}

/** Appends one event to a chunk that is as nearly always; undefined where nothing was changed. Law in lua/journal/record.lua. */
export const record: PackedStep<Event, Done | undefined> = {
  name: "journal/record",
  script,
  keyCount: 1,
  repeatable: true,
  packing: {
    inputBytes: 40,
    answerBytes: 48,
    write(view, at, { valueType, producer, sequence, value, retentionMs, voidAfterMs }) {
      view.setUint8(at, (law.format << 4) | valueType);
      view.setUint16(at + 2, 1, true);
      view.setUint32(at + 4, producer, true);
      view.setUint32(at + 8, sequence, true);
      if (valueType === 1) view.setFloat64(at + 16, value, true);
      else view.setFloat32(at + 16, value, true);
      view.setFloat64(at + 24, retentionMs, true);
      view.setFloat64(at + 32, voidAfterMs, true);
    },
    read(view, at) {
      if (view.getUint8(at) !== STATUS.done) return undefined;
      return {
        length: view.getUint32(at + 4, true),
        nowMs: view.getFloat64(at + 8, true),
        header: seenOf(
          view.getUint32(at + 24, true),
          view.getFloat64(at + 28, true),
          view.getFloat64(at + 36, true),
          view.getUint32(at + 44, true),
          view.getFloat64(at + 16, true),
        ),
      };
    },
  },
  local(keys, key, event, nowMs) {
    const chunk = keys.get(key) as ChunkBytes | undefined;
    if (!chunk || chunk.length <= HEADER_BYTES) return undefined;
    const { header } = chunk;
    const { format, valueType, clock, createdMs } = header;
    if (format !== law.format || clock !== 0 || valueType !== event.valueType) return undefined;
    const stampMs = Math.max(nowMs, header.lastStampMs);
    if (event.retentionMs > header.retentionMs || isVoid(stampMs, event)) return undefined;
    if (nowMs - createdMs > law.oldestChunkMs) return undefined;

    header.lastStampMs = stampMs;
    const frame = stamped(frameOf(event).bytes, header.lastStampMs - createdMs);
    keys.set(key, chunk, chunk.sizeBytes(frame.length), expiryOf(header));
    chunk.header = header;
    chunk.append(frame);
    const { chunkMs, number, birth, lastStampMs } = header;
    return { nowMs, length: chunk.length, header: seenOf(chunkMs, number, createdMs, birth, lastStampMs) };
  },
};

/** The event as `append` takes it: the same frame, so that it counts once where both were done. */
export function frameOf({ valueType, producer, sequence, value }: Event): Frame {
  return encodeFrame(producer, sequence, valueType === 1 ? Float64Array.of(value) : Float32Array.of(value));
}

function seenOf(chunkMs: number, number: number, createdMs: number, birth: number, lastStampMs: number): ChunkSeen {
  return { clock: 0, chunkMs, number, createdMs, birth, lastStampMs, latestMs: -Infinity };
}
