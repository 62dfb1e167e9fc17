// Asks a hostile server for one decision after the other. Prints the peak growth of the process in bytes.
import { fixedWindow, httpStore, Limiter } from "../../../src/entries/index.ts";

const [url = "", calls = "1"] = process.argv.slice(2);
const store = httpStore({ url, token: "t", deadline: 2000, registry: false });
const limiter = new Limiter(store, [fixedWindow({ limit: 5, span: "1m" })], { name: "api" });
const peakBytes = () => process.resourceUsage().maxRSS * 1024;
const reasons = new Set<string>();
const ask = () =>
  limiter.take("a").then(
    () => reasons.add("decided"),
    (error) => reasons.add(error.code),
  );
await limiter.peek("a").catch(() => {}); // the server refuses it, but it loads the code of any call
const before = peakBytes();
for (let i = 0; i < Number(calls); i++) await ask();
process.stdout.write(`${JSON.stringify({ grownBytes: peakBytes() - before, reasons: [...reasons] })}\n`);
await store.close();
