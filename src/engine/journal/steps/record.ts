import * as layout from "../../../generated/layouts/journal.ts";
import { recordScript } from "../../../generated/scripts/journal.ts";
import type { PackedStep } from "../../../store/contract.ts";
import { packed } from "../../../store/delivery/packed.ts";
import { STATUS } from "../format/answer.ts";
import { type ChunkSeen, expiryOf, HEADER_BYTES } from "../format/chunk.ts";
import type { ChunkBytes } from "../format/chunk-bytes.ts";
import { constants } from "../format/constants.ts";
import { encodeEvent, type Frame } from "../format/frames.ts";
import { isVoid, stamped } from "./append.ts";

export interface RecordedEvent {
  valueType: number;
  producer: number;
  sequence: number;
  value: number;
  retentionMs: number;
  voidAfterMs: number;
}

/** The part of the answer of `append` that one event needs. */
export interface RecordResult {
  nowMs: number;
  length: number;
  header: ChunkSeen;
}

/** Fast path: appends one undated event to an existing chunk in its normal state. Undefined if it changed nothing. lua/journal/record.lua states the rules. */
export const record: PackedStep<RecordedEvent, RecordResult | undefined> = {
  name: "journal/record",
  script: recordScript,
  keyCount: 1,
  repeatable: true,
  packing: /* @__PURE__ */ packed({
    inputBytes: layout.RECORD_BYTES,
    answerBytes: layout.RECORDED_BYTES,
    write(view, at, { valueType, producer, sequence, value, retentionMs, voidAfterMs }) {
      view.setUint8(at + layout.RECORD_FLAGS_AT, (constants.format << 4) | valueType);
      view.setUint16(at + layout.RECORD_COUNT_AT, 1, true);
      view.setUint32(at + layout.RECORD_PRODUCER_AT, producer, true);
      view.setUint32(at + layout.RECORD_SEQUENCE_AT, sequence, true);
      if (valueType === 1) view.setFloat64(at + layout.RECORD_VALUE_AT, value, true);
      else view.setFloat32(at + layout.RECORD_VALUE_AT, value, true);
      view.setFloat64(at + layout.RECORD_RETENTION_MS_AT, retentionMs, true);
      view.setFloat64(at + layout.RECORD_VOID_AFTER_MS_AT, voidAfterMs, true);
    },
    read(view, at) {
      if (view.getUint8(at + layout.RECORDED_STATUS_AT) !== STATUS.done) return undefined;
      return {
        length: view.getUint32(at + layout.RECORDED_LENGTH_AT, true),
        nowMs: view.getFloat64(at + layout.RECORDED_NOW_MS_AT, true),
        header: seenOf(
          view.getUint32(at + layout.RECORDED_CHUNK_MS_AT, true),
          view.getFloat64(at + layout.RECORDED_NUMBER_AT, true),
          view.getFloat64(at + layout.RECORDED_CREATED_MS_AT, true),
          view.getUint32(at + layout.RECORDED_BIRTH_AT, true),
          view.getFloat64(at + layout.RECORDED_STAMP_MS_AT, true),
        ),
      };
    },
  }),
  local(keys, key, event, nowMs) {
    const chunk = keys.get(key) as ChunkBytes | undefined;
    if (!chunk || chunk.length <= HEADER_BYTES) return undefined;
    const { header } = chunk;
    const { format, valueType, clock, guardMs, createdMs } = header;
    if (format !== constants.format || clock !== 0 || guardMs !== 0 || valueType !== event.valueType) return undefined;
    const stampMs = Math.max(nowMs, header.lastStampMs);
    if (event.retentionMs > header.retentionMs || isVoid(stampMs, event)) return undefined;
    if (nowMs - createdMs > constants.maxChunkAgeMs) return undefined;

    header.lastStampMs = stampMs;
    const frame = stamped(frameOf(event).bytes, header.lastStampMs - createdMs);
    keys.set(key, chunk, chunk.sizeBytes(frame.length), expiryOf(header));
    chunk.header = header;
    chunk.append(frame);
    const { chunkMs, number, birth, lastStampMs } = header;
    return { nowMs, length: chunk.length, header: seenOf(chunkMs, number, createdMs, birth, lastStampMs) };
  },
};

/** The event as a frame for `append`. It is the same frame, so the event counts once if both steps ran. */
export function frameOf({ valueType, producer, sequence, value }: RecordedEvent): Frame {
  return encodeEvent(producer, sequence, valueType, value);
}

function seenOf(chunkMs: number, number: number, createdMs: number, birth: number, lastStampMs: number): ChunkSeen {
  return { clock: 0, guardMs: 0, chunkMs, number, createdMs, birth, lastStampMs, latestMs: Number.NEGATIVE_INFINITY };
}
