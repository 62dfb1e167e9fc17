import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask } from "../../../src/engine/series/answers/ask.ts";
import { publish } from "../../../src/engine/series/answers/publish.ts";
import {
  type Call,
  expectAlikeExpiries,
  type OpenStore,
  onMemory,
  onRedis,
  playAlike,
} from "../../harness/clock/stepped-stores.ts";
import { runs } from "../../harness/runs.ts";

const KEY = "oriel:{s}:answer:question";
let stores: OpenStore[];
beforeAll(async () => {
  stores = [await onRedis(), await onMemory()];
});
afterAll(() => Promise.all(stores.map((each) => each.close())));

const id = fc.constantFrom(1, 2, 3, 2 ** 32 - 1);
const maxAgeMs = fc.constantFrom(1, 10, 100, 1000, 90_000, 1e15);
const step: fc.Arbitrary<Call> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ id, maxAgeMs }).map((input) => asking({ ...input, isRenewal: false })) },
  fc.record({ id, maxAgeMs }).map((input) => asking({ ...input, isRenewal: true })),
  fc
    .record({
      id,
      maxAgeMs,
      agoMs: fc.constantFrom(-5, 0, 1, 9, 99, 5000),
      bytes: fc.constantFrom(0, 8, 100, 8 * (12 + 128)),
    })
    .map(({ agoMs, bytes, ...input }): Call => {
      const answer = new Uint8Array(bytes).fill(bytes % 256);
      return (store, nowMs) => store.run(publish, KEY, { ...input, asOfMs: nowMs - agoMs, answer });
    }),
);

function asking(input: { id: number; maxAgeMs: number; isRenewal: boolean }): Call {
  return (store) => store.run(ask, KEY, input);
}

test("both forms have equal answers and expiries for any sequence of calls, also if the clock is set back", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(0, 0, 1, 5, 9, 50, 99, 500, 1001, -40, -3000), step), {
        minLength: 5,
        maxLength: 60,
      }),
      async (calls) => {
        await playAlike(stores, calls);
        await expectAlikeExpiries(stores);
      },
    ),
    { numRuns: runs(Number(process.env.ORIEL_RUNS ?? 150)) },
  );
});

test.each([
  ["a key of another type", ["LPUSH", KEY, "1"]],
  ["bytes of another form", ["SET", KEY, "x".repeat(80)]],
  ["a short text", ["SET", KEY, "1"]],
] as const)("%s is an error or no answer, never one", async (_what, command) => {
  const { store, client, clear } = stores[0]!;
  await clear();
  await (client as unknown as { call(...words: readonly string[]): Promise<unknown> }).call(...command);
  const asked = await store.run(ask, KEY, { id: 7, maxAgeMs: 1000, isRenewal: false }).catch((error) => error.code);
  if (command[0] === "LPUSH") expect(asked).toBe("CORRUPT");
  else expect(asked).toMatchObject({ status: 1, answer: new Uint8Array() });
});
