import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JournalAnswer, Known } from "../../../src/engine/journal/format/answer.ts";
import type { Lookback } from "../../../src/engine/journal/format/closed-chunks.ts";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { encodeFrame } from "../../../src/engine/journal/format/frames.ts";
import { appendAndReadOutlines } from "../../../src/engine/journal/sealed/steps/read-outlines.ts";
import { append } from "../../../src/engine/journal/steps/append.ts";
import { deleteChunk } from "../../../src/engine/journal/steps/delete.ts";
import { read } from "../../../src/engine/journal/steps/read.ts";
import { readWindow } from "../../../src/engine/journal/steps/read-window.ts";
import { record } from "../../../src/engine/journal/steps/record.ts";
import { closedKey, rotate } from "../../../src/engine/journal/steps/rotate.ts";
import { runs } from "../../harness/runs.ts";
import { type OpenStore, onMemory, onRedis6 } from "../../series/contract/stores.ts";

const frame = fc.record({
  values: fc.array(fc.double(), { minLength: 1, maxLength: 5 }),
  /** Own times, ms from now. */
  ats: fc.option(fc.constantFrom([0], [-5000], [-5001], [59_999, 60_000], [60_001], [-90_000, -80_000], [1e6, -1e6])),
});
/** The query of a reader without a copy: ms before now, and bytes that some chunks exceed. */
const lookback = fc.record({
  spanMs: fc.constantFrom(0, 5000, 90_000, 1e9, Number.NEGATIVE_INFINITY),
  fromInMs: fc.constantFrom(Number.POSITIVE_INFINITY, -1e9, 70_000),
  maxBytes: fc.constantFrom(0, 130, 300, 1 << 20),
});
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      frames: fc.array(frame, { minLength: 1, maxLength: 4 }),
      valueType: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.constant(1)),
      clock: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.constant(1)),
      retentionMs: fc.constantFrom(1, 5000, 5000, 5000, 90_000),
      voidInMs: fc.constantFrom(10_000, 10_000, 10_000, 0, -1, 19_999, 20_000),
      known: fc.constantFrom("none" as const, "tail" as const, "nothing" as const, "wrong" as const),
      lookback: fc.option(lookback),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("record" as const),
      value: fc.double(),
      valueType: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.constant(1)),
      retentionMs: fc.constantFrom(1, 5000, 90_000),
      voidInMs: fc.constantFrom(10_000, 10_000, 0, -1, 19_999, 20_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("repeat" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rotate" as const), isRight: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("read" as const),
      back: fc.nat(2),
      known: fc.constantFrom("header" as const, "tail" as const, "nothing" as const, "wrong" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("cold" as const), lookback }) },
  fc.record({
    kind: fc.constant("delete" as const),
    back: fc.nat(2),
    isRight: fc.boolean(),
    voidInMs: fc.constantFrom(1000, 0, -1),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 999, 5000, 60_000, 67_000, -700, -20_000, 46 * 86_400_000),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One side of a pair, which plays the same steps; what it has seen decides what it names next. */
class Player {
  readonly #opened: OpenStore;
  readonly #key: string;
  #seen: Known | undefined;
  #last: Parameters<typeof append.encode>[0] | undefined;
  #sequence = 0;
  readonly #startMs: number;

  constructor(opened: OpenStore) {
    this.#opened = opened;
    this.#startMs = opened.clock.nowMs;
    this.#key = opened.store.keyOf("twin");
  }

  async play(one: Step): Promise<unknown> {
    const { store, clock } = this.#opened;
    const closed = (back: number) => (back === 0 ? this.#key : closedKey(this.#key, (this.#seen?.number ?? 7) - back));
    switch (one.kind) {
      case "wait":
        // Back only while nothing can have expired: whether what did is then there again is the store's own affair.
        if (one.ms > 0 || clock.nowMs - this.#startMs < constants.expirySlackMs) clock.nowMs += one.ms;
        return clock.nowMs;
      case "append": {
        const { valueType, clock: ofEvents, retentionMs } = one;
        const frames = one.frames.map(({ values, ats }) => {
          const column = valueType === 1 ? Float64Array.from(values) : Float32Array.from(values);
          const times = ats && values.map((_, i) => clock.nowMs + ats[i % ats.length]!);
          return encodeFrame(1, ++this.#sequence, column, times ?? undefined);
        });
        const known = one.known === "none" ? one.known : this.#known(one.known);
        const voidAfterMs = clock.nowMs + one.voidInMs;
        this.#last = { valueType, clock: ofEvents, retentionMs, voidAfterMs, birth: 1 + this.#sequence, frames, known };
        if (!one.lookback) return this.#keep(await store.run(append, this.#key, this.#last));
        return this.#keep(
          await store.run(appendAndReadOutlines, this.#key, {
            ...this.#last,
            query: { ...this.#lookback(one.lookback), atMs: undefined, closed: "right", hasPercentiles: true },
          }),
        );
      }
      case "cold":
        return this.#keep(await store.run(readWindow, this.#key, this.#lookback(one.lookback)));
      case "record": {
        const { value, valueType, retentionMs, voidInMs } = one;
        const voidAfterMs = clock.nowMs + voidInMs;
        const event = { valueType, producer: 1, sequence: ++this.#sequence, value, retentionMs, voidAfterMs };
        return store.run(record, this.#key, event);
      }
      case "repeat":
        return this.#last && this.#keep(await store.run(append, this.#key, this.#last));
      case "rotate": {
        const { number = 1, birth = 1 } = this.#seen ?? {};
        const input = { number, birth: one.isRight ? birth : birth + 1, nextBirth: ++this.#sequence };
        return this.#keep(await store.run(rotate, this.#key, input));
      }
      case "read":
        return plain(
          await store.run(read, closed(one.back), one.known === "header" ? "header" : this.#known(one.known)),
        );
      case "delete":
        return store.run(deleteChunk, closed(one.back), {
          birth: one.isRight ? (this.#seen?.birth ?? 0) : -1,
          voidAfterMs: clock.nowMs + one.voidInMs,
          isOpen: one.back === 0,
        });
    }
  }

  #lookback({ spanMs, fromInMs, maxBytes }: typeof lookback extends fc.Arbitrary<infer T> ? T : never): Lookback {
    return { spanMs, fromMs: this.#opened.clock.nowMs + fromInMs, maxBytes };
  }

  #known(which: "tail" | "nothing" | "wrong"): Known | undefined {
    if (!this.#seen || which === "nothing") return undefined;
    if (which === "tail") return this.#seen;
    return { ...this.#seen, place: 64, frame: new Uint8Array(16).fill(3) };
  }

  #keep(answer: JournalAnswer): unknown {
    const { header, length } = answer;
    if (header)
      this.#seen = { number: header.number, birth: header.birth, length, place: 0, frame: new Uint8Array(16) };
    return plain(answer);
  }

  async state(): Promise<unknown> {
    const { keys, bytesOf, expiryOf } = this.#opened;
    const all = (await keys()).sort();
    return Promise.all(all.map(async (key) => [key, await bytesOf(key), await expiryOf(key)]));
  }
}

/** Typed arrays of one process and buffers of another are the same bytes. */
function plain(answer: JournalAnswer): unknown {
  const closedChunks = answer.closedChunks && {
    isMissing: answer.closedChunks.isMissing,
    chunks: answer.closedChunks.chunks.map((chunk) => ({ ...chunk, bytes: Buffer.from(chunk.bytes) })),
  };
  return { ...answer, closedChunks, verdicts: [...answer.verdicts], bytes: Buffer.from(answer.bytes) };
}

describe("the two forms of each step", () => {
  let opened: OpenStore[];
  beforeAll(async () => {
    opened = await Promise.all([onMemory(), onRedis6()]);
  });
  afterAll(() => Promise.all(opened.map((each) => each.close())));

  test("have equal answers, bytes and expiries after every step of any sequence", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        await Promise.all(opened.map((each) => each.clear()));
        opened[1]!.clock.nowMs = opened[0]!.clock.nowMs;
        const [memory, redis] = opened.map((each) => new Player(each)) as [Player, Player];
        for (const one of steps) {
          expect(await redis.play(one)).toEqual(await memory.play(one));
          expect(await redis.state()).toEqual(await memory.state());
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
