import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Calendar } from "../../src/base/calendar.ts";
import { Batch } from "../../src/counters/counter/cells/batch.ts";
import { Cells } from "../../src/counters/counter/cells/cells.ts";
import { Mirror } from "../../src/counters/counter/mirror.ts";
import { Counters, memoryStore } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { packStrings, unpackStrings } from "../../src/store/message-pack.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const START_MS = Date.UTC(2100, 0, 1);

async function heldBytes(): Promise<number> {
  for (let i = 0; i < 2; i++) {
    await new Promise((resolve) => setTimeout(resolve));
    collect();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const wide = "\u8def".repeat(245);
const request = (i: number) => `GET /${i}/${"x".repeat(20_000)}`;
/** Values of the i-th event, and after how many events they are more than is kept. */
const ATTACKS: [what: string, valuesOf: (i: number) => Record<"a" | "b" | "c", string>, events: number][] = [
  ["long values of two bytes a character", (i) => ({ a: `${wide}${i}`, b: `${i}${wide}`, c: `${i}!${wide}` }), 5000],
  ["parts of large texts", (i) => ({ a: request(i).slice(5, 25), b: "POST", c: request(i).slice(0, 200) }), 20_000],
  ["short values that differ in the first", (i) => ({ a: `${i}`, b: "x", c: `${i % 7}` }), 120_000],
];

const MAX_BYTES = 16 << 20;

test.each(ATTACKS)("the memory of %s stays within 1.5 times its bound", async (_what, valuesOf, events) => {
  const cells = new Cells(["a", "b", "c"], 64, () => {}, MAX_BYTES);
  const beforeBytes = await heldBytes();
  let maxBytes = 0;
  for (let i = 0; i < events; i++) {
    cells.of(valuesOf(i));
    if (i % (events / 10) === 0) maxBytes = Math.max(maxBytes, (await heldBytes()) - beforeBytes);
  }
  console.info(`${maxBytes >> 10} KiB held at most`);
  expect(cells.memory.length).toBeLessThan(events); // it was full
  expect(maxBytes).toBeLessThan(1.5 * MAX_BYTES);
});

test("counts of dropped cells are in the rows of their batch", () => {
  const pending = { bytes: 0 };
  const counted = new Map<string, number>();
  let batch: Batch | undefined;
  const end = () => {
    const fields = unpackStrings(batch!.close());
    for (let i = 0; i < fields.length; i += 2)
      counted.set(fields[i]!, (counted.get(fields[i]!) ?? 0) + Number(fields[i + 1]));
    batch!.release();
    batch = undefined;
  };
  let forgotten = 0;
  const forget = () => {
    forgotten++;
    end();
  };
  const cells = new Cells(["a"], 1, forget, 1 << 20);
  const expected = new Map<string, number>();
  for (let i = 0; i < 4000; i++) {
    const value = `\ufeff${wide}${i % 3000}`;
    const cell = cells.of({ a: value });
    if (batch && !batch.hasRoomFor(1, cells.memory)) end();
    batch ??= new Batch(cells.memory, pending);
    batch.add(cells.memory, cell, i % 2, 1);
    expected.set(`${i % 2}|${value}`, (expected.get(`${i % 2}|${value}`) ?? 0) + 1);
  }
  end();
  expect(counted).toEqual(expected);
  expect([forgotten > 1, pending.bytes]).toEqual([true, 0]);
});

test("waiting rows are bounded: above 64 MiB add is OVERLOADED, and acknowledged events count once", async () => {
  const inner = memoryStore({ maxBytes: 2 ** 30 });
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let largest = 0;
  const slow: Store = {
    ...inner,
    async run(operation, key, input, options) {
      await opened;
      largest = Math.max(largest, (input as { rows?: Uint8Array } | null)?.rows?.length ?? 0);
      return inner.run(operation, key, input, options);
    },
  };
  const counters = new Counters(slow, "flow", { dimensions: ["a", "b", "c"], shards: 2 });
  const values = { a: wide, b: wide, c: wide };
  const beforeBytes = await heldBytes();
  const adds = Array.from({ length: 40_000 }, (_, i) => counters.add(values, { at: START_MS + i * 60_000 }));
  const ends = Promise.allSettled(adds);
  expect((await heldBytes()) - beforeBytes).toBeLessThan(1.5 * (64 << 20));
  open();
  const refused = (await ends).filter((end) => end.status === "rejected");
  expect(refused.length).toBeGreaterThan(5000);
  for (const { reason } of refused) expect([reason.code, reason.applied]).toEqual(["OVERLOADED", "no"]);
  const rows = await counters.read({ bucket: "day" });
  expect(rows.reduce((sum, { count }) => sum + Number(count), 0)).toBe(40_000 - refused.length);
  expect(largest).toBeGreaterThan(200_000); // full batches
  expect(largest).toBeLessThanOrEqual(262_144); // each can be given again after a failover
  await counters.add(values);
});

test("a mirror of a silent store has at most 16 MiB of keys", async () => {
  const silent: Store = { ...memoryStore(), run: () => new Promise(() => {}) };
  const buckets = ["minute"] as const;
  const mirror = new Mirror({ store: silent, buckets, calendar: new Calendar("UTC"), prefix: "", keepMs: 1000 });
  const beforeBytes = await heldBytes();
  for (let i = 0; i < 60_000; i += 1000)
    mirror.add(packStrings(Array.from({ length: 1000 }, (_, j) => [`${i + j}|${wide}|${wide}|`, "1"]).flat()));
  expect((await heldBytes()) - beforeBytes).toBeLessThan(1.5 * (16 << 20));
  mirror.add(packStrings([`1|${wide}|${wide}|`, "1"]));
});
