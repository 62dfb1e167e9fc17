import { rotateScript } from "../../../generated/scripts/journal.ts";
import type { Operation } from "../../../store/contract.ts";
import { answerOf, decodeAnswer, type JournalAnswer, STATUS } from "../format/answer.ts";
import { chunkMsOf, expiryOf, guardedUntilMs, guardMsOf } from "../format/chunk.ts";
import { ChunkBytes } from "../format/chunk-bytes.ts";
import { constants } from "../format/constants.ts";

export interface Rotate {
  number: number;
  birth: number;
  nextBirth: number;
}

/** Key of a closed chunk: the open chunk's key and the number. */
export function closedKey(key: string, number: number): string {
  return `${key}:${number}`;
}

/** Closes the open chunk if it is still the one seen. lua/journal/rotate.lua states the rules. */
export const rotate: Operation<Rotate, JournalAnswer> = {
  name: "journal/rotate",
  script: rotateScript,
  arity: 3,
  keyCount: 2,
  keysOf: (key, input) => [key, closedKey(key, input.number)],
  repeatable: true,
  encode: (input) => [input.number, input.birth, input.nextBirth],
  decode: decodeAnswer,
  local(keys, key, input, nowMs) {
    const chunk = keys.get(key) as ChunkBytes | undefined;
    const none = new Uint8Array(0);
    if (!chunk) return answerOf(STATUS.missing, nowMs, undefined, none, false);
    const header = chunk.header;
    if (header.format !== constants.format) return answerOf(STATUS.foreign, nowMs, chunk, none, false);
    if (header.number !== input.number || header.birth !== input.birth)
      return answerOf(STATUS.done, nowMs, chunk, none, false);

    const stampMs = Math.max(nowMs, header.lastStampMs);
    const next = new ChunkBytes({
      ...header,
      guardMs: guardMsOf(guardedUntilMs(header), stampMs),
      chunkMs: chunkMsOf(header.retentionMs),
      number: header.number + 1,
      createdMs: stampMs,
      birth: birthOf(input.nextBirth, stampMs, chunk.length),
      birthBefore: header.birth,
      lastStampMs: stampMs,
    });
    // The expiry counts from the closing, so readers of the next chunk find it while a window may need it.
    const expireAtMs = expiryOf({ ...header, lastStampMs: stampMs });
    const closed = chunk.clone();
    keys.set(closedKey(key, header.number), closed, closed.sizeBytes(), expireAtMs);
    keys.set(key, next, next.sizeBytes(), expireAtMs);
    return answerOf(STATUS.done, nowMs, next, none, false);
  },
};

/**
 * A failover may undo the request. Its repetition then closes another chunk, and the next one must have another birth, also if
 * the chunk lost as many bytes as milliseconds went by.
 */
function birthOf(drawn: number, stampMs: number, length: number): number {
  return (drawn + (stampMs % 2 ** 32) + 65_537 * length) % 2 ** 32 || 1;
}
