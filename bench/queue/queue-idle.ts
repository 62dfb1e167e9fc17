import { setTimeout as pause } from "node:timers/promises";
import type { Redis } from "ioredis";
import { commandsOf, usedBytes } from "../cluster/redis-info.ts";
import type { QueueRival } from "../rivals/queue/queue.ts";
import { payloadOf } from "./queue-tally.ts";

const TEN_MINUTES_MS = 600_000;
const BULK = 1000;

export interface IdleSizes {
  idleMs: number;
  /** Time until the workers have polled and sleep. */
  settleMs: number;
  waiting: number;
}

/** Commands that the server executes per second and worker while one message waits that is due in ten minutes. */
export async function idleCommands(
  raw: Redis,
  redisUrl: string,
  rival: QueueRival,
  workers: number,
  { idleMs, settleMs }: IdleSizes,
): Promise<number> {
  const client = await rival.open(redisUrl, "idle");
  const handle = () => {
    throw new Error(`${rival.name} handles what is due in ten minutes`);
  };
  await client.add({ payload: payloadOf(0), due: { delayMs: TEN_MINUTES_MS } });
  const options = { concurrency: 1, prefetch: 0 };
  const all = await Promise.all(Array.from({ length: workers }, () => client.work(options, handle)));
  try {
    await pause(settleMs);
    const before = await commandsOf(raw);
    const startMs = performance.now();
    await pause(idleMs);
    const commands = (await commandsOf(raw)) - before;
    const left = await client.left();
    if (left !== 1) throw new Error(`${rival.name} has ${left} messages of 1`);
    return commands / workers / ((performance.now() - startMs) / 1000);
  } finally {
    await Promise.all(all.map((worker) => worker.close()));
    await client.close();
  }
}

/** MEMORY USAGE of all keys divided by the waiting messages. */
export async function bytesPerMessage(raw: Redis, redisUrl: string, rival: QueueRival, { waiting }: IdleSizes) {
  const client = await rival.open(redisUrl, "waiting");
  try {
    const all = Array.from({ length: waiting }, (_, id) => ({
      payload: payloadOf(id),
      due: { delayMs: TEN_MINUTES_MS + id },
    }));
    for (let from = 0; from < waiting; from += BULK) await client.addBulk(all.slice(from, from + BULK));
    const left = await client.left();
    if (left !== waiting) throw new Error(`${rival.name} has ${left} messages of ${waiting}`);
    return (await usedBytes(raw)) / waiting;
  } finally {
    await client.close();
  }
}
