import { describe, expect, test } from "vitest";
import { CANCELLED_MS, LINGER_MS } from "../../../src/generated/layouts/queue.ts";
import { homeKey, keysOfShard } from "../../../src/queue/format/layout.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";
import { staged } from "./suite.ts";

const IDS = Array.from({ length: 12 }, (_, i) => `id ${i}`);
const DEDUPE_MS = 10_000;
const nothing = { waiting: 0, due: 0, claimed: 0, dead: 0, isPaused: false };

/** The promise that an empty queue leaves no keys, and that nothing is lost with them, over one store. */
export function emptySuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`empty queues, ${name}`, () => {
    const stage = staged(open);

    /** The keys of the queue "mail" that are there by the clock, and when they expire. */
    async function keys(): Promise<Map<string, number>> {
      const all = [...(await stage().opened.expiries())];
      const own = all.filter(([key, endMs]) => key.includes("mail") && !(endMs < stage().nowMs && endMs >= 0));
      return new Map(own.map(([key, endMs]) => [key, endMs < 0 ? Number.POSITIVE_INFINITY : endMs]));
    }

    async function expectEnd(endMs: number): Promise<void> {
      expect(new Set((await keys()).values())).toEqual(new Set([endMs]));
    }

    const goTo = (ms: number) => {
      stage().opened.clock.nowMs = ms;
    };

    test.each([1, 4])("a queue with %i shards is used by workers, and used up", async (shards) => {
      const queue = stage().queue<number>({ shards, dedupeFor: DEDUPE_MS });
      const handled: string[] = [];
      const worker = stage().worker(queue, ({ id }) => void handled.push(id), { concurrency: 4 });
      for (const round of [1, 2]) {
        await queue.addBulk(IDS.map((id) => ({ payload: 1, id, delay: 100 })));
        await stage().advance(1000);
        expect(handled).toHaveLength(round * IDS.length);
        expect((await keys()).size).toBeGreaterThan(0);
        await stage().advance(DEDUPE_MS + LINGER_MS);
        const left = await keys();
        if (shards === 1) expect([...left]).toEqual([]);
        else {
          // A process asks the home shard for the number of shards once, so it stays.
          const home = keysOfShard(homeKey(stage().store, "mail"));
          expect(left.size).toBeGreaterThan(0);
          for (const [key, endMs] of left)
            expect([home.includes(key), endMs]).toEqual([true, Number.POSITIVE_INFINITY]);
        }
        expect(await queue.counts()).toEqual(nothing);
      }
      await stage().awaiting(worker.close());
    });

    test("another number of shards is refused while keys of one shard are there, and begins anew without them", async () => {
      const [queue, other] = [stage().queue({ dedupeFor: 0 }), stage().queue({ shards: 3 })];
      await queue.add(1);
      await queue.ack((await queue.claim())[0]!);
      goTo(stage().nowMs + LINGER_MS);
      await expect(other.add(1)).rejects.toMatchObject({ code: "MISMATCH", applied: "no" });
      goTo(stage().nowMs + 1);
      expect(await other.add(1)).toMatchObject({ isNew: true });
      await expect(queue.pause()).rejects.toMatchObject({ code: "MISMATCH" });
    });

    test.each([
      [DEDUPE_MS, false],
      [DEDUPE_MS + 1, true],
      [DEDUPE_MS + LINGER_MS, true],
      [DEDUPE_MS + LINGER_MS + 1, true],
    ])(
      "%i ms after an id was added, whose message is done and with it all others, it is new: %s",
      async (laterMs, isNew) => {
        const queue = stage().queue<number>({ dedupeFor: DEDUPE_MS });
        const startMs = stage().nowMs;
        await queue.add(1, { id: "a" });
        await queue.ack((await queue.claim())[0]!);
        await expectEnd(startMs + DEDUPE_MS + LINGER_MS);
        goTo(startMs + laterMs);
        expect(await queue.add(2, { id: "a" })).toEqual({ id: "a", isNew });
        if (!isNew) return expectEnd(startMs + DEDUPE_MS + LINGER_MS);
        await expectEnd(Number.POSITIVE_INFINITY);
        goTo(startMs + 100 * DEDUPE_MS);
        expect((await queue.claim()).map(({ payload }) => payload)).toEqual([2]);
      },
    );

    test("the id of an earlier message is known for its time when the queue is used in between, and empty again", async () => {
      const queue = stage().queue<number>({ dedupeFor: DEDUPE_MS });
      const brief = stage().queue<number>({ dedupeFor: 0 });
      const startMs = stage().nowMs;
      await queue.add(1, { id: "a" });
      await queue.ack((await queue.claim())[0]!);
      goTo(startMs + 5000);
      await brief.add(2, { id: "b" });
      await expectEnd(Number.POSITIVE_INFINITY);
      await brief.ack((await brief.claim())[0]!);
      await expectEnd(startMs + DEDUPE_MS + LINGER_MS);
      goTo(startMs + DEDUPE_MS);
      expect(await brief.add(3, { id: "b" })).toMatchObject({ isNew: true });
      expect(await brief.add(3, { id: "a" })).toMatchObject({ isNew: false });
    });

    test("what waits, is claimed or dead keeps the keys, and so does a pause", async () => {
      const queue = stage().queue<number>({ dedupeFor: 0, attempts: 1 });
      await queue.add(1, { id: "a", delay: 1000 });
      await queue.add(2, { id: "b" });
      const [b] = await queue.claim();
      await queue.ack(b!);
      await expectEnd(Number.POSITIVE_INFINITY);
      await stage().advance(1000);
      const [a] = await queue.claim();
      await expectEnd(Number.POSITIVE_INFINITY);
      await queue.nack(a!);
      await expectEnd(Number.POSITIVE_INFINITY);
      expect(await queue.dead.redrive()).toBe(1);
      await queue.pause();
      const claimedByNobody = await queue.claim();
      expect(claimedByNobody).toEqual([]);
      expect(await queue.cancel("a")).toBe(true);
      await expectEnd(Number.POSITIVE_INFINITY);
      const cancelledMs = stage().nowMs;
      await stage().advance(5000);
      await queue.resume();
      await expectEnd(cancelledMs + CANCELLED_MS + LINGER_MS);
      await queue.pause();
      await expectEnd(Number.POSITIVE_INFINITY);
      goTo(cancelledMs + 2 * CANCELLED_MS);
      expect(await queue.counts()).toEqual({ ...nothing, isPaused: true });
      await queue.resume();
      await expectEnd(stage().nowMs + LINGER_MS);
    });

    test("a late result of an earlier message, and a look at an empty queue, make no keys", async () => {
      const queue = stage().queue<number>({ dedupeFor: 0 });
      await queue.add(1, { id: "a" });
      const [message] = await queue.claim();
      await queue.ack(message!);
      goTo(stage().nowMs + LINGER_MS + 1);
      expect(await queue.nack(message!)).toBe(false);
      expect(await queue.extend(message!, 1000)).toBe(false);
      expect([await queue.claim(), await queue.peek(), await queue.dead.list()]).toEqual([[], [], []]);
      expect([await queue.get("a"), await queue.cancel("a"), await queue.lag()]).toEqual([undefined, false, 0]);
      expect(await queue.dead.redrive()).toBe(0);
      expect([...(await keys())]).toEqual([]);
    });
  });
}
