import { expect, test } from "vitest";
import { LockedWindow, OrielError, Series } from "../../../src/entries/index.ts";
import { storeWith } from "../contract/changed-store.ts";

/** A store of which every answer is lost. */
function lossy() {
  return storeWith(async (_name, _key, run) => {
    await run();
    throw new OrielError("DEADLINE", "no answer", { transient: true, applied: "unknown" });
  }).store;
}

const series = () => new Series(lossy(), "s");

test.each([
  ["stats", () => series().stats()],
  ["stats with maxAge", () => series().stats({ maxAge: 1 })],
  ["values", () => series().values()],
  ["fractionBelow", () => series().fractionBelow(1)],
  ["Series.stats", () => Series.stats([series(), series()])],
  ["a locked window's stats", () => new LockedWindow(lossy(), "s", { span: "1m" }).stats()],
])('a query without an answer is applied "no": %s', async (_, ask) => {
  await expect(ask()).rejects.toMatchObject({ code: "DEADLINE", transient: true, applied: "no" });
});

test.each([
  ["recordAndGet", () => series().recordAndGet(1)],
  ["delete", () => series().delete()],
])('a call that may have changed something is applied "unknown": %s', async (_, call) => {
  await expect(call()).rejects.toMatchObject({ code: "DEADLINE" });
});
