import { setImmediate as turn } from "node:timers/promises";
import { Redis } from "ioredis";
import {
  concurrency,
  fixedWindow,
  gcra,
  Limiter,
  leakyBucket,
  redisStore,
  slidingWindow,
} from "../../../src/entries/index.ts";

/**
 * One process of processes.slow.test.ts: for each message "policy id", makes its calls, half of them in one turn and the rest in
 * turns of five, without waiting for answers, and prints how many passed.
 */
const [url = "", calls = "0", limit = "0", skewMs = "0"] = process.argv.slice(2);
const [systemNow, skew] = [Date.now, Number(skewMs)];
Date.now = () => systemNow() + skew;

const budget = Number(limit);
const store = redisStore(url, { deadline: 20_000 });
const policies = [
  slidingWindow({ limit: budget, span: "1h" }),
  fixedWindow({ limit: budget, span: "1h" }),
  leakyBucket({ capacity: budget, span: "7d" }),
  gcra({ limit: budget, span: "7d" }),
  concurrency({ limit: budget, lease: "1h" }),
];
const limiters = new Map(policies.map((policy) => [policy.name, new Limiter(store, [policy], { name: policy.name })]));

const listener = new Redis(url);
listener.on("message", async (_channel, message: string) => {
  const [kind = "", id = ""] = message.split(" ");
  const taken = Array.from({ length: Number(calls) / 2 }, () => limiters.get(kind)!.take(id));
  while (taken.length < Number(calls)) {
    if (taken.length % 5 === 0) await turn();
    taken.push(limiters.get(kind)!.take(id));
  }
  const decisions = await Promise.all(taken);
  process.stdout.write(`${decisions.filter(({ allowed }) => allowed).length}\n`);
});
await listener.subscribe("round");
process.stdout.write("ready\n");
