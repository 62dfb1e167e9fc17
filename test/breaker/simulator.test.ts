import fc from "fast-check";
import { expect, test } from "vitest";
import { Breaker, type BreakerOptions, memoryStore, OrielError } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { START_MS } from "../harness/clock/stepped-stores.ts";

const { ORIEL_BREAKER_RUNS = "150" } = process.env;

/** What becomes of one step that is sent. */
const FATES = ["done", "done", "done", "request lost", "reply lost", "doubled", "repeated late", "slow"] as const;
type Fate = (typeof FATES)[number];

const move = fc.record({
  waitMs: fc.constantFrom(0, 1, 1, 7, 40, 100, 150, 400, -30),
  process: fc.nat(3),
  does: fc.constantFrom("call", "call", "call", "call", "fail", "fail", "ignore", "hang", "die"),
  fate: fc.constantFrom(...FATES),
});
type Move = typeof move extends fc.Arbitrary<infer T> ? T : never;

const lost = () => new OrielError("DEADLINE", "no answer", { transient: true, applied: "unknown" });

/** A store in memory whose steps meet the fate that is set. */
class Stage {
  readonly clock = { nowMs: START_MS };
  readonly memory = memoryStore({ clock: () => this.clock.nowMs, maxBytes: 2 ** 22 });
  fate: Fate = "done";
  /** Steps that come once more, some moves later, and answers that are late. */
  readonly late: (() => unknown)[] = [];

  /** One process's way to the store. */
  store(): Store {
    const { memory } = this;
    return {
      ...memory,
      run: async (operation, key, input, options) => {
        const { fate } = this;
        const run = () => memory.run(operation, key, structuredClone(input), options);
        if (fate === "request lost") throw lost();
        if (fate === "slow") await new Promise<void>((resolve) => this.late.push(resolve));
        const answer = await run();
        if (fate === "reply lost") throw lost();
        if (fate === "doubled") await run();
        if (fate === "repeated late") this.late.push(run);
        return answer;
      },
    };
  }

  comeLate(): void {
    for (const run of this.late.splice(0)) run();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function play(moves: readonly Move[], options: Partial<BreakerOptions>) {
  const stage = new Stage();
  const monotonic = () => stage.clock.nowMs;
  const open = () =>
    new Breaker(stage.store(), {
      name: "sim",
      span: "1h",
      cooldown: 500,
      lease: 300,
      monotonic,
      isIgnored: (error: unknown) => error instanceof RangeError,
      ...options,
    } as BreakerOptions);
  const breakers = Array.from({ length: 4 }, open);
  const ended = { calls: 0, failures: 0 };
  for (const [i, { waitMs, process, does, fate }] of moves.entries()) {
    stage.clock.nowMs += waitMs;
    stage.fate = fate;
    if (i % 5 === 0) stage.comeLate();
    const breaker = breakers[process]!;
    if (does === "hang") void breaker.run(() => new Promise(() => {})).catch(() => {});
    else if (does === "die") {
      // Its unreported counts die with it, so it reports them first, for the books.
      stage.fate = "done";
      stage.comeLate();
      await breaker.flush();
      breakers[process] = open();
    } else {
      const error = does === "fail" ? new Error("bad") : does === "ignore" ? new RangeError("ignored") : undefined;
      const run = breaker.run(() => (error ? Promise.reject(error) : 1));
      const code = await Promise.race([run.catch(({ code: of }) => of), turn()]);
      if (code !== "OPEN" && does !== "ignore") {
        ended.calls++;
        if (does === "fail") ended.failures++;
      }
    }
    await turn();
  }
  stage.fate = "done";
  while (stage.late.length > 0) {
    stage.comeLate();
    await turn();
  }
  return { stage, breakers, ended };
}

test("every call is counted once under lost, doubled, late and slow steps, deaths and stepped clocks", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 60 }), async (moves) => {
      const { breakers, ended } = await play(moves, { failures: 1_000_000 });
      for (const breaker of breakers) await breaker.flush();
      await breakers[0]!.flush();
      expect(breakers[0]!.stats()).toMatchObject({ state: "closed", ...ended });
    }),
    { numRuns: Number(ORIEL_BREAKER_RUNS) },
  );
});

test("after any faults all processes call a healthy service again within cooldown, lease and 100 ms", async () => {
  let opened = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 20, maxLength: 60 }), fc.constantFrom(1, 2), async (moves, probes) => {
      const { stage, breakers } = await play(moves, { failures: 3, probes });
      for (const breaker of breakers) await breaker.flush();
      if (breakers.some((each) => each.stats().state !== "closed")) opened++;
      const untilMs = stage.clock.nowMs + 500 + 300 + 100 * probes + 100;
      for (; stage.clock.nowMs < untilMs; stage.clock.nowMs += 50)
        for (const breaker of breakers) {
          await breaker.run(() => 1).catch(() => {});
          await breaker.flush();
        }
      for (const breaker of breakers) {
        expect(breaker.stats().state).toBe("closed");
        expect(await breaker.run(() => "good")).toBe("good");
      }
    }),
    { numRuns: Number(ORIEL_BREAKER_RUNS) },
  );
  expect(opened).toBeGreaterThan(10);
});
