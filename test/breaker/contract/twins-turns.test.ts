import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VERDICT } from "../../../src/generated/layouts/breaker.ts";
import { flush } from "../../../src/limits/breaker/flush.ts";
import type { FlushReply, FlushRequest } from "../../../src/limits/breaker/flush-format.ts";
import type { Rule } from "../../../src/limits/breaker/rule.ts";
import { type OpenStore, onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";
import { runs, seen as seenIn } from "../../harness/runs.ts";

const { ORIEL_BREAKER_RUNS = "100" } = process.env;

const rule: fc.Arbitrary<Rule> = fc.record({
  spanMs: fc.constant(5000),
  tickMs: fc.constant(1),
  minimumCalls: fc.constant(1),
  failureRatio: fc.constant(0),
  slowRatio: fc.constant(Number.POSITIVE_INFINITY),
  failures: fc.constant(Number.POSITIVE_INFINITY),
  cooldownMs: fc.constantFrom(1, 50, 1600, 1601),
  probes: fc.constantFrom(1, 1, 2, 3, 10),
  leaseMs: fc.constantFrom(100, 2000),
  quorum: fc.constantFrom(0, 0.5, 0.5, 0.8, 1),
  factor: fc.constantFrom(1, 2),
  longestMs: fc.constantFrom(1601, 10_000),
  jitter: fc.constantFrom(0, 0.3),
});
const ids = fc.uniqueArray(fc.stringMatching(/^[0-9a-f]{16}$/), { minLength: 1, maxLength: 12 });
const step = fc.record({
  waitMs: fc.constantFrom(0, 1, 3, 50, 100, 100, 400, 1600, 1601, -30),
  process: fc.nat(11),
  does: fc.constantFrom("ask", "ask", "ask", "fail", "fail", "fail", "succeed", "ignore"),
  /** It comes with this number of probes in its rule, and decides by its quorum or without one. */
  probes: fc.constantFrom(undefined, undefined, undefined, 1, 4),
  isSum: fc.constantFrom(false, false, false, false, false, false, false, true),
  command: fc.oneof({ weight: 30, arbitrary: fc.constant(0 as const) }, fc.constantFrom(1 as const, 2 as const)),
});

let opened: [OpenStore, OpenStore];
beforeAll(async () => {
  opened = [await onMemory(), await onRedis()];
});
afterAll(() => Promise.all((opened ?? []).map((each) => each.close())));

async function both(request: FlushRequest): Promise<FlushReply> {
  const [memory, redis] = opened;
  const [answer, other] = await Promise.all(opened.map(({ store }) => store.run(flush, "{breaker}", request)));
  expect(other).toEqual(answer);
  expect(await redis.expiries()).toEqual(await memory.expiries());
  return answer!;
}

test("processes that opened a circuit take turns to probe: both forms agree at every step", async () => {
  const [memory, redis] = opened;
  const seen = new Map<string, number>();
  const note = (what: string, isSo: boolean) => void (isSo && seen.set(what, (seen.get(what) ?? 0) + 1));
  await fc.assert(
    fc.asyncProperty(rule, ids, fc.array(step, { maxLength: 60, size: "max" }), async (of, processes, steps) => {
      await Promise.all(opened.map((each) => each.clear()));
      redis.clock.nowMs = memory.clock.nowMs;
      const next = new Map(processes.map((id) => [id, 1]));
      const nothing = { rule: of, batch: [], sequence: 0, settled: [], wanted: 0, first: 1 };
      for (const id of processes) await both({ ...nothing, id, sequence: 1, batch: [0, 1, 0, 0] });
      for (const id of processes) await both({ ...nothing, id, sequence: 2, batch: [0, 1, 1, 0], sees: true });
      for (const { waitMs, process, does, probes = of.probes, isSum, command } of steps) {
        for (const { clock } of opened) clock.nowMs += waitMs;
        const id = processes[process % processes.length]!;
        const first = next.get(id)!;
        const quorum = isSum ? Number.POSITIVE_INFINITY : of.quorum;
        const verdict = { fail: VERDICT.failure, succeed: VERDICT.success, ignore: VERDICT.ignored, ask: undefined }[
          does
        ];
        const settled =
          verdict === undefined ? [] : [1, 2].map((back) => ({ number: Math.max(1, first - back), verdict }));
        const wanted = does === "ask" ? 1 + (process % 2) : 0;
        next.set(id, first + wanted);
        const reply = await both({ ...nothing, id, rule: { ...of, probes, quorum }, settled, wanted, first, command });
        const { state, granted, waitMs: turnMs, callers } = reply;
        note("waits", state === "half-open" && wanted > 0 && granted === 0 && turnMs > 0 && callers > 1);
        note("goes on", state === "half-open" && does === "fail" && callers > 1);
        note("closes", state === "closed" && does === "succeed");
      }
    }),
    { numRuns: runs(Number(ORIEL_BREAKER_RUNS)) },
  );
  for (const what of ["waits", "goes on", "closes"]) expect(seen.get(what) ?? 0, what).toBeGreaterThan(seenIn(20));
});
