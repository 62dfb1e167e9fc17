import { DelayQueue, redisStore } from "../../../src/entries/index.ts";
import type { QueueDue, QueueMessage, QueuePayload, QueueRival } from "./queue.ts";

const DEADLINE_MS = 10_000;

export const ORIEL_QUEUE: QueueRival = {
  name: "oriel",
  missing: () => undefined,
  async open(redisUrl, name) {
    const store = redisStore(redisUrl, { deadline: DEADLINE_MS });
    const queue = new DelayQueue<QueuePayload>(store, name);
    return {
      add: ({ payload, due }) => queue.add(payload, whenOf(due)),
      addBulk: (messages) => queue.addBulk(messages.map(bulkOf)),
      async work(options, handle) {
        const its = redisStore(redisUrl, { deadline: DEADLINE_MS });
        const worker = new DelayQueue<QueuePayload>(its, name).process(({ payload }) => handle(payload), options);
        return {
          async close() {
            await worker.close();
            await its.close();
          },
        };
      },
      async left() {
        const { waiting, due, claimed, dead } = await queue.counts();
        return waiting + due + claimed + dead;
      },
      close: () => store.close(),
    };
  },
};

const bulkOf = ({ payload, due }: QueueMessage) => ({ payload, ...whenOf(due) });

function whenOf(due: QueueDue) {
  return "atMs" in due ? { at: due.atMs } : { delay: due.delayMs };
}
