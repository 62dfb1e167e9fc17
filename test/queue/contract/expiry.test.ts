import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CANCELLED_MS, LINGER_MS } from "../../../src/generated/layouts/queue.ts";
import { idOf, layoutText } from "../../../src/queue/format/layout.ts";
import { add } from "../../../src/queue/steps/add.ts";
import { redrive } from "../../../src/queue/steps/dead-letters.ts";
import { move } from "../../../src/queue/steps/messages.ts";
import { type Claim, type Settlement, settleAndClaim } from "../../../src/queue/steps/settle-and-claim.ts";
import { counts, pause, totalOf } from "../../../src/queue/steps/shards.ts";
import type { Store } from "../../../src/store/contract.ts";
import { type OpenStore, onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";
import { runs } from "../../harness/runs.ts";

const KEY = "{q}:times";
const MESSAGES = "{q}:messages";
const layout = layoutText(1);
const VISIBILITY_MS = 100;

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

const addTo = async (store: Store, id: string, { delayMs = 0, nonce = 1 } = {}): Promise<boolean> => {
  const envelope = Uint8Array.of(3, 0, ...new Uint8Array(22), 0, 0, 0, nonce, 7);
  return (await store.run(add, KEY, { layout, messages: [{ id, when: { delayMs }, envelope }] }))[0]!;
};
const settle = (store: Store, settlements: Settlement[], limit = 0, dedupeMs = 0) =>
  store.run(settleAndClaim, KEY, { layout, settlements, dedupeMs, limit, visibilityMs: VISIBILITY_MS });
const done = ({ member, deliveries }: Claim): Settlement => ({ member, deliveries, verb: "done" });
const dead = ({ member, deliveries }: Claim): Settlement => ({ member, deliveries, verb: "dead", why: "no" });
const cancel = (store: Store, id: string) => store.run(move, KEY, { layout, id, when: undefined });
const setPaused = (store: Store, isPaused: boolean) => store.run(pause, KEY, { layout, isPaused });
const stateOf = async (store: Store) => totalOf([await store.run(counts, KEY, { layout })]);

/** When the shard expires; Infinity: never. Undefined: it is gone, or has not begun. */
async function expiryOn(opened: OpenStore): Promise<number | undefined> {
  const ends = new Set([...(await opened.expiries()).values()].map((ms) => (ms < 0 ? Number.POSITIVE_INFINITY : ms)));
  expect(ends.size).toBeLessThan(2);
  return [...ends][0];
}

/** What must be there, whatever has expired. */
class Model {
  /** Messages, and when they were added. */
  readonly present = new Map<string, number>();
  /** Ids of messages that are done, and until when they are known. */
  readonly known = new Map<string, number>();
  isPaused = false;
  /** Of the last request. A late copy of a cancelled message would be known by it. */
  nonce = 0;
  /** The latest end of all memories, also of cancelled messages. */
  lastMs = 0;

  knows(id: string, nowMs: number): boolean {
    return this.present.has(id) || (this.known.get(id) ?? 0) >= nowMs;
  }

  finish(id: string, dedupeMs: number, nowMs: number): void {
    const endsMs = this.present.get(id)! + dedupeMs;
    this.present.delete(id);
    if (endsMs > nowMs) this.known.set(id, endsMs);
    this.lastMs = Math.max(this.lastMs, endsMs);
  }
}

/** One step on a store, and what it must answer by the model. */
type Step = (store: Store, model: Model, nowMs: number, claims: Claim[]) => Promise<void>;

const id = fc.constantFrom("a", "a", "b");
const dedupeMs = fc.constantFrom(0, 1, 500, 3000, 60_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(id, fc.constantFrom(0, 0, 500, 5000)).map(
      ([id, delayMs]): Step =>
        async (store, model, nowMs) => {
          const isNew = !model.knows(id, nowMs);
          expect(await addTo(store, id, { delayMs, nonce: ++model.nonce })).toBe(isNew);
          if (isNew) model.present.set(id, nowMs);
        },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(dedupeMs, fc.boolean()).map(
      ([dedupeMs, isHeld]): Step =>
        async (store, model, nowMs, claims) => {
          const claimed = (await settle(store, [], 5)).claims;
          claims.push(...claimed);
          if (isHeld) return;
          const { statuses } = await settle(store, claimed.map(done), 0, dedupeMs);
          expect(statuses).toEqual(claimed.map(() => "settled"));
          for (const { member } of claimed) model.finish(idOf(member), dedupeMs, nowMs);
        },
    ),
  },
  fc.tuple(fc.nat(3), fc.boolean(), dedupeMs).map(
    ([back, isDead, dedupeMs]): Step =>
      async (store, model, nowMs, claims) => {
        const claim = claims.at(-1 - back);
        if (!claim) return;
        const { statuses } = await settle(store, [isDead ? dead(claim) : done(claim)], 0, dedupeMs);
        if (statuses[0] === "settled" && !isDead) model.finish(idOf(claim.member), dedupeMs, nowMs);
      },
  ),
  id.map(
    (id): Step =>
      async (store, model, nowMs) => {
        if ((await cancel(store, id)) !== "moved") return;
        expect(model.present.delete(id)).toBe(true);
        model.lastMs = Math.max(model.lastMs, nowMs + CANCELLED_MS);
      },
  ),
  id.map(
    (id): Step =>
      async (store, model, nowMs) => {
        const { moved } = await store.run(redrive, KEY, { layout, offset: 0, limit: 0, ids: [id] });
        if (moved > 0) model.present.set(id, nowMs);
      },
  ),
  fc.boolean().map(
    (isPaused): Step =>
      async (store, model) => {
        await setPaused(store, isPaused);
        model.isPaused = isPaused;
      },
  ),
);

test("whatever expires, no message, pause or known id is lost; and an empty shard expires", async () => {
  const gone = fc.constantFrom(
    0,
    0,
    1,
    99,
    101,
    499,
    500,
    501,
    999,
    1000,
    1001,
    2999,
    3001,
    61_001,
    CANCELLED_MS + 1001,
  );
  let expired = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(gone, step), { minLength: 5, maxLength: 40 }), async (steps) => {
      for (const opened of [redis, memory]) {
        await opened.clear();
        const startMs = opened.clock.nowMs;
        const [model, claims]: [Model, Claim[]] = [new Model(), []];
        let before: number | undefined;
        for (const [goneMs, run] of steps) {
          opened.clock.nowMs += goneMs;
          const { nowMs } = opened.clock;
          if (before !== undefined && before < nowMs) expired++;
          await run(opened.store, model, nowMs, claims);
          const { waiting, due, claimed, dead, isPaused } = await stateOf(opened.store);
          expect(waiting + due + claimed + dead).toBe(model.present.size);
          expect(isPaused).toBe(model.isPaused);
          before = await expiryOn(opened);
          if (model.present.size > 0 || model.isPaused) expect(before).toBe(Number.POSITIVE_INFINITY);
          else if (before !== undefined) {
            for (const endsMs of model.known.values())
              if (endsMs >= nowMs) expect(before).toBeGreaterThanOrEqual(endsMs + LINGER_MS);
            expect(before).toBeLessThanOrEqual(Math.max(nowMs, model.lastMs) + LINGER_MS);
          }
        }
        opened.clock.nowMs = startMs;
      }
    }),
    { numRuns: runs(Number(process.env.ORIEL_RUNS ?? 100)) },
  );
  expect(expired).toBeGreaterThan(20);
});

/** A shard whose only message, added now, is done. */
async function drain({ store }: OpenStore, dedupeMs: number): Promise<Claim> {
  await addTo(store, "first");
  const { claims } = await settle(store, [], 1);
  await settle(store, claims.map(done), 0, dedupeMs);
  return claims[0]!;
}

test.each([0, 1])(
  "a message that is added %i ms after the end of an empty shard stays, like one before",
  async (laterMs) => {
    for (const opened of [redis, memory]) {
      await opened.clear();
      const startMs = opened.clock.nowMs;
      await drain(opened, 5000);
      expect(await expiryOn(opened)).toBe(startMs + 5000 + LINGER_MS);
      opened.clock.nowMs = startMs + 5000 + LINGER_MS + laterMs;
      expect(await expiryOn(opened)).toBe(laterMs === 0 ? opened.clock.nowMs : undefined);
      expect(await addTo(opened.store, "second")).toBe(true);
      expect(await expiryOn(opened)).toBe(Number.POSITIVE_INFINITY);
      opened.clock.nowMs += 1e9;
      expect((await settle(opened.store, [], 5)).claims.map(({ member }) => idOf(member))).toEqual(["second"]);
      opened.clock.nowMs = startMs;
    }
  },
);

test("a result is refused that comes after its shard expired, also if the clock was set back by a second", async () => {
  for (const opened of [redis, memory]) {
    await opened.clear();
    const startMs = opened.clock.nowMs;
    const claim = await drain(opened, 0);
    opened.clock.nowMs += LINGER_MS + 1;
    expect((await settle(opened.store, [done(claim)])).statuses).toEqual(["repeated"]);
    expect(await expiryOn(opened)).toBeUndefined();
    opened.clock.nowMs -= LINGER_MS;
    expect(await addTo(opened.store, "first")).toBe(true);
    const [again] = (await settle(opened.store, [], 1)).claims;
    expect(again!.member).not.toBe(claim.member);
    expect((await settle(opened.store, [done(claim)])).statuses).toEqual(["repeated"]);
    expect(await stateOf(opened.store)).toMatchObject({ claimed: 1 });
    opened.clock.nowMs = startMs;
  }
});

test("a shard whose seqs are ahead of its clock does not expire before its clock is there", async () => {
  for (const opened of [redis, memory]) {
    await opened.clear();
    const startMs = opened.clock.nowMs;
    await drain(opened, 0);
    opened.clock.nowMs -= 2 * CANCELLED_MS;
    await addTo(opened.store, "ahead");
    expect(await cancel(opened.store, "ahead")).toBe("moved");
    expect(await expiryOn(opened)).toBe(startMs + LINGER_MS);
    opened.clock.nowMs = startMs;
  }
});

// Damage may only keep an empty shard, never let a message expire.
test.each<[damage: string, run: (client: NonNullable<OpenStore["client"]>) => Promise<unknown>]>([
  ["@levels, which is gone", (client) => client.hdel(MESSAGES, "@levels")],
  ["@levels, which is no list", (client) => client.hset(MESSAGES, "@levels", "none")],
  ["@levels, which names another priority", (client) => client.hset(MESSAGES, "@levels", "97")],
  ["the hash, which is gone", (client) => client.del(MESSAGES)],
  ["the sorted set, which is gone", (client) => client.del(KEY)],
])("a message that is added to an empty shard stays, whatever was done to %s", async (_, damage) => {
  await redis.clear();
  const startMs = redis.clock.nowMs;
  await drain(redis, 5000);
  await damage(redis.client!);
  expect(await addTo(redis.store, "second")).toBe(true);
  expect(await expiryOn(redis)).toBe(Number.POSITIVE_INFINITY);
  redis.clock.nowMs += 1e9;
  expect(await stateOf(redis.store)).toMatchObject({ due: 1 });
  redis.clock.nowMs = startMs;
});

test("a shard with a field that no version of this step knows, or without its layout, does not expire", async () => {
  for (const damage of [
    () => redis.client!.hset(MESSAGES, "@later", "1"),
    () => redis.client!.hdel(MESSAGES, "@layout"),
  ]) {
    await redis.clear();
    await addTo(redis.store, "first");
    const { claims } = await settle(redis.store, [], 1);
    await damage();
    await settle(redis.store, claims.map(done));
    expect(await expiryOn(redis)).toBe(Number.POSITIVE_INFINITY);
  }
});
