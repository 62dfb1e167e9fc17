import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Stage } from "../../stages.ts";
import { asRead, batch, freshShape, MINUTE, row } from "../batches.ts";

/** The contract of a sink. `open` starts its database. */
export function sinkSuite(name: string, open: () => Promise<Stage>): void {
  describe(`a sink into ${name}`, () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await open();
    });
    afterAll(() => stage.stop());

    async function made(dimensions?: readonly string[]) {
      const sink = stage.sink();
      const shape = freshShape(dimensions);
      await sink.createTables(shape);
      return {
        sink,
        shape,
        ledger: () => sink.ledger(shape),
        rows: async () => (await sink.read(shape, { bucket: "minute" })).rows,
      };
    }

    test("creates its tables once, even if two create them at the same time", async () => {
      const sink = stage.sink();
      const shape = freshShape();
      await Promise.all(Array.from({ length: 4 }, () => sink.createTables(shape)));
      await sink.createTables(shape);
      expect(sink.ddl(shape)).toHaveLength(2);
      expect(await sink.ledger(shape)).toEqual([]);
      expect(await sink.read(shape, { bucket: "day" })).toEqual({ ledger: [], rows: [] });
    });

    test("applies a generation once, and then the next one", async () => {
      const { sink, shape, rows, ledger } = await made();
      const first = batch([row(["a", "1"], 3n), row(["a", "2"], 4n)]);
      expect(await sink.apply(shape, first, { timeoutMs: 5000 })).toEqual({ status: "applied" });
      expect(await sink.apply(shape, first)).toEqual({ status: "already-applied" });
      expect(await sink.apply(shape, { ...first, generation: 2, nonce: "b2" })).toEqual({ status: "applied" });
      expect(await rows()).toStrictEqual(asRead(shape, [row(["a", "1"], 6n), row(["a", "2"], 8n)]));
      expect(await ledger()).toEqual([{ shard: 0, generation: 2, nonce: "b2", fence: 7, events: 14n }]);
    });

    test("refuses a generation that is behind, ahead, another counter's or of a lower fence, and writes nothing", async () => {
      const { sink, shape, rows, ledger } = await made();
      const of = (generation: number, nonce: string, fence: number) =>
        sink.apply(shape, batch([row(["a", "1"], 1n)], { generation, nonce, fence }));
      expect(await of(2, "x", 5)).toEqual({ status: "behind", generation: 0, nonce: "" });
      expect(await ledger()).toEqual([]);
      expect(await of(1, "x1", 5)).toEqual({ status: "applied" });
      expect(await of(1, "y1", 5)).toEqual({ status: "behind", generation: 1, nonce: "x1" });
      expect(await of(3, "x3", 5)).toEqual({ status: "behind", generation: 1, nonce: "x1" });
      expect(await of(2, "x2", 4)).toEqual({ status: "superseded", fence: 5 });
      expect(await of(1, "x1", 4)).toEqual({ status: "superseded", fence: 5 });
      expect(await of(2, "x2", 9)).toEqual({ status: "applied" });
      expect(await of(1, "x1", 9)).toEqual({ status: "behind", generation: 2, nonce: "x2" });
      expect(await rows()).toStrictEqual(asRead(shape, [row(["a", "1"], 2n)]));
      expect(await ledger()).toEqual([{ shard: 0, generation: 2, nonce: "x2", fence: 9, events: 2n }]);
    });

    test("lets one of many concurrent calls apply a generation", async () => {
      const { sink, shape, rows, ledger } = await made();
      for (let generation = 1; generation <= 5; generation++) {
        const same = batch([row(["a", "1"], 1n)], { generation, nonce: `n${generation}` });
        const answers = await Promise.all(Array.from({ length: 6 }, () => sink.apply(shape, same)));
        expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill("already-applied"), "applied"]);
      }
      expect(await rows()).toStrictEqual(asRead(shape, [row(["a", "1"], 5n)]));
      expect(await ledger()).toMatchObject([{ generation: 5, events: 5n }]);
    });

    test("adds up rows of one key, adds late rows to existing ones, and applies a batch without rows", async () => {
      const { sink, shape, rows, ledger } = await made();
      await sink.apply(shape, batch([row(["a", "1"], 1n), row(["b", "1"], 5n), row(["a", "1"], 2n)]));
      await sink.apply(shape, batch([], { generation: 2, nonce: "b2", shard: 0 }));
      const late = row(["a", "1"], 10n, MINUTE - 86_400_000);
      await sink.apply(shape, batch([late, row(["a", "1"], 4n)], { generation: 3, nonce: "c3" }));
      expect(await rows()).toStrictEqual(asRead(shape, [late, row(["a", "1"], 7n), row(["b", "1"], 5n)]));
      expect(await ledger()).toMatchObject([{ generation: 3, events: 22n }]);
    });

    test("reads ledger and rows of one instant while batches are applied", async () => {
      const { sink, shape } = await made();
      let isOver = false;
      const reader = (async () => {
        let reads = 0;
        for (; !isOver; reads++) {
          const { ledger, rows } = await sink.read(shape, { bucket: "minute" });
          const sum = rows.reduce((total, { count }) => total + count, 0n);
          expect(sum).toBe(ledger.reduce((total, { events }) => total + events, 0n));
          await new Promise((resolve) => setImmediate(resolve));
        }
        return reads;
      })();
      await Promise.all(
        [0, 1, 2].map(async (shard) => {
          for (let generation = 1; generation <= 15; generation++) {
            const rows = Array.from({ length: 30 }, (_, i) => row([`${shard}`, `${i}`], BigInt(generation)));
            await sink.apply(shape, batch(rows, { shard, generation, nonce: `g${generation}` }));
          }
        }),
      );
      isOver = true;
      expect(await reader).toBeGreaterThan(0);
    });

    test("takes 100 000 rows of 8 shards at the same time, twice", async () => {
      const { sink, shape } = await made();
      const SHARDS = 8;
      const rows = Array.from({ length: SHARDS }, (_, shard) =>
        Array.from({ length: 12_500 }, (_, i) => row([`${i * SHARDS + shard}`, "x"], BigInt(shard + 1))).reverse(),
      );
      for (const generation of [1, 2]) {
        const answers = await Promise.all(
          rows.map((own, shard) => sink.apply(shape, batch(own, { shard, generation, nonce: `g${generation}` }))),
        );
        expect(answers.every(({ status }) => status === "applied")).toBe(true);
      }
      const { ledger, rows: all } = await sink.read(shape, { bucket: "minute" });
      expect(all).toHaveLength(100_000);
      expect(all.every(({ values, count }) => count === BigInt(2 * ((Number(values.site) % SHARDS) + 1)))).toBe(true);
      expect(ledger.map(({ events }) => events)).toEqual(rows.map((_, shard) => 25_000n * BigInt(shard + 1)));
    });

    test("names missing tables, and says that a retry does not help", async () => {
      const sink = stage.sink();
      const failed = sink.apply(freshShape(), batch([row(["a", "1"], 1n)]));
      await expect(failed).rejects.toMatchObject({ name: "OrielError", transient: false, applied: "no" });
    });
  });
}
