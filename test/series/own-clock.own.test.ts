// The process of a Worker relies on its own clock for its first request.
import { afterEach, describe, expect, test, vi } from "vitest";

import type { Store } from "../../src/store/contract.ts";

// Modules that were loaded before looked at another navigator.
Object.defineProperty(globalThis, "navigator", { configurable: true, value: { userAgent: "Cloudflare-Workers" } });
vi.resetModules();
const { memoryStore, Series } = await import("../../src/entries/index.ts");
const { ask, counted, fill, NAME, shortChunks } = await import("./cold-journal.ts");

const OPTIONS = { values: "float64" } as const;
const withoutRotations = (asked: readonly string[]) => asked.filter((name) => name !== "journal/rotate");

afterEach(() => void vi.useRealTimers());

/** The same store, as one that is not in this process. */
const elsewhere = (store: Store): Store => ({ ...store, monotonic: store.monotonic, address: "https://elsewhere" });

/** A store, and a process whose clock is so far ahead of it. */
function apart(aheadMs: number) {
  const nowMs = 1_800_000_000_000;
  vi.useFakeTimers({ now: nowMs + aheadMs, toFake: ["Date"] });
  const clock = { nowMs };
  return { clock, store: elsewhere(memoryStore({ clock: () => clock.nowMs, registry: false })) };
}

describe("a series in a Worker", () => {
  // The second call finds the first one's session busy, and has another.
  test("records and answers in one request, and the next ones in one each", async () => {
    shortChunks();
    const plain = elsewhere(memoryStore({ registry: false }));
    const values = await fill(plain);
    const { asked, store } = counted(plain);
    const series = new Series(store, NAME, OPTIONS);
    expect((await series.recordAndGet(-1)).count).toBe(values.length + 1);
    expect(withoutRotations(asked)).toEqual(["journal/append-and-read-outlines"]);
    expect((await series.stats()).count).toBe(values.length + 1);
    expect((await series.recordAndGet(-2)).count).toBe(values.length + 2);
    expect(withoutRotations(asked)).toEqual([
      "journal/append-and-read-outlines",
      "journal/read-outlines",
      "journal/append",
    ]);
    expect((await ask(store)).values).toEqual([...values, -1, -2]);
    await series.close();
  });

  test.each([0, 4_900, -4_900, 9_999, -10_000])(
    "with a clock %d ms ahead records once, in one request",
    async (aheadMs) => {
      const { store } = apart(aheadMs);
      const { asked, store: counting } = counted(store);
      const series = new Series(counting, NAME, OPTIONS);
      expect((await series.recordAndGet(7)).count).toBe(1);
      expect(asked).toEqual(["journal/append-and-read-outlines"]);
      await series.close();
    },
  );

  test.each([10_000, 60_000, 1e12, -10_001, -60_000, -1e12])(
    "with a clock %d ms ahead is refused, and then uses the server's time",
    async (aheadMs) => {
      const { store } = apart(aheadMs);
      const series = new Series(store, NAME, OPTIONS);
      await expect(series.recordAndGet(7)).rejects.toMatchObject({
        code: "STALE",
        transient: true,
        applied: "unknown",
      });
      expect((await series.recordAndGet(8)).count).toBe(1);
      await series.close();
    },
  );

  test.each([-9_000, 0, 9_000])(
    "with a clock %d ms ahead counts once, whenever copies of its request arrive",
    async (aheadMs) => {
      const { store: plain, clock } = apart(aheadMs);
      let copy: (() => Promise<unknown>) | undefined;
      const run: Store["run"] = (operation, ...rest) => {
        if (operation.name === "journal/append-and-read-outlines") copy ??= () => plain.run(operation, ...rest);
        return plain.run(operation, ...rest);
      };
      const store: Store = { ...plain, monotonic: plain.monotonic, run };
      const series = new Series(store, NAME, OPTIONS);
      expect((await series.recordAndGet(7)).count).toBe(1);
      for (const stepMs of [1_000, 8_000, 9_000, 9_000, 30_000, -60_000, -60_000]) {
        clock.nowMs += stepMs;
        await copy!();
        expect((await series.stats()).count).toBe(1);
      }
      await series.close();
    },
  );
});
