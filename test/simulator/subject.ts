import { Series } from "../../src/entries/js.ts";
import type { JournalAnswer } from "../../src/journal/format/answer.ts";
import { ChunkBytes } from "../../src/journal/format/chunk-bytes.ts";
import { ClosedChunks } from "../../src/journal/format/closed-chunks.ts";
import { constants } from "../../src/journal/format/constants.ts";
import { Dedupe } from "../../src/journal/format/dedupe.ts";
import { FrameRanges } from "../../src/journal/format/frame-ranges.ts";
import type { SeriesOptions } from "../../src/series/series-options.ts";
import type { Store } from "../../src/store/contract.ts";
import type { Plan } from "./plan.ts";
import type { Random } from "./world/random.ts";

export type { Known } from "../../src/journal/format/answer.ts";
export { summaryKey } from "../../src/journal/format/summary.ts";
export type { ReadRequest as Read } from "../../src/journal/steps/read.ts";
export { closedKey } from "../../src/journal/steps/rotate.ts";
export { ChunkBytes, constants as law };

/** The only file of the simulator that knows the code under test. */
export type Subject = Series;

export const NAME = "s";

export function openSeries(store: Store, plan: Plan, retentionMs: number, random: Random): Subject {
  return new Series(store, NAME, optionsOf(plan, retentionMs, random));
}

export function optionsOf({ modes, clock }: Plan, retentionMs: number, random: Random): SeriesOptions {
  return { ...modes, retention: retentionMs, clock, entropy: () => random.u32() };
}

/** The bytes that Redis would hold. */
export function bytesOf(value: unknown): Uint8Array {
  if (value instanceof ChunkBytes) return value.bytes;
  throw new Error(`a key holds ${String(value)}, not a chunk`);
}

/** One step in a few words, for the trace. */
export function describe(input: unknown, output: unknown): string {
  const { frames } = (input ?? {}) as { frames?: { bytes: Uint8Array }[] };
  const answer = (output ?? {}) as Partial<JournalAnswer>;
  if (answer.nowMs === undefined) return "";
  const names = frames?.map(({ bytes }) => new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true));
  const { number, birth } = answer.header ?? {};
  const sent = names ? `frames ${names} verdicts ${answer.verdicts}` : `from ${answer.from}`;
  return `${sent}: status ${answer.status} at ${answer.nowMs % 1e9}, chunk ${number} birth ${birth} length ${answer.length}`;
}

/** Lets a reader take what was not found beside the open chunk for gone. Returns how to undo that. */
export function withoutAsking(): () => void {
  const { isOver } = ClosedChunks.prototype;
  ClosedChunks.prototype.isOver = () => true;
  return () => Object.assign(ClosedChunks.prototype, { isOver });
}

/** Lets a reader believe whatever was found beside the open chunk. Returns how to undo that. */
export function withoutFoundBirths(): () => void {
  const { linkedTo } = ClosedChunks.prototype;
  ClosedChunks.prototype.linkedTo = function* () {
    yield* this.chunks;
  };
  return () => Object.assign(ClosedChunks.prototype, { linkedTo });
}

/** Lets nobody look for a frame in what a summary names. Returns how to undo that. */
export function withoutNamesInSummaries(): () => void {
  const { holds } = FrameRanges.prototype;
  FrameRanges.prototype.holds = () => false;
  return () => Object.assign(FrameRanges.prototype, { holds });
}

/** Changes the span for which readers recognise copies. The step still uses the constant. Returns an undo function. */
export function withReadersSpan(dedupeMs: number): () => () => void {
  return () => {
    const { admit, holds, rangesAt } = Dedupe.prototype;
    const within = <A extends unknown[], R>(run: (this: Dedupe, ...given: A) => R) =>
      function (this: Dedupe, ...given: A): R {
        const usualMs = constants.dedupeMs;
        constants.dedupeMs = dedupeMs;
        try {
          return run.apply(this, given);
        } finally {
          constants.dedupeMs = usualMs;
        }
      };
    Object.assign(Dedupe.prototype, { admit: within(admit), holds: within(holds), rangesAt: within(rangesAt) });
    return () => Object.assign(Dedupe.prototype, { admit, holds, rangesAt });
  };
}

/** Lets no frame of a newer stretch be found in an older one put before it. Returns how to undo that. */
export function withoutHeadCheck(): () => void {
  const { admit, holds } = Dedupe.prototype;
  let isAdmitting = false;
  Dedupe.prototype.admit = function (...frame) {
    isAdmitting = true;
    const isNew = admit.apply(this, frame);
    isAdmitting = false;
    return isNew;
  };
  Dedupe.prototype.holds = function (...frame) {
    return isAdmitting && holds.apply(this, frame);
  };
  return () => Object.assign(Dedupe.prototype, { admit, holds });
}
