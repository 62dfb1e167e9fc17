import { afterEach, describe, expect, test } from "vitest";
import { OrielError } from "../../../src/base/errors.ts";
import { ChunkSealer } from "../../../src/engine/journal/sealed/sealer.ts";
import { read } from "../../../src/engine/journal/steps/read.ts";
import { rotate } from "../../../src/engine/journal/steps/rotate.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../../src/engine/kernel/choose.ts";
import { memoryStore, Series } from "../../../src/entries/index.ts";
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

const VALUES = Array.from({ length: 1500 }, (_, i) => i % 5);

/** Closes the open chunk, and seals it. */
async function sealChunk(name: string): Promise<void> {
  const key = inner.keyOf(name);
  const { header } = await inner.run(read, key, "header");
  const { number, birth } = header!;
  await inner.run(rotate, key, { number, birth, nextBirth: 7 });
  const sealer = new ChunkSealer(inner, key, () => ({ codec: jsCodec, kernel: activeKernel() }));
  expect(await sealer.seal(number)).toBe("sealed");
}

describe("queries of one turn over outlines", () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  afterEach(() => {
    process.off("unhandledRejection", note);
  });

  // If no chunk is sealed, one answer has the events for all queries.
  test.each([
    ["all of them", true, () => true, ["rejected", "rejected", "rejected"]],
    ["the first", true, (nth: number) => nth === 1, ["rejected", "fulfilled", "fulfilled"]],
    ["the last", true, (nth: number) => nth === 3, ["fulfilled", "fulfilled", "rejected"]],
    ["all of them", false, () => true, ["rejected", "rejected", "rejected"]],
    ["the first", false, (nth: number) => nth === 1, ["fulfilled", "fulfilled", "fulfilled"]],
  ] as const)(
    "leave no rejection unhandled if %s fail (of sealed chunks: %s), and the others are answered",
    async (which, isSealed, fails, expected) => {
      process.on("unhandledRejection", note);
      outlineReads = 0;
      failing = () => false;
      const name = `s-${which}-${isSealed}`;
      const series = new Series(store, name);
      await series.recordMany(VALUES);
      if (isSealed) await sealChunk(name);
      failing = fails;
      const settled = await Promise.allSettled([1, 50, 99].map((p) => series.stats({ percentiles: [p] })));
      await new Promise((resolve) => setTimeout(resolve, 20)); // an unhandled rejection would be here
      failing = () => false;
      expect(settled.map(({ status }) => status)).toEqual(expected);
      for (const one of settled)
        if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "DEADLINE", transient: true });
        else expect(one.value.count).toBe(VALUES.length);
      expect(unhandled).toEqual([]);
      await series.close();
    },
  );
});
