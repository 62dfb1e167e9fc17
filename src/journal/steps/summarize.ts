import { summarizeScript } from "../../generated/scripts/summary.ts";
import type { Operation } from "../../store/contract.ts";
import { agrees, type Known } from "../format/answer.ts";
import { expiryOf, HEADER_BYTES, readHeader } from "../format/chunk.ts";
import { ChunkBytes } from "../format/chunk-bytes.ts";
import { constants } from "../format/constants.ts";
import { endOf, summaryKey } from "../format/summary.ts";

/** Writes a summary beside its journal. Returns whether it was written. lua/summary/summarize.lua states the rules. */
export const summarize: Operation<Uint8Array, boolean> = {
  name: "summary/summarize",
  script: summarizeScript,
  arity: 1,
  keyCount: 2,
  keysOf: (key) => [key, summaryKey(key)],
  repeatable: true,
  encode: (summary) => [summary],
  decode: (reply) => reply[0] === 0,
  local(keys, key, summary) {
    const open = keys.get(key) as ChunkBytes | undefined;
    if (open?.header.format !== constants.format || !isContinued(open, endOf(summary))) return false;
    const kept = new ChunkBytes(readHeader(summary), summary.length);
    kept.append(summary.subarray(HEADER_BYTES));
    keys.set(summaryKey(key), kept, kept.sizeBytes(), expiryOf(open.header));
    return true;
  },
};

function isContinued(open: ChunkBytes, end: Known): boolean {
  const { number, birthBefore } = open.header;
  return number === end.number + 1 ? birthBefore === end.birth : agrees(open, end);
}
