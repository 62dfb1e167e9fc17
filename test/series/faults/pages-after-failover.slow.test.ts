// A failover between two pages of an open chunk: the first pages are of a past that is lost.
import { afterAll, expect, test } from "vitest";
import type { ChunkBytes } from "../../../src/engine/journal/format/chunk-bytes.ts";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { Series } from "../../../src/entries/index.ts";
import type { Keyspace, Operation } from "../../../src/store/contract.ts";
import { storeWith } from "../contract/changed-store.ts";

const { pageBytes } = constants;
afterAll(() => Object.assign(constants, { pageBytes }));

const FRAME_BYTES = 24;
const OPTIONS = { values: "float64" } as const;

/** Takes the last frames of the open chunk back, as a replica that never received them. */
const takeBack = {
  name: "test/take-back",
  keyCount: 1,
  arity: 0,
  local(keys: Keyspace, key: string, frames: number, nowMs: number) {
    const chunk = keys.get(key) as ChunkBytes;
    chunk.length -= frames * FRAME_BYTES;
    chunk.header = { ...chunk.header, lastStampMs: nowMs - 10 * (frames + 1) };
  },
} as unknown as Operation<number, unknown>;

test("are of the journal as it is now, and the answer says that events were lost", async () => {
  Object.assign(constants, { pageBytes: 256 });
  let hasFailedOver = false;
  const { store, plain, clock } = storeWith(async (name, key, run) => {
    if (name === "journal/read" && !hasFailedOver) {
      hasFailedOver = true;
      await plain.run(takeBack, key, 3);
      clock.nowMs += 1000;
      const other = new Series(plain, "s", OPTIONS);
      for (const value of [100, 101, 102]) await other.record(value);
      await other.close();
    }
    return run();
  });
  const writer = new Series(plain, "s", OPTIONS);
  for (let value = 0; value < 20; value++) {
    await writer.record(value);
    clock.nowMs += 10;
  }
  const reader = new Series(store, "s", OPTIONS);
  const { count, sum, degradedBy } = await reader.stats({ span: "1m" });
  expect(hasFailedOver).toBe(true);
  expect({ count, sum, degradedBy }).toEqual({ count: 20, sum: (17 * 16) / 2 + 303, degradedBy: "lost" });
  await Promise.all([reader.close(), writer.close()]);
});
