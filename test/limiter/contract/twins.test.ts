import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KIND, MODE } from "../../../src/generated/layouts/limiter.ts";
import { type DecideRequest, decideFor } from "../../../src/limits/limiter/steps/decide.ts";
import type { Rule } from "../../../src/limits/limiter/steps/rule.ts";
import { type OpenStore, onMemory, onRedis, START_MS } from "../../harness/clock/stepped-stores.ts";
import { runs } from "../../harness/runs.ts";

const token = fc.constantFrom("0", "1", "2").map((digit) => `${digit.repeat(24)}00000000`);
const MINUTE_MS = 60_000;
const rule = (kind: number): fc.Arbitrary<Rule> =>
  fc.record({
    calendar: fc.constant(0),
    kind: fc.constant(kind),
    isShadow: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, fc.constant(true)),
    isAligned: fc.boolean(),
    cost: fc.constant(1),
    limit: fc.constantFrom(0, 1, 3, 10, 40),
    spanMs: fc.constantFrom(1, 10, 100, 100, 1000),
    rate: fc.constantFrom(1, 3, 7),
  });
const kinds = fc.array(fc.constantFrom(...Object.values(KIND)), { minLength: 1, maxLength: 3 });
const rules = kinds.chain((all) => fc.tuple(...all.map(rule)));
const step = fc.record({
  mode: fc.oneof(
    { weight: 8, arbitrary: fc.constant(MODE.take) },
    { weight: 8, arbitrary: fc.constantFrom(...Object.values(MODE)) },
    { weight: 6, arbitrary: fc.constantFrom(MODE.reserve, MODE.reserve, MODE.charge, MODE.settle) },
  ),
  waitMs: fc.constantFrom(0, 0, 0, 1, 3, 9, 50, 99, 100, 101, 700, 5000, -2, 29_989, 60_013, 86_400_017),
  cost: fc.constantFrom(0, 1, 1, 1, 2, 5, 12),
  /** Costs by policy: what the i-th has more than the first. */
  more: fc.constantFrom([0, 0], [0, 0], [1, 3], [4, 0]),
  isChargedAtEnd: fc.boolean(),
  calls: fc.constantFrom(1, 1, 2, 7),
  isPartial: fc.boolean(),
  amount: fc.constantFrom(1, 2, 50, 0),
  token,
  hasRequest: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
  request: fc.constantFrom("a", "b"),
  hasReservations: fc.boolean(),
  /** A call may come with other limits and spans. */
  limit: fc.constantFrom(undefined, undefined, undefined, 1, 20),
  spanMs: fc.constantFrom(undefined, undefined, undefined, 10, 400),
  /** The edges of calendar windows, in minutes from the present one. Most hold it. They overlap, as those of processes with other rules. */
  edges: fc.constantFrom([0, 1], [-1, 1], [0, 2], [-1, 2], [-2, 1], [-600, 2], [-1, 1440], [1, 3], [-3, 0]),
  calendar: fc.constantFrom(1, 1, 1, 2),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function askOf(one: Step, all: readonly Rule[], isSeveral: boolean, nowMs: number): DecideRequest {
  const minuteMs = nowMs - (nowMs % MINUTE_MS);
  const [spanMs, rate] = one.edges.map((minutes) => minuteMs + minutes * MINUTE_MS) as [number, number];
  const isReserving = [MODE.reserve, MODE.settle, MODE.charge].some((mode) => mode === one.mode);
  const needsHolds = isReserving || one.mode === MODE.reset;
  const isAlone = one.hasRequest || (one.isPartial && one.mode === MODE.take) || one.mode > MODE.peek;
  const hasReservations = one.hasReservations || needsHolds;
  const hasRequest = one.hasRequest && one.mode === MODE.take;
  // Several limiters only take and reserve. Another step sees their reservations with other numbers of policies.
  const isHead = all.map((_, i) => i === 0 || (isSeveral && (isReserving || one.mode === MODE.take)));
  const hasCosts = !one.isPartial && one.mode !== MODE.release;
  return {
    mode: one.mode,
    calls: isAlone ? 1 : one.calls,
    isPartial: one.isPartial && one.mode === MODE.take,
    amount: isReserving ? Math.max(1, one.amount) : one.amount,
    isChargedAtEnd: one.isChargedAtEnd && one.mode === MODE.reserve,
    token: one.token,
    rules: all.map((each, i) => ({
      ...each,
      cost: one.cost + (hasCosts ? ([0, ...one.more][i] ?? 0) : 0),
      limit: one.limit ?? each.limit,
      ...(each.kind === KIND.calendar
        ? { calendar: one.calendar, spanMs, rate }
        : { spanMs: one.spanMs ?? each.spanMs }),
    })),
    isHead,
    keySuffixes: [
      ...all.map(({ kind }, i) => `{id}:${i}:${kind}`),
      ...(hasReservations ? isHead.flatMap((is, i) => (is ? [`{id}:holds:${i}`] : [])) : []),
      ...(hasRequest || one.mode === MODE.reset ? ["{id}:requests"] : []),
      ...(hasRequest ? [`{id}:request:${one.request}`] : []),
    ],
    hasReservations,
    hasRequest,
  };
}

let opened: [OpenStore, OpenStore];
beforeAll(async () => {
  opened = [await onMemory(), await onRedis()];
});
afterAll(() => Promise.all((opened ?? []).map((each) => each.close())));

async function play({ store, clock }: OpenStore, ask: DecideRequest, waitMs: number): Promise<unknown> {
  clock.nowMs += waitMs;
  const operation = decideFor(ask.rules.length, ask.keySuffixes.length, false);
  return store
    .run(operation, "", ask)
    .catch(({ code, cause }) => ({ code, cause: (cause as Error | undefined)?.message }));
}

test("both forms have equal replies, keys and expiries at every step of any trace", async () => {
  const [memory, redis] = opened;
  await fc.assert(
    fc.asyncProperty(rules, fc.boolean(), fc.array(step, { maxLength: 40 }), async (all, isSeveral, steps) => {
      await Promise.all(opened.map((each) => each.clear()));
      for (const { clock } of opened) clock.nowMs = START_MS;
      for (const one of steps) {
        const ask = askOf(one, all, isSeveral, memory.clock.nowMs + one.waitMs);
        const reply = await play(memory, ask, one.waitMs);
        expect(await play(redis, ask, one.waitMs)).toEqual(reply);
        expect(new Map([...(await redis.expiries())].sort())).toEqual(new Map([...(await memory.expiries())].sort()));
      }
    }),
    { numRuns: runs(Number(process.env.ORIEL_LIMITER_RUNS ?? 150)) },
  );
});
