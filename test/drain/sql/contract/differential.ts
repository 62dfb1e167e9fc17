import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type {
  ApplyResult,
  CounterRow,
  CounterShape,
  DrainBatch,
  DrainRow,
  LedgerRow,
} from "../../../../src/entries/sql.ts";
import type { Stage } from "../../stages.ts";
import { freshShape } from "../batches.ts";

/** What sinks promise, over a plain map. */
class Oracle {
  readonly ledger = new Map<number, LedgerRow>();
  readonly rows = new Map<string, DrainRow>();

  apply({ shard, generation, nonce, fence, events, rows }: DrainBatch): ApplyResult {
    const now = this.ledger.get(shard) ?? { shard, generation: 0, nonce: "", fence: 0, events: 0n };
    if (now.generation !== generation - 1 || now.fence > fence) {
      if (now.fence > fence) return { status: "superseded", fence: now.fence };
      if (now.generation === generation && now.nonce === nonce) return { status: "already-applied" };
      return { status: "behind", generation: now.generation, nonce: now.nonce };
    }
    this.ledger.set(shard, { shard, generation, nonce, fence, events: now.events + events });
    for (const row of rows) {
      const key = JSON.stringify([row.bucket, row.startMs, row.values]);
      this.rows.set(key, { ...row, count: (this.rows.get(key)?.count ?? 0n) + row.count });
    }
    return { status: "applied" };
  }

  minutes(): DrainRow[] {
    return [...this.rows.values()].filter(({ bucket }) => bucket === "minute");
  }
}

const value = fc.oneof(
  fc.constantFrom("", " ", "a", "A", "a ", "'", "\\", '"', "é", "e\u0301", "🚲", "{,}"),
  fc.string({ maxLength: 6, unit: "binary" }).filter((text) => !text.includes("\0")),
);
const rowOf = (dimensions: number): fc.Arbitrary<DrainRow> =>
  fc.record({
    bucket: fc.constantFrom("minute", "hour", "day"),
    startMs: fc.integer({ min: -3, max: 3 }).map((i) => i * 86_400_000 + i * 60_000),
    values: fc.array(value, { minLength: dimensions, maxLength: dimensions }),
    count: fc.oneof(fc.bigInt(0n, 9n), fc.bigInt(0n, 2n ** 56n)),
  });
const batches = fc.integer({ min: 0, max: 3 }).chain((dimensions) =>
  fc.record({
    dimensions: fc.constant(dimensions),
    batches: fc.array(
      fc.record({
        shard: fc.integer({ min: 0, max: 2 }),
        /** From the ledger's generation. */
        ahead: fc.oneof(
          { weight: 6, arbitrary: fc.constant(1) },
          { weight: 2, arbitrary: fc.integer({ min: -1, max: 2 }) },
        ),
        nonce: fc.constantFrom("x", "y"),
        fence: fc.oneof(
          { weight: 6, arbitrary: fc.constant(5) },
          { weight: 1, arbitrary: fc.integer({ min: 4, max: 6 }) },
        ),
        events: fc.bigInt(0n, 2n ** 56n),
        rows: fc.array(rowOf(dimensions), { maxLength: 12 }),
      }),
      { maxLength: 12 },
    ),
  }),
);

/** By their values alone, in the order of the dimensions. */
const sorted = (rows: readonly (DrainRow | CounterRow<string, bigint>)[]) =>
  rows.map((row) => JSON.stringify([row.bucket, row.startMs, Object.values(row.values), String(row.count)])).sort();

/** Random batches, against a map. `open` starts the sink's database. */
export function sinkDifferential(name: string, open: () => Promise<Stage>): void {
  describe(name, () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await open();
    });
    afterAll(() => stage.stop());

    test("answers and stores the same as a map, for any batches", async () => {
      const sink = stage.sink();
      await fc.assert(
        fc.asyncProperty(batches, async ({ dimensions, batches }) => {
          const shape: CounterShape = freshShape(Array.from({ length: dimensions }, (_, i) => `dim${i}`));
          const oracle = new Oracle();
          await sink.createTables(shape);
          for (const { ahead, ...rest } of batches) {
            const generation = Math.max(1, (oracle.ledger.get(rest.shard)?.generation ?? 0) + ahead);
            const batch = { ...rest, generation };
            expect(await sink.apply(shape, batch, { timeoutMs: 20_000 })).toEqual(oracle.apply(batch));
          }
          const { ledger, rows } = await sink.read(shape, { bucket: "minute" });
          expect(ledger).toEqual([...oracle.ledger.values()].sort((a, b) => a.shard - b.shard));
          expect(sorted(rows)).toEqual(sorted(oracle.minutes()));
          const others = [
            ...(await sink.read(shape, { bucket: "hour" })).rows,
            ...(await sink.read(shape, { bucket: "day" })).rows,
          ];
          expect(sorted([...rows, ...others])).toEqual(sorted([...oracle.rows.values()]));
        }),
        { numRuns: 60 },
      );
    });
  });
}
