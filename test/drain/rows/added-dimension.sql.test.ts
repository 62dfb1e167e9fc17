import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { DrainService } from "../../../src/counters/drain/drain-service.ts";
import type { Sink } from "../../../src/entries/sql.ts";
import type { Store } from "../../../src/store/contract.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { stepping } from "../faults/live.ts";
import { STAGES, type Stage } from "../stages.ts";

const AT = Date.UTC(2026, 1, 28, 23, 50);
const PAGE = readFileSync(new URL("../../../docs/runbook/add-a-dimension.md", import.meta.url), "utf8");
const DATABASES = { PostgreSQL: "postgresql", MariaDB: "mysql", SQLite: "sqlite" };
const BUCKETS = ["minute", "hour", "day"] as const;

/** The page's statements, of this counter. */
function statementsOf(database: string, name: string): string {
  const [, text] = new RegExp(`\`\`\`sql ${database}\n(.*?)\`\`\``, "s").exec(PAGE)!;
  return text!.replaceAll("flow_counts", `${name}_counts`);
}

let server: RedisServer;
let store: Store;
let names = 0;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  store = redisStore(server.url);
});
afterAll(async () => {
  await store?.close();
  await server?.stop();
});

describe.each(Object.entries(DATABASES))("a dimension added to counters with a table in %s", (name, database) => {
  let stage: Stage;
  let sink: Sink;
  let counter: string;
  let wanted: Map<string, bigint>;
  beforeAll(async () => {
    stage = await STAGES[name]!();
  });
  beforeEach(() => {
    sink = stage.sink();
    counter = `flow${++names}`;
    wanted = new Map();
  });
  afterAll(() => stage?.stop());

  const older = (on = store) => new Counters(on, counter, { dimensions: ["site", "lane"], shards: 4 });
  const newer = () =>
    new Counters(store, counter, { dimensions: ["site", "lane"], addedDimensions: ["colour"], shards: 4 });
  const drain = (counters: Counters, into = sink) => new DrainService({ counters, sink: into });
  const addColumn = () => stage.run!(statementsOf(database, counter));
  const note = (site: number, lane: string, colour: string, count: bigint) => {
    const row = `s${site} ${lane} ${colour}`;
    wanted.set(row, (wanted.get(row) ?? 0n) + count);
  };
  async function countOlder(flow: Counters<"site" | "lane">, count: number) {
    for (let site = 0; site < 8; site++) {
      await flow.add({ site: `s${site}`, lane: "1|%" }, { at: AT, count });
      note(site, "1|%", "", BigInt(count));
    }
  }
  async function countNewer(flow: Counters<"site" | "lane" | "colour">, colour: string) {
    for (let site = 0; site < 8; site++) {
      await flow.add({ site: `s${site}`, lane: "1|%", colour }, { at: AT });
      note(site, "1|%", colour, 1n);
    }
  }
  const rowsOf = async (flow: Counters<"site" | "lane" | "colour">, bucket: (typeof BUCKETS)[number]) =>
    new Map(
      (await flow.read({ table: sink, bucket, bigint: true })).map(({ values, count }) => [
        `${values.site} ${values.lane} ${values.colour}`,
        count,
      ]),
    );
  async function expectDrained(flow: Counters<"site" | "lane" | "colour">) {
    for (const bucket of BUCKETS) expect(await rowsOf(flow, bucket)).toEqual(wanted);
    for (let i = 0; i < 2; i++) expect(await drain(flow).drainOnce()).toMatchObject({ failed: 0, diverged: 0 });
    expect(await flow.read()).toEqual([]);
    for (const bucket of BUCKETS) expect(await rowsOf(flow, bucket)).toEqual(wanted);
    const total = [...wanted.values()].reduce((sum, count) => sum + count, 0n);
    expect((await sink.ledger(flow.shape)).reduce((sum, { events }) => sum + events, 0n)).toBe(total);
  }

  test("programs are deployed one after the other, and the table counts every event once", async () => {
    const [producer, replayed] = [older(), Array.from({ length: 6 }, (_, i) => ({ site: `s${i}`, lane: "r" }))];
    await sink.createTables(producer.shape);
    await countOlder(producer, 3);
    await producer.addBatch(
      "source",
      1,
      replayed.map((values) => ({ values, at: AT })),
    );
    for (let i = 0; i < 6; i++) note(i, "r", "", 1n);
    await drain(older()).drainOnce();

    // A drain that was deployed before its column: it fails, and changes nothing.
    await countOlder(producer, 1);
    const ledger = await sink.ledger(producer.shape);
    expect(await drain(newer()).drainOnce()).toMatchObject({ drained: 0, failed: 4 });
    expect(await sink.ledger(producer.shape)).toEqual(ledger);
    await addColumn();
    await drain(older()).drainOnce(); // some databases take it
    await drain(newer()).drainOnce();

    const first = newer();
    await countNewer(first, "red");
    await countNewer(first, "");
    await countOlder(producer, 1);
    const again = replayed.map((values) => ({ values: { ...values, colour: "blue" }, at: AT }));
    await newer().addBatch("source", 1, again);
    const before = await sink.ledger(first.shape);
    await expect(drain(older()).drainOnce()).rejects.toMatchObject({ code: "MISMATCH", applied: "no" });
    await expect(older().read({ table: sink })).rejects.toMatchObject({ code: "MISMATCH" });
    expect(await sink.ledger(first.shape)).toEqual(before);
    expect((await first.read({ table: sink, values: { colour: "red" } })).map(({ count }) => count)).toEqual(
      Array(8).fill(1),
    );
    await expectDrained(first);
    expect((await sink.read(first.shape, { bucket: "day", values: { colour: "" } })).rows).toHaveLength(14);
    await countOlder(older(), 2);
    await expectDrained(first);
  });

  test("a late drain of the old version changes nothing, nor does an answer that it missed", async () => {
    const producer = older();
    await sink.createTables(producer.shape);
    await countOlder(producer, 5);
    const lost: Sink = {
      ...sink,
      apply: async (shape, batch, limits) => {
        await sink.apply(shape, batch, limits);
        throw new Error("its answer was lost");
      },
    };
    expect(await drain(older(), lost).drainOnce()).toMatchObject({ drained: 0, failed: 4 });
    await addColumn();
    expect(await drain(newer()).drainOnce()).toMatchObject({ failed: 0, diverged: 0 });
    await countOlder(producer, 7);

    // It has frozen and read when a newer producer comes, and a newer drain.
    let [arrived, reach, go] = [0, () => {}, () => {}];
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    const late = stepping(store, {
      after: async (step) => {
        if (step !== "counter/page") return;
        if (++arrived === 4) reach();
        await gone;
      },
    });
    const lateDrain = drain(older(late)).drainOnce();
    await reached;
    await countNewer(newer(), "red");
    expect(await drain(newer()).drainOnce()).toMatchObject({ failed: 0, diverged: 0 });
    const ledger = await sink.ledger(producer.shape);
    go();
    expect(await lateDrain).toMatchObject({ drained: 0, events: 0n });
    expect(await sink.ledger(producer.shape)).toEqual(ledger);
    await expectDrained(newer());
  });
});
