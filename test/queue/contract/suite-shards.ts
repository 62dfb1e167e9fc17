import { describe, expect, test } from "vitest";
import { DelayQueue } from "../../../src/entries/index.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";
import { staged } from "./suite.ts";

const IDS = Array.from({ length: 30 }, (_, i) => `id ${i}`);
const MISMATCH = { code: "MISMATCH", applied: "no", structureName: "mail" };

/** The promise that all processes of a queue use one number of shards, over one store. */
export function shardsSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`shards, ${name}`, () => {
    const stage = staged(open);
    const nothing = { waiting: 0, due: 0, claimed: 0, dead: 0, isPaused: false };

    test.each([
      [4, 1],
      [1, 4],
      [4, 8],
      [8, 3],
      [64, 63],
    ])(
      "a queue made with %i shards refuses each message of a process with %i, and stays usable",
      async (own, other) => {
        const [queue, stranger] = [stage().queue({ shards: own }), stage().queue({ shards: other })];
        await queue.add("first", { id: "first" });
        for (const id of IDS) await expect(stranger.add(1, { id })).rejects.toMatchObject(MISMATCH);
        const bulk = stranger.addBulk(IDS.map((id) => ({ payload: 1, id })));
        await expect(bulk).rejects.toMatchObject(MISMATCH);
        await expect(stranger.pause()).rejects.toMatchObject(MISMATCH);
        expect(await queue.counts()).toEqual({ ...nothing, due: 1 });
        const added = await queue.addBulk(IDS.map((id) => ({ payload: 1, id })));
        expect(added).toEqual(IDS.map((id) => ({ id, isNew: true })));
        expect(await queue.counts()).toEqual({ ...nothing, due: 1 + IDS.length });
      },
    );

    test("a pause fixes the number of shards, too", async () => {
      const [queue, stranger] = [stage().queue({ shards: 4 }), stage().queue()];
      await queue.pause();
      await expect(stranger.add(1)).rejects.toMatchObject(MISMATCH);
      await expect(stranger.resume()).rejects.toMatchObject(MISMATCH);
      expect(await queue.counts()).toEqual({ ...nothing, isPaused: true });
    });

    test("of two processes that start at once with different numbers, one adds all and the other none", async () => {
      const queues = [stage().queue({ shards: 3 }), stage().queue({ shards: 5 })];
      const added = await Promise.all(
        queues.map((queue) => Promise.allSettled(IDS.map((payload) => queue.add(payload)))),
      );
      const counts = added.map((each) => each.filter(({ status }) => status === "fulfilled").length);
      expect([...counts].sort((one, other) => one - other)).toEqual([0, IDS.length]);
      const winner = queues[counts.indexOf(IDS.length)]!;
      expect(await winner.counts()).toEqual({ ...nothing, due: IDS.length });
    });

    test("a process asks once, and not at all for one shard", async () => {
      for (const shards of [1, 4]) {
        const queue = stage().queue({ shards }, `mail ${shards}`);
        stage().calls.length = 0;
        await Promise.all(IDS.map((id) => queue.add(1, { id })));
        await queue.add(1);
        expect(stage().calls.filter((call) => call === "queue/agree")).toHaveLength(shards === 1 ? 0 : 1);
      }
    });

    test("messages that wait for the first answer keep their order", async () => {
      const queue = stage().queue({ shards: 2 });
      const at = stage().nowMs;
      const adds: Promise<unknown>[] = [];
      for (let i = 0; i < 300; i++) {
        adds.push(queue.add(i, { at }));
        if (i % 3 === 0) await Promise.resolve();
        if (i % 10 === 0) await new Promise(setImmediate);
      }
      await Promise.all(adds);
      const [claimed, shards] = [await queue.claim({ limit: 300 }), new Map<number, unknown[]>()];
      const first = await stage().censusOf(queue, 0);
      expect(first.claimed).toBeGreaterThan(0);
      claimed.forEach(({ payload }, i) => {
        const shard = i < first.claimed ? 0 : 1;
        shards.set(shard, [...(shards.get(shard) ?? []), payload]);
      });
      for (const payloads of shards.values())
        expect(payloads).toEqual([...payloads].sort((one, other) => Number(one) - Number(other)));
      expect(claimed).toHaveLength(300);
    });

    test("after a first call that cannot reach the store, nothing was added, and the next call asks again", async () => {
      const cut = stage().cuttable();
      const queue = new DelayQueue(cut.store, "mail", { ...stage().opened.modes, shards: 4 }, stage().timers);
      cut.isCut = true;
      await expect(queue.add(1)).rejects.toMatchObject({ code: "UNAVAILABLE", applied: "no", operation: "add" });
      cut.isCut = false;
      expect(await queue.add(1)).toMatchObject({ isNew: true });
      expect(await queue.counts()).toEqual({ ...nothing, due: 1 });
    });
  });
}
