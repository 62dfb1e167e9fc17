import { Breaker, redisStore } from "../../src/entries/index.ts";

/** A process of faults.test.ts. It opens the circuit, hangs in its probe, and prints that. */
const [url = "", options = "{}"] = process.argv.slice(2);
const breaker = new Breaker(redisStore(url), { span: "1m", ...JSON.parse(options) });

await breaker.run(() => Promise.reject(new Error("bad"))).catch(() => {});
await breaker.flush();
const hang = () => {
  process.stdout.write("probes\n");
  return new Promise(() => setInterval(() => {}, 1000));
};
for (;;) await breaker.run(hang).catch(() => new Promise((resolve) => setTimeout(resolve, 5)));
