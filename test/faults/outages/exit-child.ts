// Uses stores that are down, closes them, and has nothing else to do: it must end by itself.
import { Cluster } from "ioredis";
import { createClient } from "redis";
import { DelayQueue, fixedWindow, httpStore, Limiter, Lock, redisStore } from "../../../src/entries/index.ts";

const [url = "", restUrl = ""] = process.argv.slice(2);
const options = { deadline: 300 };
const nodeRedis = createClient({ url });
const cluster = new Cluster([url]);
for (const client of [nodeRedis, cluster]) client.on("error", () => {});
const stores = [
  redisStore(url, options),
  redisStore(nodeRedis, options),
  redisStore(cluster, options),
  httpStore({ url: restUrl, token: "rest-token", ...options }),
];
const codes = await Promise.all(
  stores.map(async (store) => {
    const limiter = new Limiter(store, [fixedWindow({ limit: 1, span: "1m" })], { name: "l", onStoreError: "deny" });
    const worker = new DelayQueue(store, "q").process(() => {});
    worker.on("error", () => {});
    await limiter.take("a");
    const error = await new Lock(store, "l").tryLock().catch((reason) => reason);
    await worker.close();
    await store.close();
    return error.code;
  }),
);
nodeRedis.destroy();
cluster.disconnect();
process.stdout.write(`${codes.join(" ")}\n`);
// An alarm that keeps no process alive: reached only where something else does.
setTimeout(() => process.stdout.write(`kept alive by ${process.getActiveResourcesInfo().join(", ")}\n`), 4000).unref();
