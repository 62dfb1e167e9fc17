import { expect, test } from "vitest";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { CountersDoctor } from "../../../src/counters/drain/doctor.ts";
import { DrainService } from "../../../src/counters/drain/drain-service.ts";
import { memoryStore } from "../../../src/entries/index.ts";
import { STAGES } from "../stages.ts";

const LARGE = Number.MAX_SAFE_INTEGER;
const json = (value: unknown) => JSON.parse(JSON.stringify(value));

test("reports, events, diagnoses and repairs work in JSON: counts are numbers up to 2^53 - 1, above it text", async () => {
  const stage = await STAGES.SQLite!();
  const sink = stage.sink();
  const store = memoryStore();
  const flow = new Counters(store, "flow", { dimensions: ["a"], shards: 1 });
  await sink.createTables(flow.shape);
  const drain = new DrainService({ counters: flow, sink });
  const doctor = new CountersDoctor(flow, sink);
  const reported: unknown[] = [];
  drain.on("shard", (shard) => void reported.push(json(shard).events));
  drain.on("cycle", (cycle) => void reported.push(json(cycle).events));

  await flow.add({ a: "x" }, { count: LARGE });
  expect(json(await doctor.diagnose())).toMatchObject([{ verdict: "fits", waiting: LARGE, inDoubt: 0 }]);
  expect(json(await drain.drainOnce())).toMatchObject({ drained: 1, failed: 0, events: LARGE });
  await flow.add({ a: "x" }, { count: LARGE });
  await flow.add({ a: "y" });
  expect(json(await doctor.diagnose())).toMatchObject([{ waiting: "9007199254740992" }]);
  const report = await drain.drainOnce();
  expect([report.events, json(report).events]).toEqual([9007199254740992n, "9007199254740992"]);
  expect(reported).toEqual([LARGE, LARGE, "9007199254740992", "9007199254740992"]);
  expect(Object.keys(structuredClone(report))).not.toContain("toJSON");

  await stage.run!("UPDATE oriel_ledger SET generation = 9, nonce = 'other-bfffffffffff'");
  await flow.add({ a: "x" }, { count: LARGE });
  const repairs = json(await doctor.repair({ inDoubt: "drop" }));
  expect(repairs).toMatchObject([{ isRepaired: true, dropped: LARGE, before: { waiting: LARGE, inDoubt: LARGE } }]);
  await Promise.all([drain.stop(), store.close()]);
  await stage.stop();
});
