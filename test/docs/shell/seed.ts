import { Counters, DelayQueue, DrainService, redisStore, Series } from "../../../src/entries/index.ts";
import { postgresSink } from "../../../src/entries/sql.ts";
import { pg } from "../../drain/sql/clients.ts";
import { RespConnection } from "../../harness/network/resp-connection.ts";

/** Puts the structures that the pages name into an empty Redis and a database. The registry lists them. */
export async function seed(redisUrl: string, postgresUrl: string): Promise<void> {
  const clock = { nowMs: 0 };
  const store = redisStore(redisUrl, { deadline: 60_000, monotonic: () => clock.nowMs });
  const latency = new Series(store, "api:latency", { retention: "1h" });
  const queue = new DelayQueue(store, "sms");
  const flow = new Counters(store, "flow", { dimensions: ["site", "lane"] });
  const pool = new pg.Pool({ connectionString: postgresUrl });
  try {
    await latency.recordMany(Array.from({ length: 100 }, (_, i) => i + 1));
    await flow.add({ site: "north", lane: "1" });
    const sink = postgresSink(pool);
    await sink.createTables(flow.shape);
    await new DrainService({ counters: flow, sink }).drainOnce();
    clock.nowMs += 5000; // the structures are announced now
    await queue.add("hello", { delay: "1h" });
    await latency.record(1);
  } finally {
    await pool.end();
    await store.close();
  }
  const raw = new RespConnection(redisUrl);
  const entry = ["site", "north", "lane", "1", "direction", "in"];
  await raw.send([["XADD", "flow:events", "*", ...entry]]);
  raw.close();
}
