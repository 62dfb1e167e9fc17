import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { httpStore, OrielError, Series } from "../../../src/entries/index.ts";
import { clients, clusterClients, storeOn } from "../../store/contract/clients.ts";
import { type Asked, QUESTION, type SharedOrders } from "./orders.ts";

/** One process of shared.slow.test.ts. It records and asks until it is killed, and prints each answer. */
const { client, urls, rest, id } = JSON.parse(process.argv[2]!) as SharedOrders;
const deadline = 2000;
const stores = {
  Redis: () => storeOn(clients["ioredis 6"](urls[0]!), { deadline }),
  cluster: () => storeOn(clusterClients["ioredis 6"](urls), { deadline }),
  HTTP: () => httpStore({ ...rest, deadline }),
};
const store = stores[client]();
const series = new Series(store, "s", { retention: "10m", values: "float64" });
const clock = new Redis(urls[0]!);
clock.on("error", () => {});

for (let value = id * 1_000_000; ; value++) {
  // An event without an answer may be there or not.
  await series.record(value).catch(() => {});
  try {
    const [seconds, us] = (await clock.time()) as [number | string, number | string];
    const askedMs = Number(seconds) * 1000 + Math.floor(Number(us) / 1000);
    const stats = await series.stats(QUESTION);
    process.stdout.write(`${JSON.stringify({ askedMs, stats } satisfies Asked)}\n`);
  } catch (error) {
    if (!(error instanceof OrielError && error.transient) && !/closed|reset/i.test(String(error))) throw error;
  }
  await pause(3);
}
