// A process of its own: records whole numbers from `first` on until it is killed, and prints each once it is
// acknowledged; "?" and the number where nobody knows.
import { redisStore, Series } from "../../src/entries/index.ts";

const [url, name, first] = process.argv.slice(2) as [string, string, string];
const store = redisStore(url, { deadline: 1000 });
const series = new Series(store, name, { retention: "10m", values: "float64" });

for (let value = Number(first); ; ) {
  const values = Array.from({ length: 1 + (value % 5) }, (_, i) => value + i);
  const isDone = await series.recordMany(values).then(
    () => true,
    () => false,
  );
  process.stdout.write(`${values.map((each) => (isDone ? each : `?${each}`)).join("\n")}\n`);
  value += values.length;
}
