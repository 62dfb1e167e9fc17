// A process of its own: counts until it is killed; prints "+ id" before and "= id" after each acknowledgement.
import { Counters } from "../../../src/counter/counters.ts";
import { redisStore } from "../../../src/store/redis.ts";

const [url = "", name = ""] = process.argv.slice(2);
const store = redisStore(url, { deadline: 3000 });
const flow = new Counters(store, "flow", { dimensions: ["id"], shards: 4 });
const at = Date.UTC(2026, 10, 21, 12);

async function caller(number: number): Promise<void> {
  for (let i = 0; ; i++) {
    const id = `${name}.${number}.${i}`;
    process.stdout.write(`+${id}\n`);
    await flow.add({ id }, { at });
    process.stdout.write(`=${id}\n`);
  }
}
for (let number = 0; number < 8; number++) void caller(number);
