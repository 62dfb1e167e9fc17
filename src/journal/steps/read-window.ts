import * as layout from "../../generated/layouts/journal.ts";
import { appendAndReadWindowScript, readWindowScript } from "../../generated/scripts/journal.ts";
import type { Argument, Keyspace, StepOfArguments } from "../../store/contract.ts";
import { decodeAnswer, type JournalAnswer, STATUS } from "../format/answer.ts";
import { HEADER_BYTES, needsOlder, seriesNowMs } from "../format/chunk.ts";
import { ChunkBytes } from "../format/chunk-bytes.ts";
import {
  type ClosedChunk,
  ClosedChunks,
  decodeClosedChunks,
  encodeLookback,
  type Lookback,
} from "../format/closed-chunks.ts";
import { constants } from "../format/constants.ts";
import { type Append, append } from "./append.ts";
import { read } from "./read.ts";
import { closedKey } from "./rotate.ts";

/** Each call is sent alone: one may occupy the server for about 40 ms, and other clients are served before the next. */
export const MAX_CALL_BYTES = 1;

/** Reads a window for a reader without a copy. lua/journal/closed-chunks.lua states the rules. */
export const readWindow: StepOfArguments<Lookback, JournalAnswer> = /* @__PURE__ */ withClosedChunks<
  undefined,
  Lookback
>(read as StepOfArguments<undefined, JournalAnswer>, "journal/read-window", readWindowScript, (lookback) => [
  undefined,
  lookback,
]);

export interface AppendAndReadWindow extends Append {
  lookback: Lookback;
}

/** Appends, and reads a window for a process without a copy. lua/journal/append-and-read-window.lua states the rules. */
export const appendAndReadWindow: StepOfArguments<AppendAndReadWindow, JournalAnswer> =
  /* @__PURE__ */ withClosedChunks<Append, AppendAndReadWindow>(
    append,
    "journal/append-and-read-window",
    appendAndReadWindowScript,
    (input) => [input, input.lookback],
  );

function withClosedChunks<Inner, Input>(
  step: StepOfArguments<Inner, JournalAnswer>,
  name: string,
  script: StepOfArguments<Inner, JournalAnswer>["script"],
  partsOf: (input: Input) => [Inner, Lookback],
): StepOfArguments<Input, JournalAnswer> {
  return {
    name,
    script,
    arity: step.arity + 1,
    keyCount: 1,
    repeatable: true,
    maxBytes: MAX_CALL_BYTES,
    encode(input): Argument[] {
      const [inner, lookback] = partsOf(input);
      return [...step.encode(inner), encodeLookback(lookback)];
    },
    decode(reply) {
      const size = new DataView(reply.buffer, reply.byteOffset).getUint32(layout.SIZED_LENGTH_AT, true);
      const rest = reply.subarray(layout.SIZED_BYTES + size);
      return {
        ...decodeAnswer(reply.subarray(layout.SIZED_BYTES, layout.SIZED_BYTES + size)),
        closedChunks: rest.length === 0 ? undefined : decodeClosedChunks(rest),
      };
    },
    local(keys, key, input, nowMs) {
      const [inner, lookback] = partsOf(input);
      const answer = step.local(keys, key, inner, nowMs);
      const isJournal = answer.status === STATUS.done && answer.header !== undefined;
      return { ...answer, closedChunks: isJournal ? closedChunksOf(keys, key, answer, lookback) : undefined };
    },
  };
}

function closedChunksOf(
  keys: Keyspace,
  key: string,
  { header, nowMs, length }: JournalAnswer,
  lookback: Lookback,
): ClosedChunks {
  const chunks: ClosedChunk[] = [];
  let next = header!;
  let isMissing = false;
  let sizeBytes = length;
  const fromMs = Math.min(lookback.fromMs, seriesNowMs(next, nowMs) - lookback.spanMs);
  let { number } = next;
  while (needsOlder(next, fromMs) && chunks.length < constants.maxClosedChunks) {
    const found = keys.find(closedKey(key, --number));
    isMissing = found === undefined;
    if (!(found instanceof ChunkBytes)) break;
    sizeBytes += found.length;
    if (found.length < HEADER_BYTES || sizeBytes > lookback.maxBytes) break;
    const { bytes } = found;
    next = found.header;
    chunks.push({ header: next, length: bytes.length, bytes });
  }
  return new ClosedChunks(chunks, isMissing);
}
