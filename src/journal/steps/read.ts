import { script } from "../../generated/journal/read.ts";
import type { Operation } from "../../store/contract.ts";
import { type Answer, answerOf, decodeAnswer, encodeKnown, type Known, STATUS } from "../format/answer.ts";
import type { ChunkBytes } from "../format/chunk-bytes.ts";
import { law } from "../format/law.ts";

/** "header": no bytes wanted; undefined: nothing known, all wanted. */
export type Read = Known | undefined | "header";

/** Reads one page of one chunk from what is known on; law in lua/journal/read.lua. */
export const read: Operation<Read, Answer> = {
  name: "journal/read",
  script,
  arity: 1,
  keyCount: 1,
  repeatable: true,
  encode: (known) => [known === "header" ? "" : encodeKnown(known)],
  decode: decodeAnswer,
  local(keys, key, known, nowMs) {
    const chunk = keys.get(key) as ChunkBytes | undefined;
    const none = new Uint8Array(0);
    if (!chunk) return answerOf(STATUS.missing, nowMs, undefined, none, false);
    const status = chunk.header.format === law.format ? STATUS.done : STATUS.foreign;
    if (known === "header" || status !== STATUS.done) return answerOf(status, nowMs, chunk, none, false);
    return answerOf(status, nowMs, chunk, none, true, known);
  },
};
