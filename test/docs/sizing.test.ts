// The sizing program of docs/operate/production.md against what a Redis reports.
import ts from "typescript";
import { beforeAll, describe, expect, test } from "vitest";
import {
  Counters,
  calendarWindow,
  DelayQueue,
  fixedWindow,
  gcra,
  Limiter,
  Lock,
  redisStore,
  Series,
  type WatchedStore,
} from "../../src/entries/index.ts";
import { atEnd, oncePerFile } from "../harness/ends.ts";
import { RespConnection } from "../harness/network/resp-connection.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { programsOf } from "./blocks.ts";

type Formula = (inputs: Record<string, number>) => number;

const redis = oncePerFile(() => startRedis());
const COUNT = 2000;
let formulas: Record<"series" | "limiter" | "locks" | "counters" | "queue", Formula>;

beforeAll(() => {
  const [{ code } = { code: "" }] = programsOf("docs/operate/production.md");
  const functions = code.slice(0, code.indexOf("const bytes"));
  const { outputText } = ts.transpileModule(functions, { compilerOptions: { target: ts.ScriptTarget.ES2022 } });
  formulas = new Function(`${outputText}; return { series, limiter, locks, counters, queue }`)();
});

/** The bytes of all keys that `write` leaves behind: what Redis spends for them, or their content alone. */
async function measured(
  write: (store: WatchedStore) => Promise<unknown>,
  sizeOf = (key: Buffer): (string | Buffer)[] => ["MEMORY", "USAGE", key, "SAMPLES", "0"],
): Promise<number> {
  const { url } = await redis();
  const store = redisStore(url, { registry: false, onWarning: null, deadline: "30s" });
  atEnd(() => store.close());
  const connection = new RespConnection(url);
  atEnd(() => connection.close());
  await connection.send([["FLUSHALL"]]);
  await write(store);
  const [found] = await connection.send([["KEYS", "*"]]);
  const keys = (found as { bulk: Buffer }[]).map(({ bulk }) => bulk);
  const sizes = await connection.send(keys.map(sizeOf));
  return sizes.reduce<number>((sum, size) => sum + (size as number), 0);
}

const each = <T>(call: (i: number) => Promise<T>) => Promise.all(Array.from({ length: COUNT }, (_, i) => call(i)));

describe("the sizing program is right to a third", () => {
  const isNear = (bytes: number, predicted: number) => {
    expect(bytes).toBeGreaterThan(predicted / 1.5);
    expect(bytes).toBeLessThan(predicted * 1.34);
  };

  test("events of a series, one by one and in batches", async () => {
    // The bytes of one second, without the time for which they are kept, and without the spare room of the open chunk.
    const sizeOf = (key: Buffer) => ["STRLEN", key];
    const bytes = (batch: number) => formulas.series({ eventsPerSecond: COUNT, retentionSeconds: 0, batch }) / 60;
    isNear(
      await measured(async (store) => {
        const latency = new Series(store, "api:latency");
        for (let i = 0; i < COUNT; i++) await latency.record(i);
      }, sizeOf),
      bytes(1),
    );
    isNear(
      await measured(async (store) => {
        const latency = new Series(store, "api:latency");
        for (let i = 0; i < COUNT; i += 8) await latency.recordMany([1, 2, 3, 4, 5, 6, 7, 8]);
      }, sizeOf),
      bytes(8),
    );
  });

  test("ids of a limiter", async () => {
    const day = calendarWindow({ limit: 100, every: "day" });
    for (const policy of [fixedWindow({ limit: 100, span: "1m" }), gcra({ limit: 100, span: "1m" }), day])
      isNear(
        await measured((store) => {
          const limiter = new Limiter(store, [policy], { name: "api" });
          return each((i) => limiter.take(`user:${i}`));
        }),
        formulas.limiter({ ids: COUNT }),
      );
  });

  test("locks that are held", async () => {
    const bytes = await measured((store) => each((i) => new Lock(store, `job:${i}`).tryLock({ lease: "10m" })));
    isNear(bytes, formulas.locks({ names: COUNT, held: COUNT }));
  });

  test("rows of counters, many in a shard", async () => {
    const bytes = await measured((store) => {
      const flow = new Counters(store, "flow", { dimensions: ["site", "lane", "direction"], shards: 1 });
      return each((i) => flow.add({ site: `S${i}`, lane: "1", direction: "N" }));
    });
    isNear(bytes, formulas.counters({ rows: COUNT }));
  });

  test("messages of a queue", async () => {
    const bytes = await measured((store) => {
      const sms = new DelayQueue<string>(store, "sms");
      return each(() => sms.add("x".repeat(198), { delay: "30m" }));
    });
    isNear(bytes, formulas.queue({ messages: COUNT, payloadBytes: 200 }));
  });
});
