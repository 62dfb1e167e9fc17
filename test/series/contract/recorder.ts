// A process of its own: records whole numbers from `first` on into one series, and prints each when it is acknowledged.
import { redisStore, Series } from "../../../src/entries/index.ts";

const [url, name, first, count] = process.argv.slice(2) as [string, string, string, string];
const store = redisStore(url, { deadline: 60_000 });
const series = new Series(store, name, { retention: "10m", values: "float64" });
const acknowledge = (values: number[]) => process.stdout.write(`${values.join("\n")}\n`);

const end = Number(first) + Number(count);
for (let value = Number(first); value < end; ) {
  const size = Math.min(end - value, 1 + (value % 7));
  const values = Array.from({ length: size }, (_, i) => value + i);
  if (value % 2 === 0) await series.recordMany(values);
  else await Promise.all(values.map((each) => series.record(each)));
  acknowledge(values);
  value += size;
}
await series.close();
await store.close();
