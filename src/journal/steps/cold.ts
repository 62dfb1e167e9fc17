import { script as appendScript } from "../../generated/journal/append-cold.ts";
import { script as readScript } from "../../generated/journal/cold.ts";
import * as layout from "../../generated/layouts/journal.ts";
import type { Argument, Keyspace, StepOfArguments } from "../../store/contract.ts";
import { type Answer, decodeAnswer, STATUS } from "../format/answer.ts";
import { HEADER_BYTES, needsOlder, seriesNowMs } from "../format/chunk.ts";
import { ChunkBytes } from "../format/chunk-bytes.ts";
import { law } from "../format/law.ts";
import { type ClosedChunk, decodeOlder, encodeReach, Older, type Reach } from "../format/older.ts";
import { type Append, append } from "./append.ts";
import { read } from "./read.ts";
import { closedKey } from "./rotate.ts";

/** Each goes by itself: the server may be some 40 ms at one, and serves others before the next. */
export const MOST_CALL_BYTES = 1;

/** Reads a journal of which nothing is held; law in lua/journal/older.lua. */
export const cold: StepOfArguments<Reach, Answer> = /* @__PURE__ */ withOlder<undefined, Reach>(
  read as StepOfArguments<undefined, Answer>,
  "journal/cold",
  readScript,
  (reach) => [undefined, reach],
);

export interface ColdAppend extends Append {
  reach: Reach;
}

/** Appends to a journal of which nothing is held, and reads it; law in lua/journal/append-cold.lua. */
export const appendCold: StepOfArguments<ColdAppend, Answer> = /* @__PURE__ */ withOlder<Append, ColdAppend>(
  append,
  "journal/append-cold",
  appendScript,
  (input) => [input, input.reach],
);

function withOlder<Inner, Input>(
  step: StepOfArguments<Inner, Answer>,
  name: string,
  script: StepOfArguments<Inner, Answer>["script"],
  partsOf: (input: Input) => [Inner, Reach],
): StepOfArguments<Input, Answer> {
  return {
    name,
    script,
    arity: step.arity + 1,
    keyCount: 1,
    repeatable: true,
    mostBytes: MOST_CALL_BYTES,
    encode(input): Argument[] {
      const [inner, reach] = partsOf(input);
      return [...step.encode(inner), encodeReach(reach)];
    },
    decode(reply) {
      const size = new DataView(reply.buffer, reply.byteOffset).getUint32(layout.SIZED_LENGTH_AT, true);
      const rest = reply.subarray(layout.SIZED_BYTES + size);
      return {
        ...decodeAnswer(reply.subarray(layout.SIZED_BYTES, layout.SIZED_BYTES + size)),
        older: rest.length === 0 ? undefined : decodeOlder(rest),
      };
    },
    local(keys, key, input, nowMs) {
      const [inner, reach] = partsOf(input);
      const answer = step.local(keys, key, inner, nowMs);
      const isJournal = answer.status === STATUS.done && answer.header !== undefined;
      return { ...answer, older: isJournal ? olderOf(keys, key, answer, reach) : undefined };
    },
  };
}

function olderOf(keys: Keyspace, key: string, { header, nowMs, length }: Answer, reach: Reach): Older {
  const chunks: ClosedChunk[] = [];
  let next = header!;
  let isMissing = false;
  let sizeBytes = length;
  const fromMs = Math.min(reach.fromMs, seriesNowMs(next, nowMs) - reach.spanMs);
  let { number } = next;
  while (needsOlder(next, fromMs) && chunks.length < law.mostFoundChunks) {
    const found = keys.find(closedKey(key, --number));
    isMissing = found === undefined;
    if (!(found instanceof ChunkBytes)) break;
    sizeBytes += found.length;
    if (found.length < HEADER_BYTES || sizeBytes > reach.mostBytes) break;
    const { bytes } = found;
    next = found.header;
    chunks.push({ header: next, length: bytes.length, bytes });
  }
  return new Older(chunks, isMissing);
}
