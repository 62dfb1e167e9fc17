import { readScript } from "../../generated/scripts/journal.ts";
import type { Operation } from "../../store/contract.ts";
import { answerOf, decodeAnswer, encodeKnown, type JournalAnswer, type Known, STATUS } from "../format/answer.ts";
import type { ChunkBytes } from "../format/chunk-bytes.ts";
import { constants } from "../format/constants.ts";

/** "header": without bytes. Undefined: the reader has nothing and wants the first page. */
export type ReadRequest = Known | undefined | "header";

/** Reads one page of one chunk after the known part. lua/journal/read.lua states the rules. */
export const read: Operation<ReadRequest, JournalAnswer> = {
  name: "journal/read",
  script: readScript,
  arity: 1,
  keyCount: 1,
  repeatable: true,
  encode: (known) => [known === "header" ? "" : encodeKnown(known)],
  decode: decodeAnswer,
  local(keys, key, known, nowMs) {
    const chunk = keys.get(key) as ChunkBytes | undefined;
    const none = new Uint8Array(0);
    if (!chunk) return answerOf(STATUS.missing, nowMs, undefined, none, false);
    const status = chunk.header.format === constants.format ? STATUS.done : STATUS.foreign;
    if (known === "header" || status !== STATUS.done) return answerOf(status, nowMs, chunk, none, false);
    return answerOf(status, nowMs, chunk, none, true, known);
  },
};
