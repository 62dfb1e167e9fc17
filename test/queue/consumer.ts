import { setTimeout as pause } from "node:timers/promises";
import { DelayQueue, redisStore } from "../../src/index.ts";

/** A consumer process: tells of each delivery and of what it lost; its handlers take `workMs`. */
const [url = "", concurrency, visibilityMs, workMs] = process.argv.slice(2);
const queue = new DelayQueue(redisStore(url, { deadlineMs: 3000 }), "mail");
const worker = queue.process(
  async ({ id, attempt }) => {
    console.log(`${id} ${attempt}`);
    await pause(Number(workMs));
  },
  { concurrency: Number(concurrency), visibility: Number(visibilityMs) },
);
worker.on("lost", ({ id, attempt }) => console.log(`lost ${id} ${attempt}`));
