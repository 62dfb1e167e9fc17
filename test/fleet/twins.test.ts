import fc from "fast-check";
import { afterAll, beforeAll, test } from "vitest";
import { newBucket } from "../../src/metrics/fleet/bucket.ts";
import { flush } from "../../src/metrics/fleet/flush.ts";
import { read } from "../../src/metrics/fleet/read.ts";
import {
  type Call,
  expectAlikeExpiries,
  type OpenStore,
  onMemory,
  onRedis,
  playAlike,
} from "../harness/clock/stepped-stores.ts";
import { runs } from "../harness/runs.ts";

const KEY = "{f}:fleet";
let stores: OpenStore[];
beforeAll(async () => {
  stores = [await onRedis(), await onMemory()];
});
afterAll(() => Promise.all(stores.map((each) => each.close())));

const shape = fc.constantFrom(
  { sampleCount: 3, bucketMs: 10, maxNames: 2 },
  { sampleCount: 3, bucketMs: 10, maxNames: 2 },
  { sampleCount: 3, bucketMs: 10, maxNames: 2 },
  { sampleCount: 1, bucketMs: 30, maxNames: 2 },
);
const name = fc.constantFrom("", "a", "b", "c", "é𝄞", "0|1", "@names");
const entry = fc.record({
  name,
  ahead: fc.constantFrom(-45, -31, -30, -29, -20, -11, -10, -5, 0, 3, 500),
  counts: fc.array(fc.nat(5), { minLength: 4, maxLength: 4 }),
  latencyMs: fc.option(fc.constantFrom(0, 0.5, 3, 1e9)),
});
const step: fc.Arbitrary<Call> = fc.oneof(
  fc
    .record({
      shape,
      sender: fc.constantFrom("sender-1", "sender-2", "nder-1se"),
      number: fc.nat(12),
      entries: fc.array(entry, { maxLength: 5 }),
    })
    .map(
      ({ shape, sender, number, entries }): Call =>
        (store, nowMs) =>
          store.run(flush, KEY, {
            ...shape,
            sender,
            number,
            given: entries.map(({ name, ahead, counts, latencyMs }) => {
              const bucket = newBucket(nowMs + ahead);
              bucket.set(counts, 1);
              if (latencyMs !== null) bucket.set([latencyMs, latencyMs, latencyMs], 5);
              return { name, bucket };
            }),
          }),
    ),
  fc.record({ shape, first: fc.nat(3), limit: fc.nat(3), name }).map(
    ({ shape, ...asked }): Call =>
      (store) =>
        store.run(read, KEY, { ...shape, ...asked }),
  ),
);

const outcome = (promise: Promise<unknown>) =>
  promise.then(
    (value) => ({ value }),
    ({ code, message, applied }) => ({ code, message, applied }),
  );

test("both forms have equal answers and expiries for any sequence of calls", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(0, 0, 1, 4, 9, 10, 30, 700_000), step), { minLength: 5, maxLength: 60 }),
      async (steps) => {
        // A refusal is an answer.
        const calls = steps.map(([goneMs, call]): [number, Call] => [goneMs, (...on) => outcome(call(...on))]);
        await playAlike(stores, calls);
        await expectAlikeExpiries(stores);
      },
    ),
    { numRuns: runs(Number(process.env.ORIEL_RUNS ?? 150)) },
  );
});
