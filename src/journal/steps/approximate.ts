import * as layout from "../../generated/layouts/journal.ts";
import { approximateScript } from "../../generated/scripts/summary.ts";
import type { StepOfArguments } from "../../store/contract.ts";
import { answerOf, type JournalAnswer, STATUS } from "../format/answer.ts";
import type { ChunkBytes } from "../format/chunk-bytes.ts";
import type { Lookback } from "../format/closed-chunks.ts";
import { constants } from "../format/constants.ts";
import { endOf, FIXED_BYTES, summaryKey } from "../format/summary.ts";
import { MAX_CALL_BYTES, readWindow } from "./read-window.ts";

/** The answer to a reader without a copy. */
export interface SummaryRead {
  /** The answer of readWindow; with a summary, the answer of read from the end of the summary on. */
  answer: JournalAnswer;
  /** The summary's bytes, if there is one. */
  summary: Uint8Array | undefined;
}

/** Reads a summary and the events after it, for a reader without a copy. lua/summary/approximate.lua states the rules. */
export const approximate: StepOfArguments<Lookback, SummaryRead> = {
  name: "summary/approximate",
  script: approximateScript,
  arity: 2,
  keyCount: 1,
  repeatable: true,
  maxBytes: MAX_CALL_BYTES,
  encode: (lookback) => readWindow.encode(lookback),
  decode(reply) {
    const size = new DataView(reply.buffer, reply.byteOffset).getUint32(layout.SIZED_LENGTH_AT, true);
    const summary = size === 0 ? undefined : reply.subarray(layout.SIZED_BYTES, layout.SIZED_BYTES + size);
    return { answer: readWindow.decode(reply.subarray(layout.SIZED_BYTES + size)), summary };
  },
  local(keys, key, lookback, nowMs) {
    const open = keys.get(key) as ChunkBytes | undefined;
    const found = keys.find(summaryKey(key)) as ChunkBytes | undefined;
    if (open?.header.format === constants.format && found && found.length >= FIXED_BYTES) {
      const { header, bytes } = found;
      const answer = answerOf(STATUS.done, nowMs, open, new Uint8Array(0), true, endOf(bytes));
      const isLater = open.header.number > header.number && open.header.birthBefore !== 0;
      const isContinued = answer.continued || isLater;
      if (header.format === constants.summaryFormat && isContinued)
        return { answer: { ...answer, closedChunks: undefined }, summary: bytes };
    }
    return { answer: readWindow.local(keys, key, lookback, nowMs), summary: undefined };
  },
};
