import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { groupsKey } from "../../src/engine/groups/dictionary.ts";
import { appendInGroups, REGROUPED } from "../../src/engine/groups/steps/append-in-groups.ts";
import { intern } from "../../src/engine/groups/steps/intern.ts";
import { type JournalAnswer, STATUS } from "../../src/engine/journal/format/answer.ts";
import { constants } from "../../src/engine/journal/format/constants.ts";
import { encodeFrame } from "../../src/engine/journal/format/frames.ts";
import { append } from "../../src/engine/journal/steps/append.ts";
import { deleteChunk } from "../../src/engine/journal/steps/delete.ts";
import { rotate } from "../../src/engine/journal/steps/rotate.ts";
import { runs, seen } from "../harness/runs.ts";
import { type OpenStore, onMemory, onRedis6 } from "../series/contract/stores.ts";
import { encodeGroups, encodeHeader, knownOf, NOTHING } from "./dictionaries.ts";

/** Which part of the dictionary a call names: the one of the last reply, none, an older one, or one that never was. */
const part = fc.constantFrom("last", "last", "last", "nothing", "older", "wrong" as const);
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("intern" as const),
      part,
      groups: fc.array(fc.array(fc.string({ unit: "grapheme", maxLength: 9 }), { minLength: 2, maxLength: 2 }), {
        maxLength: 3,
      }),
      lifetimeMs: fc.constantFrom(1, 70_000, 200_000),
      spareMs: fc.constantFrom(0, 1000, 60_000),
      /** The names begin anew, if they may. */
      isNew: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      part,
      isPlain: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
      ats: fc.option(fc.constantFrom([0], [-5000], [60_001], [-90_000])),
      retentionMs: fc.constantFrom(1, 5000, 90_000),
      voidInMs: fc.constantFrom(10_000, 10_000, 10_000, 0, -1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("repeat" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rotate" as const) }) },
  fc.record({ kind: fc.constant("delete" as const) }),
  fc.record({ kind: fc.constant("lose" as const), what: fc.constantFrom("groups", "journal" as const) }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 999, 5000, 67_000, -700, -20_000, 46 * 86_400_000),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const BEGIN: Step = {
  kind: "intern",
  part: "nothing",
  groups: [["a", "b"]],
  lifetimeMs: 200_000,
  spareMs: 0,
  isNew: false,
};
const APPEND: Step = { kind: "append", part: "last", isPlain: false, ats: null, retentionMs: 90_000, voidInMs: 10_000 };
/** A chunk of an earlier dictionary, which random steps seldom meet. */
const EARLIER: Step[] = [BEGIN, APPEND, { kind: "lose", what: "groups" }, BEGIN, APPEND];

/** One side of a pair, which plays the same steps. Its answers decide the names in its next calls. */
class Player {
  readonly #opened: OpenStore;
  readonly #key: string;
  readonly #startMs: number;
  readonly #parts = [NOTHING];
  #bytes = new Uint8Array(0);
  #seen: { number: number; birth: number } | undefined;
  #repeat: () => Promise<unknown> = async () => undefined;
  #drawn = 0;

  constructor(opened: OpenStore) {
    this.#opened = opened;
    this.#startMs = opened.clock.nowMs;
    this.#key = opened.store.keyOf("twin");
  }

  async play(one: Step): Promise<unknown> {
    const { store, clock } = this.#opened;
    switch (one.kind) {
      case "wait":
        // Back only while nothing can have expired.
        if (one.ms > 0 || clock.nowMs - this.#startMs < constants.expirySlackMs) clock.nowMs += one.ms;
        return clock.nowMs;
      case "intern": {
        const groups = encodeGroups(one.groups, () => ++this.#drawn);
        const header = encodeHeader(["route", "method"], ++this.#drawn, groups);
        const known = this.#part(one.part);
        const all = { header, known, groups, lifetimeMs: one.lifetimeMs, spareMs: one.spareMs };
        const input = one.isNew ? { ...all, groups: new Uint8Array(0) } : all;
        const send = async () => {
          const { length, from, waitMs, bytes } = await store.run(intern, this.#key, input);
          this.#bytes = new Uint8Array([...(from ? this.#bytes.subarray(0, from) : []), ...bytes]);
          this.#parts.push(length === 0 ? NOTHING : knownOf(this.#bytes));
          return { length, from, waitMs, bytes: Buffer.from(bytes) };
        };
        this.#repeat = send;
        return send();
      }
      case "append": {
        const times = one.ats?.map((at) => clock.nowMs + at);
        const frames = [encodeFrame(1, ++this.#drawn, Float64Array.of(this.#drawn), times)];
        const input = {
          ...{ valueType: 5, clock: 0, retentionMs: one.retentionMs, voidAfterMs: clock.nowMs + one.voidInMs },
          ...{ birth: ++this.#drawn, frames, known: undefined },
        };
        const guard = this.#part(one.part);
        const send = async () =>
          this.#keep(
            await (one.isPlain
              ? store.run(append, this.#key, input)
              : store.run(appendInGroups, this.#key, { ...input, guard })),
          );
        this.#repeat = send;
        return send();
      }
      case "repeat":
        return this.#repeat();
      case "rotate":
        return (
          this.#seen && this.#keep(await store.run(rotate, this.#key, { ...this.#seen, nextBirth: ++this.#drawn }))
        );
      case "delete": {
        const { birth = 0 } = this.#seen ?? {};
        return store.run(deleteChunk, this.#key, { birth, voidAfterMs: clock.nowMs + 1000, isOpen: true });
      }
      case "lose":
        return this.#opened.remove(one.what === "groups" ? groupsKey(this.#key) : this.#key);
    }
  }

  #part(which: "last" | "nothing" | "older" | "wrong") {
    const last = this.#parts.at(-1)!;
    if (which === "last") return last;
    if (which === "nothing") return NOTHING;
    return which === "older" ? (this.#parts.at(-3) ?? last) : { ...last, nonce: last.nonce ^ 1 };
  }

  #keep(answer: JournalAnswer): unknown {
    if (answer.header) this.#seen = { number: answer.header.number, birth: answer.header.birth };
    return { ...answer, verdicts: [...answer.verdicts], bytes: Buffer.from(answer.bytes) };
  }

  async state(): Promise<unknown> {
    const { keys, bytesOf, expiryOf } = this.#opened;
    const all = (await keys()).sort();
    return Promise.all(all.map(async (key) => [key, await bytesOf(key), await expiryOf(key)]));
  }
}

describe("the two forms of each step", () => {
  let opened: OpenStore[];
  beforeAll(async () => {
    opened = await Promise.all([onMemory(), onRedis6()]);
  });
  afterAll(() => Promise.all(opened.map((each) => each.close())));

  test("have equal answers, bytes and expiries after every step of any sequence", async () => {
    const met = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        await Promise.all(opened.map((each) => each.clear()));
        opened[1]!.clock.nowMs = opened[0]!.clock.nowMs;
        const [memory, redis] = opened.map((each) => new Player(each)) as [Player, Player];
        for (const one of steps) {
          const answer = await redis.play(one);
          expect(answer).toEqual(await memory.play(one));
          expect(await redis.state()).toEqual(await memory.state());
          if (one.kind !== "append") continue;
          const { status } = answer as JournalAnswer;
          met.set(status, (met.get(status) ?? 0) + 1);
        }
      }),
      { numRuns: runs(300), examples: [[EARLIER]] },
    );
    for (const status of [STATUS.done, STATUS.old, STATUS.void, REGROUPED])
      expect(met.get(status) ?? 0, `${status}`).toBeGreaterThan(seen(0));
  });
});
