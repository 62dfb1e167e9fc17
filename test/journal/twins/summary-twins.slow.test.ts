import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Series } from "../../../src/entries/index.ts";
import { constants } from "../../../src/journal/format/constants.ts";
import { runs, seen } from "../../harness/runs.ts";
import type { OpenStore } from "../../series/contract/stores.ts";
import { uniformOf } from "../../stats/random.ts";
import { compare, NAME, OPTIONS, STORES } from "./near.ts";

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("record" as const), count: fc.constantFrom(1, 30, 900, 3000) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("dated" as const), backMs: fc.constantFrom(500, 20_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("summarize" as const), error: fc.constantFrom(0.02, 0.2) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 700, 3000, 3000, 25_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("ask" as const),
      spanMs: fc.constantFrom(60_000, 30_000, 5000),
      accepted: fc.constantFrom(0, 0.05, 0.2, 0.5, 0.5),
      isPast: fc.boolean(),
    }),
  },
);

describe.each(STORES)("in %s", (_name, open, numRuns) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  test("the error of a cold reader's answer is within its stated bound", async () => {
    const usual = constants.rotateBytes;
    constants.rotateBytes = 20_000;
    onTestFinished(() => {
      constants.rotateBytes = usual;
    });
    let used = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 15, maxLength: 40, size: "max" }),
        fc.integer(),
        async (steps, seed) => {
          await opened.clear();
          const random = uniformOf(seed);
          const { clock, store } = opened;
          const writers = [new Series(store, NAME, OPTIONS), new Series(store, NAME, OPTIONS)];
          const drawn = (count: number) => Array.from({ length: count }, () => Math.floor(1e4 * random() ** 3));
          for (const one of steps) {
            const writer = writers[random() < 0.5 ? 0 : 1]!;
            if (one.kind === "record") await writer.recordMany(drawn(one.count));
            else if (one.kind === "dated") await writer.recordMany(drawn(100), { at: clock.nowMs - one.backMs });
            else if (one.kind === "summarize") await writer.summarize({ rankError: one.error });
            else if (one.kind === "wait") clock.nowMs += one.ms;
            else {
              const at = one.isPast ? clock.nowMs - 3000 : undefined;
              if (await compare(opened, Math.min(one.spanMs, one.isPast ? 57_000 : 60_000), one.accepted, at)) used++;
            }
          }
          await Promise.all(writers.map((each) => each.close()));
        },
      ),
      { numRuns: runs(numRuns) },
    );
    expect(used).toBeGreaterThan(seen(numRuns / 4));
  });
});
