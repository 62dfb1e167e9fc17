import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agree } from "../../src/engine/shards/steps/agree.ts";
import { OrielError, Series } from "../../src/entries/index.ts";
import { runs } from "../harness/runs.ts";
import { type OpenStore, onMemory, onRedis6 } from "../series/contract/stores.ts";

const RETENTION_MS = 5000;

const step = fc.record({
  goneMs: fc.constantFrom(0, 1, 999, 4999, 5000, 5001, 59_999, 60_000, 60_001, -700),
  shards: fc.constantFrom(1, 2, 3, 256),
  position: fc.constantFrom(0, 0, 1, 2),
  kind: fc.constantFrom(7, 7, 7, 2 ** 32 - 1),
  keepMs: fc.constantFrom(0, RETENTION_MS, 70_000),
  isFirst: fc.boolean(),
  wholeAgoMs: fc.constantFrom(-1, 0, 20_000, 5e12),
  /** What happens to the series without shards before the call. */
  plain: fc.constantFrom("stays", "stays", "begins", "goes" as const),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe("the two forms of agree", () => {
  let opened: OpenStore[];
  beforeAll(async () => {
    opened = await Promise.all([onMemory(), onRedis6()]);
  });
  afterAll(() => Promise.all(opened.map((each) => each.close())));

  async function play({ store, clock, expiryOf, keys, remove }: OpenStore, { goneMs, plain, ...input }: Step) {
    clock.nowMs += goneMs;
    const key = store.keyOf("twin");
    if (plain === "goes") await remove(key);
    if (plain === "begins") {
      const series = new Series(store, "twin", { retention: RETENTION_MS, entropy: () => 1 });
      await series.record(1);
      await series.close();
    }
    const answer = await store.run(agree, key, input).catch((error: unknown) => {
      expect(error).toBeInstanceOf(OrielError);
      const { code, message, applied } = error as OrielError;
      return { code, message: message.replace(/ \(.*/, ""), applied };
    });
    const there = (await keys()).filter((each) => each.endsWith(":shards"));
    return { answer, expiries: await Promise.all(there.map(async (each) => [each, await expiryOf(each)])) };
  }

  test("have equal answers and expiries after every call of any sequence", async () => {
    const met = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
        await Promise.all(opened.map((each) => each.clear()));
        opened[1]!.clock.nowMs = opened[0]!.clock.nowMs;
        for (const one of steps) {
          const [memory, redis] = await Promise.all(opened.map((each) => play(each, one)));
          expect(redis).toEqual(memory);
          met.add(
            "code" in redis!.answer
              ? redis!.answer.message.split(" ", 2).join(" ")
              : `${redis!.answer.spreads.length > 1}`,
          );
        }
      }),
      { numRuns: runs(300) },
    );
    expect([...met].sort()).toEqual(["false", "its shards", "other processes", "this server", "true"]);
  });
});
