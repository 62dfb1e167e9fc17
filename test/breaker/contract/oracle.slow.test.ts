import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BreakerOptions } from "../../../src/entries/index.ts";
import { breakerSettings } from "../../../src/limits/breaker/options.ts";
import { onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";
import { FleetOracle } from "./oracle.ts";
import { Held, onNothing, Stage } from "./stage.ts";

const { ORIEL_BREAKER_RUNS = "150" } = process.env;

const options: fc.Arbitrary<Partial<BreakerOptions>> = fc.record(
  {
    span: fc.constantFrom(20, 100, 1000, 1000),
    minimumCalls: fc.constantFrom(1, 2, 6),
    failureRatio: fc.constantFrom(0, 0.25, 0.5, 1),
    failures: fc.constantFrom(1, 2, 6),
    cooldown: fc.constantFrom<BreakerOptions["cooldown"]>(5, 15, { first: 4, longest: 15, jitter: 0 }),
    quorum: fc.constantFrom(0, 0.3, 0.5, 0.5, 0.5, 0.7, 0.7, 1),
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
  process: number;
  name: string;
  entered: "free" | "probe" | "own";
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
  const oracle = new FleetOracle(breakerSettings(whole).rule, processes, stage.nowMs);
  const breakers = Array.from({ length: processes }, () => stage.breaker(whole));
  const running: Running[] = [];
  /** Of each process: it changes when its circuit closes. */
  const windows = breakers.map(() => 0);
  await breakers[0]!.flush();
  const noteChanges = (before: readonly string[]) => {
    for (const [each, was] of before.entries()) {
      const now = oracle.stateOf(each);
      if (was !== "closed" && now === "closed") windows[each]!++;
      if (was !== now) note(oracle.state.name === "closed" && now !== "closed" ? `${now} alone` : now);
    }
  };
  const all = async () => {
    for (const breaker of breakers) await breaker.flush();
  };
  for (const [i, { waitMs, process, ends, how }] of steps.entries()) {
    stage.pass(waitMs);
    const atFirst = breakers.map((_, each) => oracle.stateOf(each));
    oracle.lapse(stage.nowMs);
    noteChanges(atFirst);
    await all();
    const call = ends === undefined ? undefined : running.splice(ends % Math.max(1, running.length), 1)[0];
    if (call) {
      // The first process is sick in most traces: it opens the circuit for itself.
      const isBad = how === "bad" || (given.failureRatio !== 0 && call.process === 0 && how === "good");
      if (how === "ignored") await call.held.fail(new RangeError("ignored"));
      else await (isBad ? call.held.fail() : call.held.end());
      await breakers[call.process]!.flush();
      const before = breakers.map((_, each) => oracle.stateOf(each));
      end(oracle, call, isBad ? "bad" : how, call.window === windows[call.process], stage.nowMs);
      noteChanges(before);
      const { state } = oracle;
      if (state.name === "half-open" && state.failed.size > 0) note("goes on");
    } else {
      const place = process % processes;
      const entered = oracle.enterOf(place, `${i}`, stage.nowMs);
      note(entered);
      if (entered === "no" && oracle.state.name === "half-open" && oracle.waitsForOthers(place)) note("waits");
      const held = new Held(breakers[place]!);
      await breakers[place]!.flush();
      // Where it is refused its promise has settled; its turn comes before ours.
      await Promise.race([held.ended, new Promise((resolve) => setImmediate(resolve))]);
      expect({ i, hasBegun: held.hasBegun }).toEqual({ i, hasBegun: entered !== "no" });
      if (entered !== "no") running.push({ held, process: place, name: `${i}`, entered, window: windows[place]! });
    }
    await all();
    for (const [each, breaker] of breakers.entries()) {
      const { state, calls, failures, degraded, processes: callers, failing } = breaker.stats();
      expect({ i, each, state }).toEqual({ i, each, state: oracle.stateOf(each) });
      expect({ i, degraded }).toEqual({ i, degraded: state !== "closed" && oracle.state.name === "closed" });
      if (oracle.state.name !== "closed") continue;
      if (stage.opened.store !== "local")
        expect({ i, processes: callers, failing }).toEqual({ i, ...oracle.voices(stage.nowMs) });
      if (state === "closed") expect({ i, calls, failures }).toMatchObject(oracleWindow(oracle, stage.nowMs));
    }
  }
}

function end(oracle: FleetOracle, call: Running, how: Step["how"], isOfWindow: boolean, nowMs: number): void {
  const isBad = how === "bad";
  const { entered, process, name } = call;
  const of = entered === "own" ? oracle.own[process]! : oracle;
  if (how === "ignored") of.ignore(name, nowMs);
  else if (entered !== "free") of.settle(name, isBad, nowMs);
  else if (isOfWindow) oracle.countOf(process, { atMs: nowMs, calls: 1, failures: isBad ? 1 : 0, slow: 0 }, nowMs);
}

function oracleWindow(oracle: FleetOracle, nowMs: number) {
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
        const { quorum: _, ...alone } = given;
        await play(stage, stage.opened.store === "local" ? alone : given, processes, steps, seen);
      }),
      { numRuns: Number(ORIEL_BREAKER_RUNS), endOnFailure: true },
    );
    for (const what of ["free", "no", "probe", "open", "closed"]) expect(seen.get(what) ?? 0).toBeGreaterThan(10);
    for (const what of processes > 1 ? ["open alone", "own", "waits", "goes on"] : [])
      expect(seen.get(what) ?? 0).toBeGreaterThan(3);
  });
});
