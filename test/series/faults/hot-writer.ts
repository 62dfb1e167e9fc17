// A process of its own, one of the writers of a series that is too hot for one node: records whole numbers from `first`
// on into its part until it is killed, and prints each once it is acknowledged.
import { Cluster } from "ioredis";
import { redisStore, Series } from "../../../src/entries/index.ts";

const [urls, name, first] = process.argv.slice(2) as [string, string, string];
const part = new Series(redisStore(new Cluster(urls.split(","))), name, { retention: "10m", values: "float64" });

for (let value = Number(first); ; ) {
  const values = Array.from({ length: 1 + (value % 5) }, (_, i) => value + i);
  await part.recordMany(values);
  process.stdout.write(`${values.join("\n")}\n`);
  value += values.length;
}
