// A process that counts its share of the passages over a cluster. Arguments: cluster, folder, worker, workers.
import { Cluster } from "ioredis";
import { Counters, redisStore } from "../../dist/index.js";
import { passages } from "./passages.mjs";

const [url, folder, worker, workers] = process.argv.slice(2);
const client = new Cluster([url]);
const store = redisStore(client, { deadline: 20_000 });
const flow = new Counters(store, "passages", { dimensions: ["site", "lane", "direction"], shards: 16 });
let waiting = new Set();
let events = 0;
for (const [site, lane, direction, at, count] of passages(folder, Number(worker), Number(workers))) {
  waiting.add(flow.add({ site, lane, direction }, { at, count }));
  if (++events % 20_000 === 0) {
    await Promise.all(waiting);
    waiting = new Set();
  }
}
await Promise.all(waiting);
await flow.close();
await store.close();
client.disconnect();
console.log(events);
