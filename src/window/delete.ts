import { script } from "../generated/window/delete.ts";
import type { Operation } from "../store/contract.ts";
import type { ChunkBytes } from "./chunk-bytes.ts";

export const DELETED = { gone: 0, missing: 1, another: 2 } as const;

/** Deletes one chunk; `input` is the birth seen. Law in lua/window/delete.lua. */
export const deleteChunk: Operation<number, number> = {
  name: "window/delete",
  script,
  arity: 1,
  keyCount: 1,
  repeatable: true,
  encode: (birth) => [birth],
  decode: (reply) => reply[0],
  local(keys, key, birth) {
    const chunk = keys.get(key) as ChunkBytes | undefined;
    if (!chunk) return DELETED.missing;
    if (birth !== chunk.header.birth) return DELETED.another;
    keys.delete(key);
    return DELETED.gone;
  },
};
