import { setTimeout as pause } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { QueueClient, QueueRival } from "../rivals/queue/queue.ts";
import { median } from "../runner/measure.ts";
import type { Row } from "../runner/report.ts";
import { payloadOf, Tally } from "./queue-tally.ts";

export interface RatesSizes {
  messages: number;
  turns: number;
}

const CASES = [
  { what: "handle, concurrency 1", adding: "one by one", concurrency: 1, prefetch: 0 },
  { what: "handle, concurrency 1, prefetch 16", adding: "one by one", concurrency: 1, prefetch: 16 },
  { what: "handle, concurrency 50", adding: "in bulk", concurrency: 50, prefetch: 0 },
  { what: "handle, concurrency 50, prefetch 200", adding: "in bulk", concurrency: 50, prefetch: 200 },
] as const;
type Case = (typeof CASES)[number];

const DELAY_MS = 50;
const CALLERS = 100;
const BULK = 1000;

/** Messages added per second, and handled per second once all are due. One row for each way, from slices taken in turn. */
export async function measureRates(
  raw: Redis,
  redisUrl: string,
  rivals: readonly QueueRival[],
  sizes: RatesSizes,
): Promise<Row[]> {
  const rates = new Map<string, Record<string, number[]>>();
  const keep = (what: string, rival: QueueRival, rate: number) => {
    const row = rates.get(what) ?? Object.fromEntries(rivals.map(({ name }) => [name, []]));
    rates.set(what, row);
    row[rival.name]!.push(rate);
  };
  for (let turn = 0; turn < sizes.turns; turn++)
    for (const how of CASES)
      for (const rival of rivals) {
        await raw.flushdb();
        const { added, handled } = await measureCase(redisUrl, rival, how, sizes.messages);
        keep(`add ${how.adding}`, rival, added);
        keep(how.what, rival, handled);
      }
  return [...rates].map(([what, { BullMQ = [], oriel = [] }]) => ({
    what: `${what}, messages/s`,
    BullMQ: median(BullMQ),
    oriel: median(oriel),
    timesBetter: median(oriel.map((rate, i) => rate / (BullMQ[i] ?? Number.NaN))),
  }));
}

async function measureCase(redisUrl: string, rival: QueueRival, how: Case, messages: number) {
  const client = await rival.open(redisUrl, "bench");
  try {
    const addedMs = await timeMs(() => addAll(client, how, messages));
    await pause(DELAY_MS + 1);
    const warm = Math.floor(messages / 10);
    let startMs = 0;
    let endMs = 0;
    const tally = new Tally(messages, (handled) => {
      if (handled === warm) startMs = performance.now();
      if (handled === messages) endMs = performance.now();
    });
    const { concurrency, prefetch } = how;
    const worker = await client.work({ concurrency, prefetch }, tally.handle);
    await tally.full;
    await worker.close();
    tally.verify(rival.name);
    const left = await client.left();
    if (left !== 0) throw new Error(`${rival.name} still has ${left} messages that were handled`);
    return { added: (messages / addedMs) * 1000, handled: ((messages - warm) / (endMs - startMs)) * 1000 };
  } finally {
    await client.close();
  }
}

async function addAll(client: QueueClient, { adding }: Case, messages: number): Promise<void> {
  const all = Array.from({ length: messages }, (_, id) => ({ payload: payloadOf(id), due: { delayMs: DELAY_MS } }));
  if (adding === "in bulk") {
    for (let from = 0; from < messages; from += BULK) await client.addBulk(all.slice(from, from + BULK));
    return;
  }
  let next = 0;
  const call = async () => {
    while (next < messages) await client.add(all[next++]!);
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
}

async function timeMs(run: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await run();
  return performance.now() - startMs;
}
