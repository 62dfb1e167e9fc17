import { describe, expect, test } from "vitest";
import { memoryStore } from "../../../src/entries/index.ts";
import { heldBytes } from "../../harness/heap.ts";
import { LIMITERS, LOCKS, QUEUES, type Shape } from "./memory-shapes.ts";
import { COUNTERS, OTHERS, SERIES } from "./more-memory-shapes.ts";

/** ORIEL_SOAK_SECONDS, as for the other soak tests: a larger bound, some ten times slower. */
const MAX_BYTES = (process.env.ORIEL_SOAK_SECONDS === undefined ? 1.5 : 64) * 2 ** 20;
const PER_TURN = 50;
/** Tolerance for other memory of the process. */
const ALLOWANCE_BYTES = 256 * 1024;

/** The bytes that a store holds, and those that it counts, after it was filled. */
async function filled(writesOn: Shape[1], maxCalls = Number.POSITIVE_INFINITY) {
  const clock = { nowMs: Date.UTC(2100, 0, 1) };
  const store = memoryStore({ clock: () => clock.nowMs, maxBytes: MAX_BYTES });
  const write = writesOn({ store, clock });
  let refused: unknown;
  let calls = 0;
  for (; refused === undefined && calls < maxCalls; calls += PER_TURN) {
    const given = await Promise.allSettled(Array.from({ length: PER_TURN }, (_, i) => write(calls + i)));
    for (const each of given) if (each.status === "rejected") refused = each.reason;
  }
  const countedBytes = store.sizeBytes;
  const before = await heldBytes();
  store.clear();
  const realBytes = before - (await heldBytes());
  return { refused, calls, countedBytes, realBytes };
}

describe.each([
  ["limiter", LIMITERS],
  ["lock", LOCKS],
  ["queue", QUEUES],
  ["counter", COUNTERS],
  ["series", SERIES],
  ["fleet and breaker", OTHERS],
])("a memory store full of data of a %s", (_structure, shapes) => {
  test.each(shapes)("%s occupies the bytes that it counts", async (what, writesOn, maxCalls) => {
    const kib = (bytes: number) => Math.round(bytes / 1024);
    // The process frees memory of its own at some moment, such as code that no longer runs: then it is measured again.
    for (let turn = 1; ; turn++) {
      const { refused, calls, countedBytes, realBytes } = await filled(writesOn, maxCalls);
      const ratio = Math.max(0, realBytes - ALLOWANCE_BYTES) / countedBytes;
      const figures = `${what}: ${calls} calls, ${kib(countedBytes)} KiB counted, ${kib(realBytes)} held, ${ratio.toFixed(2)}`;
      console.info(figures);
      if (refused !== undefined || maxCalls === undefined) expect(refused).toMatchObject({ code: "OVERLOADED" });
      if (ratio >= 1.5 && turn < 3) continue;
      expect(ratio, figures).toBeLessThan(1.5);
      if (countedBytes > 2 ** 20) expect(realBytes / countedBytes, figures).toBeGreaterThan(0.4);
      return;
    }
  });
});
