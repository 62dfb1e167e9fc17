import * as layout from "../../generated/layouts/journal.ts";
import { script } from "../../generated/summary/approximate.ts";
import type { StepOfArguments } from "../../store/contract.ts";
import { type Answer, answerOf, STATUS } from "../format/answer.ts";
import type { ChunkBytes } from "../format/chunk-bytes.ts";
import { law } from "../format/law.ts";
import type { Reach } from "../format/older.ts";
import { endOf, FIXED_BYTES, summaryKey } from "../format/summary.ts";
import { cold, MOST_CALL_BYTES } from "./cold.ts";

/** What was found of a journal of which nothing is held. */
export interface Found {
  /** As cold answers; behind a summary, as read answers who holds what it tells of. */
  answer: Answer;
  /** The bytes of a summary, if one was found. */
  summary: Uint8Array | undefined;
}

/** Reads a journal of which nothing is held from a summary on; law in lua/summary/approximate.lua. */
export const approximate: StepOfArguments<Reach, Found> = {
  name: "summary/approximate",
  script,
  arity: 2,
  keyCount: 1,
  repeatable: true,
  mostBytes: MOST_CALL_BYTES,
  encode: (reach) => cold.encode(reach),
  decode(reply) {
    const size = new DataView(reply.buffer, reply.byteOffset).getUint32(layout.SIZED_LENGTH_AT, true);
    const summary = size === 0 ? undefined : reply.subarray(layout.SIZED_BYTES, layout.SIZED_BYTES + size);
    return { answer: cold.decode(reply.subarray(layout.SIZED_BYTES + size)), summary };
  },
  local(keys, key, reach, nowMs) {
    const open = keys.get(key) as ChunkBytes | undefined;
    const found = keys.find(summaryKey(key)) as ChunkBytes | undefined;
    if (open?.header.format === law.format && found && found.length >= FIXED_BYTES) {
      const { header, bytes } = found;
      const answer = answerOf(STATUS.done, nowMs, open, new Uint8Array(0), true, endOf(bytes));
      const goesOn = answer.continued || open.header.number > header.number;
      if (header.format === law.summaryFormat && goesOn)
        return { answer: { ...answer, older: undefined }, summary: bytes };
    }
    return { answer: cold.local(keys, key, reach, nowMs), summary: undefined };
  },
};
