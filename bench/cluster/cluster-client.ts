// A client process of the cluster bench. For each input line { layout, callers, sliceMs } it records into its part of that
// layout for sliceMs, and prints the number of acknowledged calls and the time in ms.
import { createInterface } from "node:readline";
import { Cluster } from "ioredis";
import { redisStore, Series } from "../../src/entries/index.ts";
import { runSlice } from "../runner/measure.ts";

/** Per layout: the cluster's URLs and the name of this process's part. */
const layouts = JSON.parse(process.argv[2] as string) as { urls: string[]; name: string }[];
const clients = layouts.map(({ urls }) => new Cluster(urls));
const stores = clients.map((client) => redisStore(client, { deadline: 10_000 }));
const parts = layouts.map(({ name }, i) => new Series(stores[i]!, name, { retention: "10m" }));

for await (const line of createInterface({ input: process.stdin })) {
  const { layout, callers, sliceMs } = JSON.parse(line) as { layout: number; callers: number; sliceMs: number };
  const part = parts[layout]!;
  const { operations, elapsedMs } = await runSlice({ callers, sliceMs, minOperations: 1 }, async () => {
    await part.record(12.5);
    return true;
  });
  console.log(JSON.stringify({ operations, elapsedMs }));
}
for (const store of stores) await store.close();
for (const client of clients) client.disconnect();
