import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agree } from "../../../src/queue/agreement.ts";
import { idOf } from "../../../src/queue/format/layout.ts";
import { add } from "../../../src/queue/steps/add.ts";
import { dead, redrive } from "../../../src/queue/steps/dead-letters.ts";
import { extend, get, move } from "../../../src/queue/steps/messages.ts";
import { type Claim, type Settlement, settleAndClaim } from "../../../src/queue/steps/settle-and-claim.ts";
import { counts, pause, peek } from "../../../src/queue/steps/shards.ts";
import type { Store } from "../../../src/store/contract.ts";
import { type OpenStore, onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";
import { runs } from "../../harness/runs.ts";

const KEY = "{q}:times";
let redis: OpenStore;
let memory: OpenStore;
beforeAll(async () => {
  redis = await onRedis();
  memory = await onMemory();
});
afterAll(async () => {
  await redis?.close();
  await memory?.close();
});

const layout = fc.oneof({ weight: 30, arbitrary: fc.constant("3|1") }, fc.constant("3|2"));
// One id comes often: an add must meet a cancelled message, and another one of its id.
const id = fc.oneof(
  { weight: 2, arbitrary: fc.constant("a") },
  fc.constantFrom("b", "c", "d", "0", "~a", "@seq", ":", "!", "é𝄞", "", "x".repeat(200)),
);
const ms = fc.oneof(fc.constantFrom(0, 1, 2, 5, 1000), fc.nat(20));
const when = fc.oneof(
  ms.map((delayMs) => ({ delayMs })),
  fc.oneof(fc.integer({ min: -5, max: 30 }), fc.constantFrom(-1e15, 0, 1e14)).map((ahead) => ({ ahead })),
);
const message = fc.record({
  id,
  when,
  limit: fc.constantFrom(1, 2, 3, 0, 200),
  priority: fc.constantFrom(0, 0, 0, 5, 9),
  nonce: fc.constantFrom<number[]>([0, 0, 0, 1], [255, 0, 9, 0]),
  payload: fc.uint8Array({ maxLength: 5 }),
});
const verb = fc.constantFrom(...(["done", "retry", "dead", "release", "corrupt", "again"] as const));

function envelopeOf(limitAndPriority: number[], nonce: number[], payload: Iterable<number>): Uint8Array {
  return Uint8Array.of(...limitAndPriority, ...new Uint8Array(22), ...nonce, ...payload);
}

/** One step on a store. `claims`: every earlier claim there. */
type Step = (store: Store, nowMs: number, claims: Claim[]) => Promise<unknown>;

function whenAt(asked: { delayMs: number } | { ahead: number }, nowMs: number) {
  return "ahead" in asked ? { atMs: nowMs + asked.ahead } : asked;
}

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(layout, fc.array(message, { minLength: 1, maxLength: 4 })).map(
      ([layout, messages]): Step =>
        (store, nowMs) =>
          store.run(add, KEY, {
            layout,
            messages: messages.map(({ id, when, limit, priority, nonce, payload }) => ({
              id,
              when: whenAt(when, nowMs),
              envelope: envelopeOf([limit, priority], nonce, payload),
            })),
          }),
    ),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(layout, fc.nat(4), ms, fc.array(fc.tuple(fc.nat(8), verb, ms), { maxLength: 3 })).map(
      ([layout, most, visibilityMs, reported]): Step =>
        async (store, _, claims) => {
          const results = reported.flatMap(([back, verb, ms]): Settlement[] => {
            const claim = claims.at(-1 - back);
            if (!claim) return [];
            const { member, deliveries, envelope } = claim;
            // A message keeps its priority. Only Redis looks for messages whose priority no message was added with.
            const priority = envelope[1]!;
            if (verb === "done") return [{ member, deliveries, verb }];
            if (verb === "release") return [{ member, deliveries, verb, priority }];
            if (verb === "again")
              return [{ member, deliveries, verb, delayMs: ms, priority, sizeBytes: envelope.length }];
            const why = `why ${ms}`;
            const id = ms === 5 ? "another id" : idOf(member);
            if (verb === "corrupt") return [{ member, deliveries, verb, why, id, memberBytes: undefined }];
            return [
              verb === "dead"
                ? { member, deliveries, verb, why }
                : { member, deliveries, verb, delayMs: ms, priority, why },
            ];
          });
          results.sort((a, b) => Number(b.verb === "done") - Number(a.verb === "done"));
          const dedupeMs = 3 * (reported[0]?.[2] ?? 0);
          const answer = await store.run(settleAndClaim, KEY, {
            layout,
            settlements: results,
            dedupeMs,
            limit: most,
            visibilityMs,
          });
          claims.push(...answer.claims);
          return answer;
        },
    ),
  },
  fc.tuple(layout, fc.array(fc.nat(8), { minLength: 1, maxLength: 3 }), ms).map(
    ([layout, backs, visibilityMs]): Step =>
      async (store, _, claims) => {
        const held = backs.flatMap((back) => claims.at(-1 - back) ?? []);
        return held.length > 0 && store.run(extend, KEY, { layout, held, visibilityMs });
      },
  ),
  fc.tuple(layout, id, fc.option(when, { nil: undefined })).map(
    ([layout, id, asked]): Step =>
      (store, nowMs) =>
        store.run(move, KEY, { layout, id, when: asked && whenAt(asked, nowMs) }),
  ),
  fc.tuple(layout, id).map(
    ([layout, id]): Step =>
      (store) =>
        store.run(get, KEY, { layout, id }),
  ),
  fc.tuple(layout, fc.nat(3), fc.integer({ min: 1, max: 3 })).map(
    ([layout, offset, most]): Step =>
      (store) =>
        store.run(dead, KEY, { layout, offset, limit: most }),
  ),
  fc.tuple(layout, fc.integer({ min: 1, max: 3 })).map(
    ([layout, most]): Step =>
      (store) =>
        store.run(peek, KEY, { layout, limit: most }),
  ),
  fc.tuple(layout, fc.nat(1), fc.nat(2), fc.array(id, { maxLength: 2 })).map(
    ([layout, offset, most, ids]): Step =>
      (store) =>
        store.run(redrive, KEY, { layout, offset, limit: most, ids }),
  ),
  fc.tuple(layout, fc.boolean()).map(
    ([layout, isPaused]): Step =>
      (store) =>
        store.run(pause, KEY, { layout, isPaused: isPaused && layout === "3|1" }),
  ),
  layout.map(
    (layout): Step =>
      (store) =>
        store.run(agree, KEY, { layout }),
  ),
  layout.map(
    (layout): Step =>
      (store) =>
        store.run(counts, KEY, { layout }),
  ),
);

/** Bytes as numbers: one store answers with views of a reply. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Array.from(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

const outcome = (promise: Promise<unknown>) =>
  promise.then(
    (value) => ({ value: plain(value) }),
    ({ code, message, applied }) => ({ code, message, applied }),
  );

/** When the keys of the shard expire, all at once; Infinity: never. Undefined without keys. */
async function expiryOn({ expiries }: OpenStore): Promise<number | undefined> {
  const ends = new Set([...(await expiries()).values()].map((endMs) => (endMs < 0 ? Number.POSITIVE_INFINITY : endMs)));
  expect(ends.size).toBeLessThan(2);
  return [...ends][0];
}

test("both forms answer the same to any sequence of calls", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(0, 0, 1, 2, 5, 900, 3000, 700_000, -4000), step), {
        minLength: 5,
        maxLength: 60,
      }),
      async (steps) => {
        await redis.clear();
        await memory.clear();
        const claims: [Claim[], Claim[]] = [[], []];
        const startMs = redis.clock.nowMs;
        let nowMs = startMs;
        for (const [goneMs, run] of steps) {
          nowMs += goneMs;
          redis.clock.nowMs = nowMs;
          memory.clock.nowMs = nowMs;
          const remote = await outcome(run(redis.store, nowMs, claims[0]));
          const local = await outcome(run(memory.store, nowMs, claims[1]));
          expect(remote).toEqual(local);
          expect(await expiryOn(redis)).toEqual(await expiryOn(memory));
        }
        redis.clock.nowMs = startMs;
      },
    ),
    { numRuns: runs(Number(process.env.ORIEL_RUNS ?? 150)) },
  );
});

test("a late copy of a cancelled message leaves its id to a message beside it, in both forms", async () => {
  const of = (nonce: number) => ({
    id: "a",
    when: { delayMs: 0 },
    envelope: envelopeOf([3, 0], [0, 0, 0, nonce], [nonce]),
  });
  for (const { store, clear } of [redis, memory]) {
    await clear();
    const added = (...nonces: number[]) => store.run(add, KEY, { layout: "3|1", messages: nonces.map(of) });
    expect(await added(1)).toEqual([true]);
    expect(await store.run(move, KEY, { layout: "3|1", id: "a", when: undefined })).toBe("moved");
    expect(await added(1)).toEqual([false]);
    expect(await added(1, 2, 1, 3)).toEqual([false, true, false, false]);
    expect((await store.run(get, KEY, { layout: "3|1", id: "a" }))!.value.at(-1)).toBe(2);
    expect(await added(2)).toEqual([false]);
  }
});
