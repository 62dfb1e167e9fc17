import { Redis } from "ioredis";
import { fixedWindow, Limiter, localDecisions, redisStore } from "../../../src/entries/index.ts";

/**
 * One process of shares.slow.test.ts: for each message "id calls" of the second server it makes calls of a limiter on the first one,
 * and prints how many passed, how many of them without the store, and the share.
 */
const [url = "", control = "", limit = "0"] = process.argv.slice(2);
const store = redisStore(url, { deadline: "10s" });
store.on("error", () => {});
const limiter = new Limiter(store, [fixedWindow({ limit: Number(limit), span: "1h" })], {
  name: "api",
  onStoreError: localDecisions(),
});

const listener = new Redis(control);
listener.on("message", async (_channel, message: string) => {
  const [id = "", calls = "0"] = message.split(" ");
  const decisions = await Promise.all(Array.from({ length: Number(calls) }, () => limiter.take(id)));
  const passed = decisions.filter(({ allowed }) => allowed);
  const shares = new Set(decisions.map(({ share }) => share));
  const local = passed.filter(({ degradedBy }) => degradedBy === "local");
  process.stdout.write(`${JSON.stringify([passed.length, local.length, ...shares])}\n`);
});
await listener.subscribe("round");
process.stdout.write("ready\n");
