import fc from "fast-check";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KIND, MODE } from "../../../src/generated/layouts/limiter.ts";
import { type DecideRequest, decideFor } from "../../../src/limits/limiter/steps/decide.ts";
import { type OpenStore, onMemory, onRedis, START_MS } from "../../harness/clock/stepped-stores.ts";
import { runs } from "../../harness/runs.ts";
import { formOf, ringOfLog } from "../sliding-state.ts";

/** Many calls alike, each some ms after the one before. Enough of them make a ring of a log, and a pause makes a log of it. */
interface Burst {
  mode: number;
  count: number;
  pauseMs: number;
  gapMs: number;
  cost: number;
  calls: number;
  isPartial: boolean;
  limit: number | undefined;
  spanMs: number | undefined;
  /** The log becomes a ring of format 1 that holds the same, as an older process left it. */
  isOld: boolean;
}
const burst: fc.Arbitrary<Burst> = fc.record({
  mode: fc.oneof(
    { weight: 12, arbitrary: fc.constant(MODE.take) },
    { weight: 2, arbitrary: fc.constant(MODE.peek) },
    { weight: 5, arbitrary: fc.constantFrom(MODE.add, MODE.giveBack, MODE.block, MODE.reserve, MODE.settle) },
  ),
  count: fc.constantFrom(1, 1, 2, 9, 40, 130),
  pauseMs: fc.constantFrom(0, 0, 1, 40, 300, 999, 1000, 70_000, -3, -700),
  gapMs: fc.constantFrom(0, 1, 1, 3, 7),
  cost: fc.constantFrom(1, 1, 1, 2, 7, 300),
  calls: fc.constantFrom(1, 1, 1, 3),
  isPartial: fc.boolean(),
  limit: fc.constantFrom(undefined, undefined, undefined, 5, 700),
  spanMs: fc.constantFrom(undefined, undefined, undefined, 200, 5000, 100_000, 2 ** 50),
  isOld: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
});
const policy = fc.record({
  limit: fc.constantFrom(3, 50, 200, 1000),
  spanMs: fc.constantFrom(100, 1000, 1000, 60_000),
});

const KEY = "{id}:limit";
function askOf(one: Burst, own: { limit: number; spanMs: number }): DecideRequest {
  const isTake = one.mode === MODE.take;
  return {
    mode: one.mode,
    calls: isTake && !one.isPartial ? one.calls : 1,
    isPartial: isTake && one.isPartial,
    amount: one.mode === MODE.block ? one.cost * 20 : Math.max(1, one.gapMs * 30),
    token: `${"7".repeat(24)}00000000`,
    rules: [
      {
        calendar: 0,
        kind: KIND.sliding,
        isShadow: false,
        isAligned: false,
        cost: one.cost,
        limit: one.limit ?? own.limit,
        spanMs: one.spanMs ?? own.spanMs,
        rate: 1,
      },
    ],
    isHead: [true],
    keySuffixes: [KEY, "{id}:holds"],
    hasReservations: true,
    hasRequest: false,
  };
}

let opened: [OpenStore, OpenStore];
let raw: Redis;
beforeAll(async () => {
  opened = [await onMemory(), await onRedis()];
  raw = opened[1].client as Redis;
});
afterAll(() => Promise.all((opened ?? []).map((each) => each.close())));

/** The reply of each call. Those of the fast path have no reservations among their keys. */
async function play(
  { store, clock }: OpenStore,
  one: Burst,
  own: { limit: number; spanMs: number },
): Promise<unknown[]> {
  const ask = askOf(one, own);
  const needsHolds = one.mode === MODE.reserve || one.mode === MODE.settle;
  const quick = { ...ask, keySuffixes: [KEY], hasReservations: false };
  const replies: unknown[] = [];
  clock.nowMs += one.pauseMs;
  for (let i = 0; i < one.count; i++) {
    clock.nowMs += one.gapMs;
    const run = (with_: DecideRequest) =>
      store
        .run(decideFor(1, with_.keySuffixes.length, false), "", with_)
        .catch(({ code, cause }) => ({ code, cause: (cause as Error | undefined)?.message }));
    let reply = (await run(needsHolds ? ask : quick)) as { status?: number };
    if (reply.status === 1) reply = (await run(ask)) as { status?: number };
    replies.push(reply);
  }
  return replies;
}

async function makeOld(): Promise<boolean> {
  const key = (await raw.keys(`*${KEY}`))[0];
  const value = key && (await raw.getBuffer(key));
  if (!value || formOf(value) !== "log") return false;
  await raw.set(key, ringOfLog(value), "KEEPTTL");
  return true;
}

/** Plays the bursts in both stores, which must agree after each. Returns the forms that the state in Redis had. */
async function playAlike(own: { limit: number; spanMs: number }, bursts: readonly Burst[]): Promise<string[]> {
  const [memory, redis] = opened;
  await Promise.all(opened.map((each) => each.clear()));
  for (const { clock } of opened) clock.nowMs = START_MS;
  const forms: string[] = [];
  for (const one of bursts) {
    if (one.isOld && (await makeOld())) forms.push("old");
    const replies = await play(memory, one, own);
    expect(await play(redis, one, own)).toEqual(replies);
    expect(new Map([...(await redis.expiries())].sort())).toEqual(new Map([...(await memory.expiries())].sort()));
    const key = (await raw.keys(`*${KEY}`))[0];
    forms.push(key ? formOf((await raw.getBuffer(key))!) : "none");
  }
  return forms;
}

test("a log, a ring and a ring of format 1 decide as memory does, at every step of any trace", async () => {
  await fc.assert(
    fc.asyncProperty(policy, fc.array(burst, { maxLength: 12 }), async (own, bursts) => {
      await playAlike(own, bursts);
    }),
    { numRuns: runs(Number(process.env.ORIEL_LIMITER_RUNS ?? 80)) },
  );
});

const TAKES: Burst = {
  ...{ mode: MODE.take, count: 1, pauseMs: 0, gapMs: 1, cost: 1, calls: 1, isPartial: false, isOld: false },
  ...{ limit: undefined, spanMs: undefined },
};
test.each<[what: string, bursts: Partial<Burst>[], forms: string[]]>([
  [
    "a log becomes a ring when it is full, and the ring a log when it shrinks",
    [{ count: 100 }, { count: 300 }, { pauseMs: 950, count: 20 }, { count: 300 }],
    ["log", "ring", "log", "ring"],
  ],
  [
    "an old ring that grows becomes a log",
    [{ count: 8 }, { isOld: true }, { count: 20 }],
    ["log", "old", "ring", "log"],
  ],
  [
    "totals are added when a ms has two permits",
    [
      { count: 100, limit: 150 },
      { gapMs: 0, limit: 150 },
      { count: 15, limit: 150 },
    ],
    ["log", "log", "log"],
  ],
  [
    "totals get wider with a penalty",
    [{ cost: 2 }, { mode: MODE.add, cost: 300 }, { cost: 300 }],
    ["log", "log", "log"],
  ],
  ["times get wider with a longer span", [{ count: 40 }, { spanMs: 2 ** 40 }], ["log", "log"]],
  [
    "a long log under a raised limit becomes a ring",
    [{ count: 150, limit: 159 }, { mode: MODE.peek, limit: 160 }, { limit: 160 }],
    ["log", "log", "ring"],
  ],
  ["a span of more than 6 bytes makes a ring", [{ count: 5 }, { spanMs: 2 ** 50 }], ["log", "ring"]],
  [
    "a block and a reservation stand in a log",
    [{ mode: MODE.block }, {}, { mode: MODE.reserve }, {}],
    Array(4).fill("log"),
  ],
  [
    "a group of which one call passes waits for the right record, once one has left the window",
    [
      { count: 3, limit: 3 },
      { pauseMs: 997, calls: 3, limit: 3 },
    ],
    ["log", "log"],
  ],
  [
    "permits given back newest first",
    [{ count: 9, cost: 7 }, { mode: MODE.giveBack, cost: 60 }, {}],
    Array(3).fill("log"),
  ],
])("%s", async (_what, bursts, forms) => {
  expect(
    await playAlike(
      { limit: 1000, spanMs: 1000 },
      bursts.map((one) => ({ ...TAKES, ...one })),
    ),
  ).toEqual(forms);
});
