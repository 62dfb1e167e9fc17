import { deleteScript } from "../../generated/scripts/journal.ts";
import type { Operation } from "../../store/contract.ts";
import type { ChunkBytes } from "../format/chunk-bytes.ts";

export const DELETED = { gone: 0, missing: 1, another: 2, void: 3 } as const;

export interface Deletion {
  /** The birth as last seen. */
  birth: number;
  voidAfterMs: number;
}

/** Deletes one chunk. lua/journal/delete.lua states the rules. */
export const deleteChunk: Operation<Deletion, number> = {
  name: "journal/delete",
  script: deleteScript,
  arity: 2,
  keyCount: 1,
  repeatable: true,
  encode: ({ birth, voidAfterMs }) => [birth, voidAfterMs],
  decode: (reply) => reply[0]!,
  local(keys, key, { birth, voidAfterMs }, nowMs) {
    const chunk = keys.get(key) as ChunkBytes | undefined;
    if (!chunk) return DELETED.missing;
    if (birth !== chunk.header.birth) return DELETED.another;
    if (nowMs > voidAfterMs) return DELETED.void;
    keys.delete(key);
    return DELETED.gone;
  },
};
