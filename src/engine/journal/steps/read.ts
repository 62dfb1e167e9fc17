import { readScript } from "../../../generated/scripts/journal.ts";
import type { Operation } from "../../../store/contract.ts";
import { answerOf, decodeAnswer, encodeKnown, type JournalAnswer, type Known, STATUS } from "../format/answer.ts";
import type { ChunkBytes } from "../format/chunk-bytes.ts";
import { constants } from "../format/constants.ts";
import { rawEndOf } from "../sealed/raw-end.ts";

/** "header": without bytes. Undefined: the reader has nothing and wants the first page. */
export type ReadRequest = Known | undefined | "header";

/** Reads one page of one chunk, raw or sealed, after the known part. lua/journal/read.lua states the rules. */
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
    if (chunk.header.format === constants.sealedFormat) return readSealed(chunk, nowMs, known);
    const status = chunk.header.format === constants.format ? STATUS.done : STATUS.foreign;
    if (known === "header" || status !== STATUS.done) return answerOf(status, nowMs, chunk, none, false);
    return answerOf(status, nowMs, chunk, none, true, known);
  },
};

/** A caller that has all of the chunk before it was sealed gets no bytes. The others get the sealed bytes from the beginning. */
function readSealed(chunk: ChunkBytes, nowMs: number, known: ReadRequest): JournalAnswer {
  const none = new Uint8Array(0);
  if (known === "header") return answerOf(STATUS.done, nowMs, chunk, none, false);
  if (known === undefined || known.birth === 0) return answerOf(STATUS.done, nowMs, chunk, none, true, known);
  const end = rawEndOf(chunk.bytes);
  const isWhole =
    known.number === end.number &&
    known.birth === end.birth &&
    known.length === end.length &&
    known.place === end.place &&
    known.frame.every((byte, i) => byte === end.frame[i]);
  if (!isWhole) return answerOf(STATUS.done, nowMs, chunk, none, true);
  const answer = answerOf(STATUS.done, nowMs, chunk, none, false);
  return { ...answer, continued: true, from: known.length, length: end.length };
}
