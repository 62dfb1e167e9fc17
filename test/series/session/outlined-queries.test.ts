import { afterEach, describe, expect, test } from "vitest";
import { memoryStore, Series } from "../../../src/entries/index.ts";
import { OrielError } from "../../../src/errors.ts";
import type { Store } from "../../../src/store/contract.ts";

const inner = memoryStore();
let failing: (queries: number) => boolean = () => false;
let outlineReads = 0;

/** `inner`, of which some reads of outlines fail. */
const store: Store = {
  ...inner,
  monotonic: inner.monotonic,
  leaseClock: inner.leaseClock,
  run(operation, key, input, options) {
    if (operation.name === "journal/read-outlines" && failing(++outlineReads))
      return Promise.reject(new OrielError("DEADLINE", "deadline", { transient: true, applied: "unknown" }));
    return inner.run(operation, key, input, options);
  },
};

describe("queries of one turn over outlines", () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  afterEach(() => {
    process.off("unhandledRejection", note);
  });

  test.each([
    ["all of them", () => true, ["rejected", "rejected", "rejected"]],
    ["the first", (nth: number) => nth === 1, ["rejected", "fulfilled", "fulfilled"]],
    ["the last", (nth: number) => nth === 3, ["fulfilled", "fulfilled", "rejected"]],
  ] as const)(
    "leave no rejection unhandled if %s fail, and the others are answered",
    async (_which, fails, expected) => {
      process.on("unhandledRejection", note);
      outlineReads = 0;
      failing = () => false;
      const series = new Series(store, `s-${expected.join()}`, { resident: false });
      await series.recordMany([1, 2, 3]);
      failing = fails;
      const settled = await Promise.allSettled([1, 50, 99].map((p) => series.stats({ percentiles: [p] })));
      await new Promise((resolve) => setTimeout(resolve, 20));
      failing = () => false;
      expect(settled.map(({ status }) => status)).toEqual(expected);
      for (const one of settled)
        if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "DEADLINE", transient: true });
        else expect(one.value.count).toBe(3);
      expect(unhandled).toEqual([]);
      await series.close();
    },
  );
});
