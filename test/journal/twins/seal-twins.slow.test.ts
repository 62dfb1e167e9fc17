import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HEADER_BYTES, readHeader } from "../../../src/engine/journal/format/chunk.ts";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { encodeFrame } from "../../../src/engine/journal/format/frames.ts";
import { SEALED, type Seal, seal } from "../../../src/engine/journal/sealed/steps/seal.ts";
import { append } from "../../../src/engine/journal/steps/append.ts";
import { deleteChunk } from "../../../src/engine/journal/steps/delete.ts";
import { closedKey, rotate } from "../../../src/engine/journal/steps/rotate.ts";
import { runs, seen } from "../../harness/runs.ts";
import { type OpenStore, onMemory, onRedis6 } from "../../series/contract/stores.ts";

const spoil = fc.constantFrom(
  ...([undefined, undefined, undefined, "format", "header", "cut", "length", "next birth", "not smaller"] as const),
);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("append" as const), count: fc.constantFrom(1, 3, 50) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("rotate" as const) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("seal" as const), back: fc.nat(3), spoil }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("repeat" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), back: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), back: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 5000, -700, 70_000) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A sealed form as far as the step looks at it: the header, and fewer bytes. */
function sealedOf(chunk: Buffer, spoilt: Extract<Step, { kind: "seal" }>["spoil"]): Buffer {
  const rest = chunk.subarray(
    HEADER_BYTES,
    spoilt === "not smaller" ? undefined : Math.ceil((HEADER_BYTES + chunk.length) / 2),
  );
  const sealed = Buffer.concat([chunk.subarray(0, HEADER_BYTES), rest]);
  sealed[0] = spoilt === "format" ? constants.format : constants.sealedFormat;
  // A bit of the last stamp, which no key depends on.
  if (spoilt === "header") sealed[32]! ^= 1;
  return sealed;
}

/** One side of a pair, which plays the same steps. */
class Player {
  readonly #opened: OpenStore;
  readonly #key: string;
  #sequence = 0;
  #last: Seal | undefined;
  #number = 7;

  constructor(opened: OpenStore) {
    this.#opened = opened;
    this.#key = opened.store.keyOf("sealed");
  }

  async play(one: Step): Promise<unknown> {
    const { store, clock, bytesOf, remove } = this.#opened;
    const keyOf = (back: number) => (back === 0 ? this.#key : closedKey(this.#key, this.#number - back));
    switch (one.kind) {
      case "wait":
        clock.nowMs += one.ms;
        return clock.nowMs;
      case "append": {
        const frames = [encodeFrame(1, ++this.#sequence, new Float32Array(one.count))];
        const voidAfterMs = clock.nowMs + 15_000;
        const call = { valueType: 0, clock: 0, retentionMs: 5000, voidAfterMs, birth: this.#sequence, frames };
        const { status, header } = await store.run(append, this.#key, { ...call, known: "none" });
        this.#number = header?.number ?? this.#number;
        return status;
      }
      case "rotate": {
        const open = await bytesOf(this.#key);
        const { number, birth } = open ? readHeader(open) : { number: 7, birth: 7 };
        const input = { number, birth, nextBirth: 100 + this.#sequence };
        const { status, header } = await store.run(rotate, this.#key, input);
        this.#number = header?.number ?? this.#number;
        return status;
      }
      case "delete": {
        const chunk = await bytesOf(keyOf(one.back));
        const input = { birth: chunk ? readHeader(chunk).birth : 7, voidAfterMs: clock.nowMs, isOpen: one.back === 0 };
        return store.run(deleteChunk, keyOf(one.back), input);
      }
      case "remove":
        return remove(keyOf(one.back));
      case "repeat":
        return this.#last && store.run(seal, this.#key, this.#last);
      case "seal":
        return this.#seal(keyOf(one.back + 1), one.spoil);
    }
  }

  /** Seals a closed chunk, and checks that only a seal that is done changes anything. */
  async #seal(at: string, spoilt: Extract<Step, { kind: "seal" }>["spoil"]): Promise<number | undefined> {
    const { store, bytesOf, expiryOf } = this.#opened;
    const chunk = await bytesOf(at);
    if (!chunk) return undefined;
    const { number } = readHeader(chunk);
    const next = (await bytesOf(closedKey(this.#key, number + 1))) ?? (await bytesOf(this.#key));
    const bytes = sealedOf(chunk, spoilt);
    const cut = spoilt === "cut" ? Buffer.from(bytes.subarray(0, HEADER_BYTES)).fill(0, 48) : bytes;
    const nextBirth = (next ? readHeader(next).birth : 7) + (spoilt === "next birth" ? 1 : 0);
    this.#last = { bytes: cut, length: chunk.length + (spoilt === "length" ? 1 : 0), nextBirth };
    const expiryMs = await expiryOf(at);
    const status = await store.run(seal, this.#key, this.#last);
    expect(await bytesOf(at)).toEqual(status === SEALED.done ? bytes : chunk);
    expect(await expiryOf(at)).toBe(expiryMs);
    if (spoilt) expect(status).not.toBe(SEALED.done);
    return status;
  }
}

describe("a seal", () => {
  let opened: OpenStore[];
  beforeAll(async () => {
    opened = await Promise.all([onMemory(), onRedis6()]);
  });
  afterAll(() => Promise.all(opened.map((each) => each.close())));

  test("is equal in both forms, keeps the expiry, and changes nothing else", async () => {
    const statuses = new Map<unknown, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40, size: "max" }), async (steps) => {
        await Promise.all(opened.map((each) => each.clear()));
        for (const each of opened) each.clock.nowMs = opened[0]!.clock.nowMs;
        const [memory, redis] = opened.map((each) => new Player(each));
        for (const one of steps) {
          const answer = await memory!.play(one);
          expect(await redis!.play(one)).toEqual(answer);
          if (one.kind === "seal" || one.kind === "repeat") statuses.set(answer, (statuses.get(answer) ?? 0) + 1);
        }
        const [keys, others] = await Promise.all(opened.map(async (each) => (await each.keys()).sort()));
        expect(others).toEqual(keys);
      }),
      { numRuns: runs(150) },
    );
    for (const status of Object.values(SEALED)) expect(statuses.get(status) ?? 0).toBeGreaterThan(seen(1));
  });

  test("that arrives after a failover leaves the chunk that was closed since", async () => {
    for (const { clear, clock, store, bytesOf } of opened) {
      const key = store.keyOf("undone");
      const startMs = clock.nowMs;
      /** Begins the journal and closes its first chunk, in the same ms each time, as on two servers. */
      const close = async (value: number, nextBirth: number) => {
        await clear();
        clock.nowMs = startMs;
        const frames = [1, 2].map((sequence) => encodeFrame(1, sequence, Float32Array.of(value)));
        const call = { valueType: 0, clock: 0, retentionMs: 5000, voidAfterMs: startMs + 10_000, birth: 9, frames };
        const { header } = await store.run(append, key, { ...call, known: "none" });
        const next = await store.run(rotate, key, { number: header!.number, birth: 9, nextBirth });
        const at = closedKey(key, header!.number);
        return { at, chunk: (await bytesOf(at))!, nextBirth: next.header!.birth };
      };
      const lost = await close(1, 100);
      const input = { bytes: sealedOf(lost.chunk, undefined), length: lost.chunk.length, nextBirth: lost.nextBirth };
      const kept = await close(2, 200);
      expect(kept.chunk.subarray(0, HEADER_BYTES)).toEqual(lost.chunk.subarray(0, HEADER_BYTES));
      expect(await store.run(seal, key, input)).toBe(SEALED.another);
      expect(await bytesOf(kept.at)).toEqual(kept.chunk);
      expect(await store.run(seal, key, { ...input, nextBirth: kept.nextBirth })).toBe(SEALED.done);
    }
  });
});
