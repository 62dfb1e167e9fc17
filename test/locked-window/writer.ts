import { LockedWindow, redisStore } from "../../src/entries/index.ts";

/** One process of locked-processes.test.ts: adds its own number repeatedly, and prints the outcome of each. */
const [url = "", value = ""] = process.argv.slice(2);
const store = redisStore(url, { deadline: 60_000 });
const window = new LockedWindow(store, "orders", { span: "1h", lease: 200, wait: "20s" });

process.send?.("ready");
let isRunning = true;
process.on("message", () => {
  isRunning = false;
});
const fates = { added: 0, refused: 0, unknown: 0 };
while (isRunning)
  await window.addAndGetStats(Number(value)).then(
    () => fates.added++,
    (error) => (error.applied === "no" ? fates.refused++ : fates.unknown++),
  );
process.send?.(fates, () => process.exit());
