import { setTimeout as pause } from "node:timers/promises";
import { Cluster } from "ioredis";
import { DelayQueue, redisStore } from "../../src/entries/index.ts";

/** A consumer process. It prints each delivery and each lost one. Its handlers take `workMs`. */
const [url = "", isCluster, shards, concurrency, visibilityMs, workMs] = process.argv.slice(2);
const store = redisStore(isCluster ? (new Cluster([url]) as never) : url, { deadline: 3000 });
const worker = new DelayQueue(store, "mail", { shards: Number(shards) }).process(
  async ({ id, attempt }) => {
    console.log(`${id} ${attempt}`);
    await pause(Number(workMs));
  },
  { concurrency: Number(concurrency), visibility: Number(visibilityMs) },
);
worker.on("lost", ({ id, attempt }) => console.log(`lost ${id} ${attempt}`));
