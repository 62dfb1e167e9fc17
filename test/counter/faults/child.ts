// A process of its own: counts until it is killed; prints "+ id" before and "= id" after each acknowledgement.
import { Counters } from "../../../src/counters/counter/counters.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";

const [url = "", name = ""] = process.argv.slice(2);
const store = redisStore(url, { deadline: 3000 });
const flow = new Counters(store, "flow", { dimensions: ["id"], shards: 4 });
const at = Date.UTC(2026, 10, 21, 12);

/** Is over when the line has left the process: a kill cannot take it back. */
const print = (line: string) => new Promise((resolve) => void process.stdout.write(`${line}\n`, resolve));

async function caller(number: number): Promise<void> {
  for (let i = 0; ; i++) {
    const id = `${name}.${number}.${i}`;
    await print(`+${id}`);
    await flow.add({ id }, { at });
    void print(`=${id}`);
  }
}
for (let number = 0; number < 8; number++) void caller(number);
