import { rivalNamed } from "../rivals/all.ts";
import { type Load, runSlice } from "../runner/measure.ts";

/** One of several processes that share a rival's window: opens it, then runs a slice of load at each message. */
const [rivalName = "", redisUrl = "", name = "", windowMs = "0"] = process.argv.slice(2);
const window = await rivalNamed(rivalName).open(redisUrl, name, Number(windowMs), new Float32Array(0));

process.on("message", async (load: Load) => {
  let added = 0;
  const slice = await runSlice(load, async (signal) => (await window.add(added++ % 1000, signal)) !== undefined);
  process.send?.({ operations: slice.operations, refused: slice.refused });
});
process.on("disconnect", () => process.exit());
process.send?.("open");
