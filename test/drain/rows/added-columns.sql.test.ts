import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { DrainService } from "../../../src/counters/drain/drain-service.ts";
import { memoryStore } from "../../../src/entries/memory-store.ts";
import type { Sink } from "../../../src/entries/sql.ts";
import { STAGES, type Stage } from "../stages.ts";

const AT = Date.UTC(2026, 1, 28, 23, 50);
const PAGE = readFileSync(new URL("../../../docs/runbook/add-a-dimension.md", import.meta.url), "utf8");
const store = memoryStore();
let stage: Stage;
let sink: Sink;
beforeAll(async () => {
  stage = await STAGES.MariaDB!();
  sink = stage.sink();
});
afterAll(() => stage?.stop());

/** The events of one cycle of the drain. */
async function drained(counters: Counters) {
  const service = new DrainService({ counters, sink });
  const messages: string[] = [];
  service.on("error", ({ error }) => void messages.push(String(error)));
  const { drained, failed } = await service.drainOnce();
  return { drained, failed, messages };
}

test("a MariaDB table without the added column in its key is refused, because rows would merge", async () => {
  const older = new Counters(store, "key", { dimensions: ["site"], shards: 1 });
  await sink.createTables(older.shape);
  await stage.run!("ALTER TABLE key_counts ADD COLUMN colour VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL DEFAULT ''");
  const flow = new Counters(store, "key", { dimensions: ["site"], addedDimensions: ["colour"], shards: 1 });
  for (const colour of ["red", "blue"]) await flow.add({ site: "a", colour }, { at: AT });
  const { failed, messages } = await drained(flow);
  expect(failed).toBe(1);
  expect(messages).toEqual([expect.stringMatching(/`key_counts` has no column `colour` in its primary key/)]);
  expect(await sink.ledger(flow.shape)).toEqual([]);
  await stage.run!("ALTER TABLE key_counts DROP PRIMARY KEY, ADD PRIMARY KEY (bucket, start_at, site, colour)");
  expect(await drained(flow)).toMatchObject({ drained: 1, messages: [] });
  const rows = await flow.read({ table: sink });
  expect(rows.map(({ values, count }) => `${values.colour} ${count}`)).toEqual(["blue 1", "red 1"]);
});

test("with more than three dimensions, a longer value waits in MariaDB until its column has room", async () => {
  const dimensions = ["site", "lane", "direction"] as const;
  const older = new Counters(store, "more", { dimensions, shards: 1 });
  const flow = new Counters(store, "more", { dimensions, addedDimensions: ["colour"], shards: 1 });
  await sink.createTables(older.shape);
  await older.add({ site: "a", lane: "1", direction: "" }, { at: AT });
  await drained(older);
  const [, statement] = /```sql mysql-more\n(.*?)```/s.exec(PAGE)!;
  await stage.run!(statement!.replaceAll("flow_counts", "more_counts"));
  const long = "x".repeat(255);
  await older.add({ site: long, lane: "1", direction: "" }, { at: AT });
  await flow.add({ site: "a", lane: "1", direction: "", colour: "" }, { at: AT });
  // Refused before it is sent: a server that is not strict would cut it.
  const { drained: none, messages } = await drained(flow);
  expect([none, messages]).toEqual([0, [expect.stringMatching(/of 255 characters; the column `site`/)]]);
  expect((await flow.read({ table: sink })).map(({ count }) => count)).toEqual([2, 1]);
  const text = "CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin NOT NULL";
  await stage.run!(`ALTER TABLE more_counts MODIFY site VARCHAR(255) ${text}, MODIFY lane VARCHAR(100) ${text}`);
  expect(await drained(flow)).toMatchObject({ drained: 1, messages: [] });
  expect(await flow.read()).toEqual([]);
  expect((await flow.read({ table: sink, values: { site: long } })).map(({ count }) => count)).toEqual([1]);
});
