import type { Redis } from "ioredis";
import { Random } from "../../test/simulator/world/random.ts";
import type { QueueRival } from "../rivals/queue/queue.ts";
import { percentile } from "../runner/measure.ts";
import { serverAhead } from "../series/server-clock.ts";
import { payloadOf, Tally } from "./queue-tally.ts";

export interface LatenessSizes {
  messages: number;
  /** Due times are random within this span. */
  spanMs: number;
  /** Time from adding the first message until the first is due. */
  leadMs: number;
}

const BULK = 1000;

/**
 * The delay between due time and handling of a message, by the server's clock, with idle workers. The due times are chosen
 * here. The start of a handler is the server's time, estimated from its answers to TIME before and after.
 */
export async function measureLateness(
  raw: Redis,
  redisUrl: string,
  rival: QueueRival,
  workers: number,
  { messages, spanMs, leadMs }: LatenessSizes,
) {
  const random = new Random(1);
  const client = await rival.open(redisUrl, "late");
  const startedMs = new Float64Array(messages);
  const tally = new Tally(messages, (_, id) => {
    startedMs[id] = performance.now();
  });
  const options = { concurrency: 1, prefetch: 0 };
  const all = await Promise.all(Array.from({ length: workers }, () => client.work(options, tally.handle)));
  try {
    const before = await serverAhead(raw);
    const firstMs = Math.ceil(performance.now() + before.aheadMs + leadMs);
    const dueMs = Array.from({ length: messages }, () => firstMs + random.int(0, spanMs - 1));
    const added = dueMs.map((atMs, id) => ({ payload: payloadOf(id), due: { atMs } }));
    for (let from = 0; from < messages; from += BULK) await client.addBulk(added.slice(from, from + BULK));
    await tally.full;
    tally.verify(rival.name);
    const after = await serverAhead(raw);
    const aheadMs = (before.aheadMs + after.aheadMs) / 2;
    const lateMs = dueMs.map((due, id) => startedMs[id]! + aheadMs - due);
    const unsureMs = Math.abs(after.aheadMs - before.aheadMs) / 2 + Math.max(before.eitherWayMs, after.eitherWayMs);
    return {
      p50: percentile(lateMs, 50),
      p99: percentile(lateMs, 99),
      max: percentile(lateMs, 100),
      early: lateMs.filter((late) => late < -unsureMs).length,
    };
  } finally {
    await Promise.all(all.map((worker) => worker.close()));
    await client.close();
  }
}
