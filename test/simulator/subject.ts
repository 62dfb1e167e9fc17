import { OrielError } from "../../src/base/errors.ts";
import type { JournalAnswer } from "../../src/engine/journal/format/answer.ts";
import { ChunkBytes } from "../../src/engine/journal/format/chunk-bytes.ts";
import { ClosedChunks } from "../../src/engine/journal/format/closed-chunks.ts";
import { constants } from "../../src/engine/journal/format/constants.ts";
import { Dedupe } from "../../src/engine/journal/format/dedupe.ts";
import { FrameNames } from "../../src/engine/journal/format/frame-names.ts";
import { JournalCopy } from "../../src/engine/journal/replica/journal-copy.ts";
import { SealedNames } from "../../src/engine/journal/sealed/names.ts";
import { SealedChunk } from "../../src/engine/journal/sealed/sealed-chunk.ts";
import { ChunkSealer } from "../../src/engine/journal/sealed/sealer.ts";
import { appendAndReadOutlines, readOutlines } from "../../src/engine/journal/sealed/steps/read-outlines.ts";
import { append } from "../../src/engine/journal/steps/append.ts";
import { read } from "../../src/engine/journal/steps/read.ts";
import { readWindow } from "../../src/engine/journal/steps/read-window.ts";
import { closedKey } from "../../src/engine/journal/steps/rotate.ts";
import { jsCodec } from "../../src/engine/kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../src/engine/kernel/choose.ts";
import type { SeriesOptions } from "../../src/engine/series/series-options.ts";
import { Series } from "../../src/entries/js.ts";
import type { Store } from "../../src/store/contract.ts";
import type { Plan } from "./plan.ts";
import type { Random } from "./world/random.ts";

export type { Known } from "../../src/engine/journal/format/answer.ts";
export type { ReadRequest as Read } from "../../src/engine/journal/steps/read.ts";
export { packing } from "../../src/engine/stats/segments/segment.ts";
export { ChunkBytes, closedKey, constants as law };

// A process draws the seed of these tables once. It must not be the first schedule that draws it from its own numbers.
new FrameNames().set(1, 1, 0);

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

/** Steps that also answer with what is found beside the open chunk, and the step whose rules they share. */
const RULES = new Map([
  [appendAndReadOutlines.name, append.name],
  [readOutlines.name, read.name],
  [readWindow.name, read.name],
]);

/** The step whose rules this one has. */
export const ruleOf = (step: string): string => RULES.get(step) ?? step;

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

/** Changes the span for which readers recognise copies. The step still uses the constant. Returns an undo function. */
export function withReadersSpan(dedupeMs: number): () => () => void {
  return () => {
    const { admit, holds } = Dedupe.prototype;
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
    Object.assign(Dedupe.prototype, { admit: within(admit), holds: within(holds) });
    return () => Object.assign(Dedupe.prototype, { admit, holds });
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

/** Seals the closed chunk `back` before the newest one. Returns what became of it. */
export async function sealOne(store: Store, key: string, back: number, pause: () => Promise<void>): Promise<string> {
  const { header } = await store.run(read, key, "header");
  if (!header) return "no journal";
  const sealer = new ChunkSealer(store, key, () => ({ codec: jsCodec, kernel: activeKernel() }));
  // In this world nothing waits for turns of the real event loop.
  sealer.slicesPerTurn = Number.POSITIVE_INFINITY;
  return sealer.seal(header.number - 1 - back, pause);
}

/** Whether a call may fail with this. */
export function isExpected(error: unknown): boolean {
  return error instanceof OrielError;
}

export function eventsOfSealed(bytes: Uint8Array): { atMs: number; value: number }[] {
  const events: { atMs: number; value: number }[] = [];
  for (const { times, values } of SealedChunk.parse(bytes).decode(jsCodec))
    for (const [i, value] of values.entries()) events.push({ atMs: times[i]!, value });
  return events;
}

/** Lets readers take each `every`th frame for a copy. Returns how to undo that. */
export function withFramesTakenForCopies(every: number): () => void {
  const { admit } = Dedupe.prototype;
  let frames = 0;
  return replaced(Dedupe, {
    admit(...frame) {
      return admit.apply(this, frame) && ++frames % every > 0;
    },
  });
}

/** Replaces methods of a class. Returns how to undo that. */
function replaced<T extends object>(of: { prototype: T }, methods: Partial<T>): () => void {
  const usual = Object.fromEntries(Object.keys(methods).map((name) => [name, of.prototype[name as keyof T]]));
  Object.assign(of.prototype, methods);
  return () => void Object.assign(of.prototype, usual);
}

/** Lets a sealer ignore the names of frames in earlier chunks. */
export const withoutEarlierNames = () => replaced(ChunkSealer, { namesIn: async () => new Dedupe() });

/** Lets a sealer go on without the chunks that it does not find. */
export function withoutMissingChunks(): () => void {
  const { earlierThan } = ChunkSealer.prototype;
  return replaced(ChunkSealer, {
    earlierThan(raw, before) {
      const found = before.indexOf(undefined);
      const earlier = earlierThan.call(this, raw, before);
      return earlier === "incomplete"
        ? before
            .slice(0, found)
            .reverse()
            .map((chunk) => chunk!)
        : earlier;
    },
  });
}

/** Lets readers recognise no copy of a frame in a sealed chunk. */
export const withoutSealedNames = () => replaced(SealedNames, { holds: () => false });

/** Lets the names of a producer cover gaps between them. */
export function withGapsCovered(): () => void {
  const { holds } = SealedNames.prototype;
  const widest = 64;
  return replaced(SealedNames, {
    holds(this: SealedNames, producer, sequence, stampMs) {
      const hasBeyond = (step: 1 | -1) =>
        Array.from({ length: widest }, (_, i) => sequence + step * i).some((each) =>
          holds.call(this, producer, each, stampMs),
        );
      return hasBeyond(1) && hasBeyond(-1);
    },
  });
}

/** Lets a copy take the rest of a sealed chunk without a look at the events that it has. */
export function withoutComparison(): () => void {
  const { takeSealed } = JournalCopy.prototype;
  return replaced(JournalCopy, {
    takeSealed(sealed) {
      const held = this.tail!.events.list.flatMap((one) =>
        Array.from({ length: one.count }, (_, k) => [one.timeAt(k), one.values[k]!] as const),
      );
      let at = 0;
      const decode: SealedChunk["decode"] = function* (codec) {
        for (const block of sealed.decode(codec)) {
          for (let i = 0; i < block.values.length && at < held.length; i++, at++)
            [block.times[i], block.values[i]] = held[at]!;
          yield block;
        }
      };
      const { header, end, names } = sealed;
      takeSealed.call(this, { header, end, names, decode } as SealedChunk);
    },
  });
}
