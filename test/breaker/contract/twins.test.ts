import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EPOCH_MODULUS } from "../../../src/generated/layouts/breaker.ts";
import { flush } from "../../../src/limits/breaker/flush.ts";
import type { FlushReply, FlushRequest } from "../../../src/limits/breaker/flush-format.ts";
import type { Rule } from "../../../src/limits/breaker/rule.ts";
import { type OpenStore, onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";
import { runs, seen as seenIn } from "../../harness/runs.ts";

const { ORIEL_BREAKER_RUNS = "200" } = process.env;

const PROCESSES = ["a", "b", "c", "d", "e"].map((letter) => letter.repeat(16));
const rule: fc.Arbitrary<Rule> = fc.record({
  spanMs: fc.constantFrom(20, 100, 100, 1000, 5000),
  tickMs: fc.constantFrom(1, 1, 1, 5),
  minimumCalls: fc.constantFrom(1, 2, 10),
  failureRatio: fc.constantFrom(0, 0.5, 0.5, 1, Number.POSITIVE_INFINITY),
  slowRatio: fc.constantFrom(0.25, 1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
  failures: fc.constantFrom(1, 5, 30, Number.POSITIVE_INFINITY),
  cooldownMs: fc.constantFrom(1, 50, 300),
  probes: fc.constantFrom(1, 1, 2, 3),
  leaseMs: fc.constantFrom(10, 100, 1000),
  quorum: fc.constantFrom(0, 0.5, 0.5, 1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
  factor: fc.constantFrom(1, 2, 1.37),
  longestMs: fc.constantFrom(300, 5000),
  jitter: fc.constantFrom(0, 0, 0.3, 1),
});
const record = fc.record({
  ageMs: fc.oneof({ weight: 4, arbitrary: fc.nat(12) }, fc.constantFrom(19, 20, 21, 99, 100, 101, 4999, 5000, 2 ** 31)),
  calls: fc.constantFrom(1, 1, 1, 0, 3, 100),
  failures: fc.constantFrom(0, 0, 0, 1, 2),
  slow: fc.constantFrom(0, 0, 0, 1),
});
const step = fc.record({
  waitMs: fc.constantFrom(0, 0, 1, 1, 3, 9, 20, 50, 99, 100, 300, 70_000, -1, -60, -100_000),
  process: fc.nat(PROCESSES.length - 1),
  /** Of the batch, relative to the process's last. */
  sequence: fc.constantFrom(1, 1, 1, 0, -1),
  isEmpty: fc.constantFrom(false, false, true),
  records: fc.array(record, { minLength: 1, maxLength: 40 }),
  settled: fc.array(
    fc.record({ back: fc.nat(4), verdict: fc.constantFrom(0, 1, 1, 1, 2) as fc.Arbitrary<0 | 1 | 2> }),
    {
      maxLength: 3,
    },
  ),
  wanted: fc.constantFrom(0, 0, 1, 2, 4),
  command: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 3) as fc.Arbitrary<0 | 1 | 2 | 3>,
  forMs: fc.constantFrom(0, 0, 7, 100_000),
  sees: fc.boolean(),
  /** Of the calls: that of the process's last reply, an unknown one, or an earlier one. */
  window: fc.constantFrom("last", "last", "unknown", "earlier"),
  /** A process may not know its place, or be wrong. */
  place: fc.constantFrom("last", "last", "unknown", 1, 2, 7),
  /** A call may come with another number of probes. */
  probes: fc.constantFrom(undefined, undefined, undefined, undefined, 1, 4),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The requests that the processes of one trace have sent. */
class Senders {
  readonly #sent = PROCESSES.map(() => ({ sequence: 0, first: 1, place: 0, window: 0 }));

  heard(process: number, { place, epoch }: FlushReply): void {
    Object.assign(this.#sent[process]!, { place, window: epoch % EPOCH_MODULUS });
  }

  handed(one: Step, of: Rule): FlushRequest {
    const sent = this.#sent[one.process]!;
    sent.sequence = Math.max(1, sent.sequence + one.sequence);
    const first = sent.first;
    sent.first += one.wanted;
    const records = [...one.records].sort((a, b) => b.ageMs - a.ageMs);
    const distinct = records.filter(({ ageMs }, i) => ageMs !== records[i - 1]?.ageMs);
    return {
      rule: { ...of, probes: one.probes ?? of.probes },
      id: PROCESSES[one.process]!,
      sequence: one.isEmpty ? 0 : sent.sequence,
      batch: one.isEmpty ? [] : distinct.flatMap(({ ageMs, calls, failures, slow }) => [ageMs, calls, failures, slow]),
      settled: one.settled.map(({ back, verdict }) => ({ number: Math.max(1, first - back), verdict })),
      wanted: one.wanted,
      first,
      command: one.command,
      forMs: one.forMs,
      sees: one.sees,
      window: { last: sent.window, unknown: 0, earlier: sent.window - 1 }[one.window]!,
      place: one.place === "last" ? sent.place : one.place === "unknown" ? 0 : (one.place as number),
    };
  }
}

let opened: [OpenStore, OpenStore];
beforeAll(async () => {
  opened = [await onMemory(), await onRedis()];
});
afterAll(() => Promise.all((opened ?? []).map((each) => each.close())));

test("both forms have equal answers, keys and expiries at every step of any trace", async () => {
  const [memory, redis] = opened;
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(rule, fc.array(step, { maxLength: 60, size: "max" }), async (of, steps) => {
      await Promise.all(opened.map((each) => each.clear()));
      const senders = new Senders();
      redis.clock.nowMs = memory.clock.nowMs;
      for (const one of steps) {
        const handed = senders.handed(one, of);
        for (const { clock } of opened) clock.nowMs += one.waitMs;
        const [answer, other] = await Promise.all(opened.map(({ store }) => store.run(flush, "{breaker}", handed)));
        expect(other).toEqual(answer);
        expect(await redis.expiries()).toEqual(await memory.expiries());
        senders.heard(one.process, answer!);
        const { granted, state, callers, seeing, heldMs } = answer!;
        const what = granted > 0 ? "granted" : state;
        seen.set(what, (seen.get(what) ?? 0) + 1);
        if (callers > 2 && seeing > 0) seen.set("several", (seen.get("several") ?? 0) + 1);
        if (heldMs > 0) seen.set("held", (seen.get("held") ?? 0) + 1);
      }
    }),
    { numRuns: runs(Number(ORIEL_BREAKER_RUNS)) },
  );
  for (const what of ["closed", "open", "half-open", "granted", "several", "held"])
    expect(seen.get(what)).toBeGreaterThan(seenIn(50));
});

const LONG: Rule = {
  ...{
    spanMs: 5000,
    tickMs: 1,
    minimumCalls: 10,
    failureRatio: 0.5,
    slowRatio: Number.POSITIVE_INFINITY,
    failures: Number.POSITIVE_INFINITY,
  },
  ...{ cooldownMs: 100, probes: 1, leaseMs: 100 },
  ...{ quorum: Number.POSITIVE_INFINITY, factor: 1, longestMs: 100, jitter: 0 },
};
/** Many records, some of them late: each other ms, or every one, of a stretch that ended `lateMs` ago. */
const stretch = fc.record({
  waitMs: fc.constantFrom(1, 10, 200, 1000, 4000),
  process: fc.nat(PROCESSES.length - 1),
  lateMs: fc.constantFrom(0, 0, 0, 5, 500, 3000),
  records: fc.constantFrom(1, 10, 100, 1000),
  everyMs: fc.constantFrom(1, 2, 3),
});

test("long windows: both forms agree on large batches, late records, expiry and copies", async () => {
  const [memory, redis] = opened;
  await fc.assert(
    fc.asyncProperty(fc.array(stretch, { maxLength: 40 }), async (stretches) => {
      await Promise.all(opened.map((each) => each.clear()));
      redis.clock.nowMs = memory.clock.nowMs;
      for (const [i, { waitMs, process, lateMs, records, everyMs }] of stretches.entries()) {
        for (const { clock } of opened) clock.nowMs += waitMs;
        const ages = Array.from({ length: records }, (_, back) => lateMs + (records - 1 - back) * everyMs);
        const batch = ages.flatMap((ageMs) => [ageMs, 2, ageMs % 7 === 0 ? 1 : 0, 0]);
        const handed = {
          rule: LONG,
          id: PROCESSES[process]!,
          sequence: i + 1,
          batch,
          settled: [],
          wanted: 0,
          first: 1,
        };
        const [answer, other] = await Promise.all(opened.map(({ store }) => store.run(flush, "{breaker}", handed)));
        expect(other).toEqual(answer);
        expect(answer!.state).toBe("closed");
      }
    }),
    { numRuns: runs(Number(ORIEL_BREAKER_RUNS) / 4) },
  );
});
