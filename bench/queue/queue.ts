import { Redis } from "ioredis";
import type { QueueRival } from "../rivals/queue/queue.ts";
import { BULLMQ } from "../rivals/queue/queue-bullmq.ts";
import { ORIEL_QUEUE } from "../rivals/queue/queue-oriel.ts";
import type { Report, Row } from "../runner/report.ts";
import { bytesPerMessage, type IdleSizes, idleCommands } from "./queue-idle.ts";
import { type LatenessSizes, measureLateness } from "./queue-lateness.ts";
import { measureRates, type RatesSizes } from "./queue-rates.ts";

export interface QueueSizes {
  rates: RatesSizes;
  late: LatenessSizes;
  idle: IdleSizes;
}

export const FULL_QUEUE: QueueSizes = {
  rates: { messages: 30_000, turns: 3 },
  late: { messages: 10_000, spanMs: 60_000, leadMs: 2000 },
  idle: { idleMs: 12_000, settleMs: 2000, waiting: 10_000 },
};
export const SMALL_QUEUE: QueueSizes = {
  rates: { messages: 300, turns: 1 },
  late: { messages: 50, spanMs: 300, leadMs: 100 },
  idle: { idleMs: 300, settleMs: 100, waiting: 100 },
};

const WORKERS = 4;
const RIVALS: readonly QueueRival[] = [BULLMQ, ORIEL_QUEUE];

/** Delayed messages: rates of adding and handling, lateness, bytes per message, and cost of waiting. */
export async function benchQueue(redisUrl: string, { rates, late, idle }: QueueSizes): Promise<Report> {
  const notes = [
    `Rates: 100 callers add ${rates.messages} messages with a delay of 50 ms, one by one or 1000 at a time. One worker with an empty handler starts when all are due. Timed from the first tenth on, median of ${rates.turns} turns. Each message was handled once, and none was left.`,
    `Late: ${late.messages} messages due at random within ${late.spanMs / 1000} s, ${WORKERS} idle workers with their own connections. The time from when a message was due until its handler began, by the server's clock.`,
    `Idle: one message due in ten minutes, ${WORKERS} workers. The commands that the server executed in ${idle.idleMs / 1000} s, including those in scripts.`,
    `bytes: MEMORY USAGE of all keys divided by ${idle.waiting} waiting messages.`,
    "BullMQ removes completed jobs. It cannot prefetch.",
  ];
  const able = RIVALS.filter((rival) => {
    const reason = rival.missing();
    if (reason) notes.push(`${rival.name} was skipped: ${reason}.`);
    return !reason;
  });
  const raw = new Redis(redisUrl);
  try {
    const rows = await measureRates(raw, redisUrl, able, rates);
    const fresh = async <T>(measure: (rival: QueueRival) => Promise<T>) => {
      const measured = new Map<QueueRival, T>();
      for (const rival of able) {
        await raw.flushdb();
        measured.set(rival, await measure(rival));
      }
      return measured;
    };
    const lateness = await fresh((rival) => measureLateness(raw, redisUrl, rival, WORKERS, late));
    const commands = await fresh((rival) => idleCommands(raw, redisUrl, rival, WORKERS, idle));
    const bytes = await fresh((rival) => bytesPerMessage(raw, redisUrl, rival, idle));
    for (const of of ["p50", "p99", "max", "early"] as const)
      rows.push(less(of === "early" ? "early, messages" : `late, ${of}, ms`, (rival) => lateness.get(rival)?.[of]));
    rows.push(less("idle, commands/s and worker", (rival) => commands.get(rival)));
    rows.push(less("waiting, bytes/message", (rival) => bytes.get(rival)));
    await raw.flushdb();
    return { bench: "queue", title: "A delay queue (one process, one Redis)", rows, notes };
  } finally {
    await raw.quit();
  }
}

/** A row for a measure where less is better. */
function less(what: string, measured: (rival: QueueRival) => number | undefined): Row {
  const [theirs, ours] = RIVALS.map((rival) => measured(rival) ?? Number.NaN) as [number, number];
  return { what, BullMQ: theirs, oriel: ours, timesBetter: theirs / ours };
}
