import { deleteScript } from "../../../generated/scripts/journal.ts";
import type { Operation } from "../../../store/contract.ts";
import { guardMsOf, HEADER_BYTES } from "../format/chunk.ts";
import { ChunkBytes } from "../format/chunk-bytes.ts";
import { constants } from "../format/constants.ts";

export const DELETED = { gone: 0, missing: 1, another: 2, void: 3 } as const;

export interface Deletion {
  /** The birth as last seen. */
  birth: number;
  voidAfterMs: number;
  /** The open chunk leaves an empty one with a guard in its place. */
  isOpen: boolean;
}

/** Deletes one chunk. lua/journal/delete.lua states the rules. */
export const deleteChunk: Operation<Deletion, number> = {
  name: "journal/delete",
  script: deleteScript,
  arity: 3,
  keyCount: 1,
  repeatable: true,
  encode: ({ birth, voidAfterMs, isOpen }) => [birth, voidAfterMs, isOpen ? 1 : 0],
  decode: (reply) => reply[0]!,
  local(keys, key, { birth, voidAfterMs, isOpen }, nowMs) {
    const chunk = keys.get(key) as ChunkBytes | undefined;
    if (!chunk) return DELETED.missing;
    if (birth !== chunk.header.birth) return DELETED.another;
    if (nowMs > voidAfterMs) return DELETED.void;
    if (!isOpen) {
      keys.delete(key);
      return DELETED.gone;
    }
    const { header } = chunk;
    const deletedMs = Math.max(nowMs, header.lastStampMs);
    const createdMs = deletedMs + 1;
    const guardEndMs = deletedMs + constants.dedupeMs;
    const empty = new ChunkBytes(
      {
        ...header,
        format: constants.format,
        guardMs: guardMsOf(guardEndMs, createdMs),
        number: Math.max(createdMs, header.number + 1),
        createdMs,
        birth: (birth + createdMs) % 2 ** 32 || 1,
        birthBefore: 0,
        lastStampMs: createdMs,
        completeSinceMs: Number.NEGATIVE_INFINITY,
        latestMs: Number.NEGATIVE_INFINITY,
      },
      HEADER_BYTES,
    );
    keys.set(key, empty, empty.sizeBytes(), guardEndMs + constants.expirySlackMs);
    return DELETED.gone;
  },
};
