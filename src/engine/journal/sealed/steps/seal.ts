import { sealScript } from "../../../../generated/scripts/journal.ts";
import type { Operation } from "../../../../store/contract.ts";
import { expiryOf, HEADER_BYTES, readHeader } from "../../format/chunk.ts";
import { ChunkBytes } from "../../format/chunk-bytes.ts";
import { constants } from "../../format/constants.ts";
import { closedKey } from "../../steps/rotate.ts";

export const SEALED = { done: 0, missing: 1, already: 2, another: 3, notSmaller: 4 } as const;

export interface Seal {
  /** The sealed form. Its header is that of the chunk, with `constants.sealedFormat`. */
  bytes: Uint8Array;
  /** Length of the chunk that was read. */
  length: number;
  /** Birth of the next chunk, read at the same instant. */
  nextBirth: number;
}

/**
 * Puts the sealed form of a closed chunk in its place, if it still is the chunk that was read. lua/journal/seal.lua states the
 * rules.
 */
export const seal: Operation<Seal, number> = {
  name: "journal/seal",
  script: sealScript,
  arity: 3,
  keyCount: 3,
  keysOf(key, { bytes }) {
    const { number } = readHeader(bytes);
    return [key, closedKey(key, number), closedKey(key, number + 1)];
  },
  repeatable: true,
  encode: ({ bytes, length, nextBirth }) => [bytes, length, nextBirth],
  decode: (reply) => reply[0]!,
  local(keys, key, { bytes, length, nextBirth }) {
    const { number } = readHeader(bytes);
    const chunk = keys.get(closedKey(key, number)) as ChunkBytes | undefined;
    if (!chunk) return SEALED.missing;
    const { header } = chunk;
    if (header.format === constants.sealedFormat) return SEALED.already;
    if (header.format !== constants.format || bytes[0] !== constants.sealedFormat) return SEALED.another;
    if (chunk.length !== length || !haveSameHeader(chunk.bytes, bytes)) return SEALED.another;
    if (bytes.length >= length) return SEALED.notSmaller;
    const next = (keys.get(closedKey(key, number + 1)) ?? keys.get(key)) as ChunkBytes | undefined;
    if (!next) return SEALED.another;
    const { createdMs, birth, birthBefore, ...its } = next.header;
    if (its.number !== number + 1 || birth !== nextBirth || birthBefore !== header.birth) return SEALED.another;
    const sealed = new ChunkBytes(readHeader(bytes), bytes.length);
    sealed.append(bytes.subarray(HEADER_BYTES));
    keys.set(closedKey(key, number), sealed, sealed.sizeBytes(), expiryOf({ ...header, lastStampMs: createdMs }));
    return SEALED.done;
  },
};

/** Whether two chunks have the same header, except for the format. */
function haveSameHeader(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 1; i < HEADER_BYTES; i++) if (a[i] !== b[i]) return false;
  return true;
}
