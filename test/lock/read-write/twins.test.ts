import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AcquireResult } from "../../../src/lock/steps/acquire.ts";
import { exclusive } from "../../../src/lock/steps/hold-steps.ts";
import { fenceKeyOf, queueKeyOf, writeKeyOf } from "../../../src/lock/steps/keys.ts";
import { leave } from "../../../src/lock/steps/leave.ts";
import { readers, shared } from "../../../src/lock/steps/readers.ts";
import { runs } from "../../harness/runs.ts";
import { type OpenStore, onMemory, stores } from "../contract/stores.ts";

const token = fc.constantFrom("oriel:a", "oriel:b", "oriel:c", "oriel:d");
const id = fc.constantFrom("", ...["a", "b", "c"].map((each) => each.repeat(16)));
const leaseMs = fc.constantFrom(10, 50, 1000, 60_000);
const isShared = fc.boolean();
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("acquire" as const), isShared, token, leaseMs, id }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("extend" as const), isShared, token, leaseMs }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("release" as const), isShared, token, id, isNext: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave" as const), id }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 49, 51, 151, 1001, 61_000) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function play({ store, clock }: OpenStore, key: string, step: Step): Promise<unknown> | number {
  // No reader's token is a writer's.
  const one = "isShared" in step && step.isShared ? { ...step, token: `${step.token} reads` } : step;
  if (one.kind === "wait") {
    clock.nowMs += one.ms;
    return clock.nowMs;
  }
  if (one.kind === "leave") return store.run(leave, key, one.id || "a".repeat(16));
  const steps = one.isShared ? shared : exclusive;
  if (one.kind === "acquire") return store.run(steps.acquire, key, one);
  return one.kind === "extend" ? store.run(steps.extend, key, one) : store.run(steps.release, key, one);
}

/** The holds by their definition: who has one, until when. It decides only what must never happen. */
class Model {
  nowMs = 0;
  readonly #readers = new Map<string, number>();
  #writer: { token: string; endMs: number } | undefined;
  #lastFence = 0;

  get readerCount(): number {
    return [...this.#readers.values()].filter((endMs) => endMs >= this.nowMs).length;
  }

  played(one: Step, answer: unknown): void {
    if (one.kind === "wait") this.nowMs = answer as number;
    if (this.#writer && this.#writer.endMs < this.nowMs) this.#writer = undefined;
    if (one.kind === "acquire") this.#acquired(one, answer as AcquireResult);
    if (one.kind === "extend") {
      const endMs = one.isShared ? this.#readers.get(one.token) : this.#endMsOf(one.token);
      expect(answer).toBe(endMs !== undefined && endMs >= this.nowMs);
      if (answer && one.isShared) this.#readers.set(one.token, Math.max(endMs!, this.nowMs + one.leaseMs));
      else if (answer) this.#writer!.endMs = Math.max(endMs!, this.nowMs + one.leaseMs);
    }
    if (one.kind === "release") {
      const endMs = one.isShared ? this.#readers.get(one.token) : this.#endMsOf(one.token);
      expect(answer).toBe(endMs !== undefined && endMs >= this.nowMs);
      if (one.isShared) this.#readers.delete(one.token);
      else if (answer) this.#writer = undefined;
    }
  }

  #endMsOf(token: string): number | undefined {
    return this.#writer?.token === token ? this.#writer.endMs : undefined;
  }

  #acquired(one: Step & { kind: "acquire" }, answer: AcquireResult): void {
    if (!("fence" in answer)) return;
    const endMs = this.nowMs + one.leaseMs;
    const beforeMs = (one.isShared ? this.#readers.get(one.token) : this.#endMsOf(one.token)) ?? -1;
    const isRepeated = beforeMs >= this.nowMs;
    // A reader enters only where no writer has its turn; a writer takes its turn only where no other has it.
    if (!isRepeated) expect(this.#writer).toBeUndefined();
    expect(answer.fence).toBeGreaterThan(isRepeated ? this.#lastFence - 1 : this.#lastFence);
    this.#lastFence = answer.fence;
    if (one.isShared) this.#readers.set(one.token, Math.max(beforeMs, endMs));
    else this.#writer = { token: one.token, endMs: Math.max(beforeMs, endMs) };
  }
}

let opened: [OpenStore, OpenStore];
beforeAll(async () => {
  opened = [await onMemory(true), await stores["redis, ioredis 6"]!(true)];
});
afterAll(() => Promise.all(opened.map((each) => each.close())));

test("both forms of each step have equal answers and keys, and never admit a reader beside a writer", async () => {
  const [memory, redis] = opened;
  const key = writeKeyOf(memory.store, "twin");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await Promise.all(opened.map((each) => each.clear()));
      redis.clock.nowMs = memory.clock.nowMs;
      const model = new Model();
      model.nowMs = memory.clock.nowMs;
      for (const one of steps) {
        const answer = await play(memory, key, one);
        expect(await play(redis, key, one)).toEqual(answer);
        model.played(one, answer);
        const inside = await memory.store.run(readers, key, undefined);
        expect(inside.count).toBe(model.readerCount);
        expect(await redis.store.run(readers, key, undefined)).toEqual(inside);
        for (const each of [key, fenceKeyOf(key), queueKeyOf(key)])
          expect(await redis.state(each)).toEqual(await memory.state(each));
      }
    }),
    { numRuns: runs(300) },
  );
});
