import { rivalPackage } from "../limiter/limiter.ts";
import type { QueueDue, QueueMessage, QueuePayload, QueueRival } from "./queue.ts";

const bullmq = rivalPackage<typeof import("bullmq")>("bullmq");
const JOB = "mail";

/** As its documentation shows it. It removes completed jobs, as oriel does. */
export const BULLMQ: QueueRival = {
  name: "BullMQ",
  missing: bullmq.missing,
  async open(redisUrl, name) {
    const { Queue, Worker } = bullmq.load();
    const { hostname, port } = new URL(redisUrl);
    const connection = { host: hostname, port: Number(port) };
    const queue = new Queue<QueuePayload>(name, { connection });
    await queue.waitUntilReady();
    return {
      add: ({ payload, due }) => queue.add(JOB, payload, optionsOf(due)),
      addBulk: (messages) => queue.addBulk(messages.map(bulkOf)),
      async work({ concurrency }, handle) {
        const worker = new Worker<QueuePayload>(name, async ({ data }) => handle(data), {
          connection: { ...connection, maxRetriesPerRequest: null },
          concurrency,
        });
        await worker.waitUntilReady();
        return worker;
      },
      async left() {
        const counts = await queue.getJobCounts();
        return Object.values(counts).reduce((sum, count) => sum + count, 0);
      },
      close: () => queue.close(),
    };
  },
};

const bulkOf = ({ payload, due }: QueueMessage) => ({ name: JOB, data: payload, opts: optionsOf(due) });

/** It uses the client's clock. The due time is `timestamp` + `delay`. */
function optionsOf(due: QueueDue) {
  const timestamp = Date.now();
  const delay = "atMs" in due ? Math.max(1, due.atMs - timestamp) : due.delayMs;
  return { timestamp, delay, removeOnComplete: true };
}
