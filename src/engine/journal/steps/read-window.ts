import * as layout from "../../../generated/layouts/journal.ts";
import { readWindowScript } from "../../../generated/scripts/journal.ts";
import type { Argument, Keyspace, StepOfArguments } from "../../../store/contract.ts";
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
import { read } from "./read.ts";
import { closedKey } from "./rotate.ts";

/** Each call is sent alone: one may occupy the server for about 40 ms, and other clients are served before the next. */
const MAX_CALL_BYTES = 1;

/** How a step asks for parts of closed chunks instead of whole ones. */
interface PartsOfChunks<L extends Lookback> {
  maxChunks(): number;
  encode(lookback: L): Uint8Array;
  /** `rawCreatedMs`: creation of the next chunk that is not sealed. */
  partOf(chunk: ChunkBytes, lookback: L, fromMs: number, presentMs: number, rawCreatedMs: number): Uint8Array;
}

const WHOLE: PartsOfChunks<Lookback> = {
  maxChunks: () => constants.maxClosedChunks,
  encode: encodeLookback,
  partOf: ({ bytes }) => bytes,
};

/** Reads a window for a reader without a copy. lua/journal/closed-chunks.lua states the rules. */
export const readWindow: StepOfArguments<Lookback, JournalAnswer> = /* @__PURE__ */ withClosedChunks<
  undefined,
  Lookback
>(read as StepOfArguments<undefined, JournalAnswer>, "journal/read-window", readWindowScript, (lookback) => [
  undefined,
  lookback,
]);

/** A step that also answers with the closed chunks of a window. `partsOf` gives the input of `step`, and the window. */
export function withClosedChunks<Inner, Input, L extends Lookback = Lookback>(
  step: StepOfArguments<Inner, JournalAnswer>,
  name: string,
  script: StepOfArguments<Inner, JournalAnswer>["script"],
  partsOf: (input: Input) => [Inner, L],
  { maxChunks, encode, partOf }: PartsOfChunks<L> = WHOLE,
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
      return [...step.encode(inner), encode(lookback)];
    },
    decode(reply) {
      const size = new DataView(reply.buffer, reply.byteOffset).getUint32(layout.SIZED_LENGTH_AT, true);
      const rest = reply.subarray(layout.SIZED_BYTES + size);
      const answer = decodeAnswer(reply.subarray(layout.SIZED_BYTES, layout.SIZED_BYTES + size));
      return { ...answer, closedChunks: answer.header && rest.length > 0 ? decodeClosedChunks(rest) : undefined };
    },
    local(keys, key, input, nowMs) {
      const [inner, lookback] = partsOf(input);
      const answer = step.local!(keys, key, inner, nowMs);
      const isJournal = answer.status === STATUS.done && answer.header !== undefined;
      const part = (chunk: ChunkBytes, ...times: [number, number, number]) => partOf(chunk, lookback, ...times);
      return {
        ...answer,
        closedChunks: isJournal ? closedChunksOf(keys, key, answer, lookback, maxChunks(), part) : undefined,
      };
    },
  };
}

function closedChunksOf(
  keys: Keyspace,
  key: string,
  { header, nowMs, length }: JournalAnswer,
  lookback: Lookback,
  maxChunks: number,
  partOf: (chunk: ChunkBytes, fromMs: number, presentMs: number, rawCreatedMs: number) => Uint8Array,
): ClosedChunks {
  const chunks: ClosedChunk[] = [];
  let next = header!;
  let isMissing = false;
  let sizeBytes = length;
  const presentMs = seriesNowMs(next, nowMs);
  const fromMs = Math.min(lookback.fromMs, presentMs - lookback.spanMs);
  let rawCreatedMs = next.createdMs;
  let { number } = next;
  while (needsOlder(next, fromMs) && chunks.length < maxChunks) {
    const found = keys.find(closedKey(key, --number));
    isMissing = found === undefined;
    if (!(found instanceof ChunkBytes)) break;
    const bytes = partOf(found, fromMs, presentMs, rawCreatedMs);
    sizeBytes += bytes.length;
    if (bytes.length < HEADER_BYTES || sizeBytes > lookback.maxBytes) break;
    next = found.header;
    if (next.format === constants.format) rawCreatedMs = next.createdMs;
    chunks.push({ header: next, length: bytes.length, bytes });
  }
  return new ClosedChunks(chunks, isMissing);
}
