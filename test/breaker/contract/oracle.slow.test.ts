import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Breaker, BreakerOptions } from "../../../src/entries/index.ts";
import { breakerSettings } from "../../../src/limits/breaker/options.ts";
import { onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";
import { Oracle } from "./oracle.ts";
import { Held, onNothing, Stage } from "./stage.ts";

const { ORIEL_BREAKER_RUNS = "150" } = process.env;

const options: fc.Arbitrary<Partial<BreakerOptions>> = fc.record(
  {
    span: fc.constantFrom(20, 100, 1000),
    minimumCalls: fc.constantFrom(1, 2, 6),
    failureRatio: fc.constantFrom(0, 0.25, 0.5, 1),
    failures: fc.constantFrom(1, 2, 6),
    cooldown: fc.constantFrom(5, 50),
    probes: fc.constantFrom(1, 2, 3),
    lease: fc.constantFrom(20, 200),
  },
  { requiredKeys: ["span", "minimumCalls", "failureRatio", "cooldown", "probes", "lease"] },
);
const step = fc.record({
  waitMs: fc.constantFrom(0, 0, 1, 1, 2, 3, 5, 10, 19, 20, 49, 50, 99, 100),
  process: fc.nat(2),
  /** Index of the running call that ends. Undefined: a call begins. */
  ends: fc.oneof(fc.constant(undefined), fc.nat(7)),
  how: fc.constantFrom("good", "good", "bad", "bad", "ignored"),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Running {
  held: Held;
  breaker: Breaker;
  name: string;
  isProbe: boolean;
  window: number;
}

const isIgnored = (error: unknown) => error instanceof RangeError;

/** Plays one trace on breakers that report at each step, and on a list of calls. Every call must have the same outcome. */
async function play(
  stage: Stage,
  given: Partial<BreakerOptions>,
  processes: number,
  steps: readonly Step[],
  seen: Map<string, number>,
) {
  const note = (what: string) => void seen.set(what, (seen.get(what) ?? 0) + 1);
  const whole = { name: "trace", ...given, flush: 1, isIgnored } as BreakerOptions;
  const oracle = new Oracle(breakerSettings(whole).rule);
  const breakers = Array.from({ length: processes }, () => stage.breaker(whole));
  const running: Running[] = [];
  let window = 0;
  const all = async () => {
    for (const breaker of breakers) await breaker.flush();
  };
  for (const [i, { waitMs, process, ends, how }] of steps.entries()) {
    stage.pass(waitMs);
    oracle.lapse(stage.nowMs);
    await all();
    const call = ends === undefined ? undefined : running.splice(ends % Math.max(1, running.length), 1)[0];
    if (call) {
      const isBad = how === "bad";
      if (how === "ignored") await call.held.fail(new RangeError("ignored"));
      else await (isBad ? call.held.fail() : call.held.end());
      await call.breaker.flush();
      const before: string = oracle.state.name;
      const counted = { atMs: stage.nowMs, calls: 1, failures: isBad ? 1 : 0, slow: 0 };
      if (how === "ignored") oracle.ignore(call.name, stage.nowMs);
      else if (call.isProbe) oracle.settle(call.name, isBad, stage.nowMs);
      else if (call.window === window) oracle.count([counted], stage.nowMs);
      const isClosing = before === "half-open" && oracle.state.name === "closed";
      if (isClosing) window++;
      if (before !== oracle.state.name) note(oracle.state.name);
    } else {
      const breaker = breakers[process % processes]!;
      const entered = oracle.enter(`${i}`, stage.nowMs);
      note(entered);
      const held = new Held(breaker);
      await breaker.flush();
      // Where it is refused its promise has settled; its turn comes before ours.
      await Promise.race([held.ended, new Promise((resolve) => setImmediate(resolve))]);
      expect({ i, hasBegun: held.hasBegun }).toEqual({ i, hasBegun: entered !== "no" });
      if (entered !== "no") running.push({ held, breaker, name: `${i}`, isProbe: entered === "probe", window });
    }
    await all();
    for (const breaker of breakers) {
      const { state, calls, failures } = breaker.stats();
      expect({ i, state }).toEqual({ i, state: oracle.state.name });
      if (state === "closed") expect({ i, calls, failures }).toMatchObject(oracleWindow(oracle, stage.nowMs));
    }
  }
}

function oracleWindow(oracle: Oracle, nowMs: number) {
  const { calls, failures } = oracle.window(nowMs);
  return { calls, failures };
}

describe.each([
  ["no store", onNothing, 1],
  ["memory", onMemory, 3],
  ["redis", () => onRedis(), 3],
] as const)("%s", (_name, open, processes) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = new Stage(await open());
  });
  afterAll(() => stage?.opened.close());

  test(`${processes} process(es): decisions and windows match a list of all calls`, async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(options, fc.array(step, { minLength: 40, maxLength: 80 }), async (given, steps) => {
        await stage.clear();
        await play(stage, given, processes, steps, seen);
      }),
      { numRuns: Math.ceil(Number(ORIEL_BREAKER_RUNS) / processes) },
    );
    for (const what of ["free", "no", "probe", "open", "closed"]) expect(seen.get(what) ?? 0).toBeGreaterThan(10);
  });
});
