import { describe, expect, it } from "vitest";
import type { Ask } from "../../src/engine/series/answers/ask.ts";
import type { Publication } from "../../src/engine/series/answers/publish.ts";
import { SharedAnswers } from "../../src/engine/series/answers/shared-answers.ts";
import { type StatsQuery, statsQuery } from "../../src/engine/stats/window-query.ts";
import type { WindowStats } from "../../src/engine/stats/window-stats.ts";
import type { Operation } from "../../src/store/contract.ts";
import { CALM, Network, type Weather } from "./world/network.ts";
import { SimProcess } from "./world/process.ts";
import { Random } from "./world/random.ts";
import { SimServer } from "./world/server.ts";
import { SimStore } from "./world/store.ts";
import { World } from "./world/world.ts";

const START_MS = 1_700_000_000_000;
const KEY = "oriel:{s}:answer";
const FIRST_SEED = Number(process.env.ORIEL_FIRST_SEED ?? 1);
const SEEDS = Number(process.env.ORIEL_SEEDS ?? 40);

/** Takes a rule out of a step. */
type Alter = <I, O>(operation: Operation<I, O>) => Operation<I, O>;

interface Asker {
  readonly process: SimProcess;
  readonly answers: SharedAnswers;
  asked: number;
  computed: number;
  failed: number;
  /** How long each answered call took, ms. */
  readonly waitsMs: number[];
}

interface FleetOptions {
  seed: number;
  weather?: Partial<Weather>;
  /** How long a process works on an answer. */
  workMs?: number;
  /** The ends of the windows that are asked for. */
  ends?: readonly (number | undefined)[];
  alter?: Alter;
}

/**
 * Processes that ask the same questions, which differ in the ends of their windows. Events are acknowledged all the time, and the
 * answer is the time until which it has them all. Law: an answer has all events that were acknowledged `maxAge` before the call, and
 * is that of the window.
 */
class Fleet {
  readonly world = new World(START_MS);
  readonly server = new SimServer(this.world);
  readonly random: Random;
  readonly network: Network;
  readonly askers: Asker[] = [];
  /** How far the server's clock was set back, in all: an answer may be older by this. */
  setBackMs = 0;
  /** Probability that a process cannot compute, which it finds after its work. */
  failing = 0;
  /** Called when a process begins to compute. */
  onCompute: (asker: Asker) => void = () => {};
  readonly #options: FleetOptions;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.random = new Random(options.seed);
    this.network = new Network(this.world, { ...CALM, ...options.weather }, this.random.fork());
  }

  start(): Asker {
    const { world, server, network, random } = this;
    const { workMs = 5, alter } = this.#options;
    const process = new SimProcess(world, `p${this.askers.length}`, random);
    // The lease clock counts the time that a process was frozen.
    const leaseClock = () => world.nowMs;
    const store = Object.assign(new SimStore({ world, server, network, process, alter }), { leaseClock });
    const sleep = (ms: number) => new Promise<void>((resolve) => process.after(Math.ceil(ms), resolve));
    const own = {
      losses: () => [],
      compute: async ({ atMs = 0 }: StatsQuery): Promise<WindowStats> => {
        asker.computed++;
        this.onCompute(asker);
        const count = await store.run(readOf(world), KEY, undefined);
        await sleep(workMs);
        if (random.chance(this.failing)) throw new Error("cannot compute");
        return { ...EMPTY, count, to: atMs };
      },
    };
    const timers = {
      pause: sleep,
      after(ms: number, run: () => void) {
        let isOn = true;
        process.after(Math.ceil(ms), () => isOn && run());
        return () => {
          isOn = false;
        };
      },
    };
    const answers = new SharedAnswers(store, KEY, own, () => random.u32(), timers);
    const asker: Asker = { process, answers, asked: 0, computed: 0, failed: 0, waitsMs: [] };
    this.askers.push(asker);
    return asker;
  }

  async ask(asker: Asker, maxAgeMs: number): Promise<void> {
    const { world } = this;
    const askedMs = world.nowMs;
    const at = this.random.pick(this.#options.ends ?? [undefined]);
    asker.asked++;
    try {
      const query = statsQuery({ span: "1m", at, percentiles: [99], maxAge: maxAgeMs }, 60_000);
      const { count, to } = await asker.answers.stats(query);
      if (to !== (at ?? 0)) world.violation(`${asker.process.name} got the answer for ${to}, not for ${at}`);
      asker.waitsMs.push(world.nowMs - askedMs);
      // 2 ms for the drift of a process's clock.
      const lateMs = askedMs - maxAgeMs - this.setBackMs - 2 - count;
      if (lateMs > 0) world.violation(`${asker.process.name} got an answer that is ${lateMs} ms too old`);
    } catch {
      asker.failed++;
    }
  }

  /** Each process asks once in `everyMs`, at its own moments. Then all calls may end. */
  async play(everyMs: number, maxAgeMs: () => number, durationMs: number): Promise<void> {
    const { world } = this;
    const untilMs = START_MS + durationMs;
    for (const asker of this.askers) {
      const next = () => {
        if (world.nowMs >= untilMs) return;
        void this.ask(asker, maxAgeMs());
        asker.process.after(everyMs, next);
      };
      asker.process.after(this.random.int(0, everyMs), next);
    }
    await world.run(untilMs + 60_000);
    for (const { process, asked, failed, waitsMs } of this.askers)
      if (process.state === "running" && asked > failed + waitsMs.length)
        world.violation(`${process.name} waits for ever`);
  }

  get computed(): number {
    return this.askers.reduce((sum, asker) => sum + asker.computed, 0);
  }

  get longestWaitMs(): number {
    return this.askers.reduce((longest, { waitsMs }) => Math.max(longest, ...waitsMs), 0);
  }
}

const EMPTY = {
  ...{ sum: 0, mean: Number.NaN, min: Number.NaN, max: Number.NaN, variance: Number.NaN, std: Number.NaN },
  ...{ percentiles: { 99: Number.NaN }, from: 0, to: 0, degraded: false },
};

/** Reads all events: those that were acknowledged before this moment. */
function readOf(world: World): Operation<undefined, number> {
  const script = { text: "" };
  const local = () => world.nowMs;
  return {
    name: "toy/read",
    script,
    arity: 0,
    keyCount: 1,
    repeatable: true,
    encode: () => [],
    decode: () => 0,
    local,
  };
}

/** A fleet in bad weather: messages are lost, processes die or stand still, clocks jump, the server fails over. */
async function storm(seed: number, alter?: Alter): Promise<string[]> {
  const random = new Random(seed);
  const weather = {
    lostRequest: random.pick([0, 0.02]),
    lostReply: random.pick([0, 0.02]),
    repeated: random.pick([0, 0.05]),
    repeatedLateMs: 4000,
    slow: random.pick([0, 0.1]),
    slowMs: random.pick([50, 2000]),
  };
  const ends = random.pick([[undefined], [START_MS], [undefined, START_MS, START_MS + 60_000]]);
  const fleet = new Fleet({ seed, weather, workMs: random.pick([1, 40, 700]), ends, alter });
  const { world, server, network } = fleet;
  fleet.failing = random.pick([0, 0.1, 0.5]);
  for (let i = 0; i < 8; i++) fleet.start();
  const ages = random.pick([[1000], [50], [20, 300, 5000]]);
  const trouble = () => {
    const { process } = random.pick(fleet.askers);
    const kind = random.pick(["kill", "pause", "freeze", "back", "forward", "failover", "silent", "refuse"]);
    if (kind === "kill" && fleet.askers.length < 20) {
      process.kill();
      const asker = fleet.start();
      const next = () => {
        void fleet.ask(asker, random.pick(ages));
        if (world.nowMs < START_MS + 20_000) asker.process.after(400, next);
      };
      next();
    } else if (kind === "pause") process.pause();
    else if (kind === "freeze") process.freeze(random.chance(0.5));
    else if (kind === "back") {
      const ms = random.pick([3, 200, 5000]);
      server.offsetMs -= ms;
      fleet.setBackMs += ms;
    } else if (kind === "forward") server.offsetMs += random.pick([3, 200, 5000]);
    else if (kind === "failover") server.failover(random.int(1, 10));
    else if (kind === "silent") network.silentUntilMs = world.nowMs + random.int(10, 3000);
    else network.refusingUntilMs = world.nowMs + random.int(10, 3000);
    if (process.state === "paused") world.after(random.int(5, 6000), () => process.resume());
    if (world.nowMs < START_MS + 20_000) world.after(random.int(20, 2000), trouble);
  };
  world.after(500, trouble);
  await fleet.play(random.pick([50, 400]), () => random.pick(ages), 20_000);
  return world.violations.map((text) => `seed ${seed}: ${text}`);
}

describe("shared answers", () => {
  it.each([
    [64, 60_000],
    [10_000, 5000],
  ])("%i processes that ask once a second: only one computes", async (processes, durationMs) => {
    const fleet = new Fleet({ seed: FIRST_SEED });
    for (let i = 0; i < processes; i++) fleet.start();
    await fleet.play(1000, () => 1000, durationMs);
    expect(fleet.world.violations).toEqual([]);
    expect(fleet.askers.filter(({ computed }) => computed > 0).length).toBe(1);
    expect(fleet.computed).toBeLessThanOrEqual(2 + durationMs / 450);
    expect(fleet.longestWaitMs).toBeLessThan(100);
  });

  it("another process answers within the maximum age when the one that computes dies", async () => {
    const fleet = new Fleet({ seed: FIRST_SEED, workMs: 30 });
    for (let i = 0; i < 20; i++) fleet.start();
    let kills = 0;
    fleet.onCompute = ({ process }) => {
      if (++kills % 4 === 0 && kills < 40) process.kill();
    };
    await fleet.play(100, () => 400, 20_000);
    expect(fleet.world.violations).toEqual([]);
    expect(fleet.askers.filter(({ process }) => process.state === "dead").length).toBe(9);
    // A claim of a half, and the work.
    expect(fleet.longestWaitMs).toBeLessThan(400);
  });

  it("a call waits for others no longer than a claim, however many of them fail", async () => {
    const fleet = new Fleet({ seed: FIRST_SEED, workMs: 900 });
    fleet.failing = 1;
    for (let i = 0; i < 60; i++) fleet.start();
    let longestMs = 0;
    const ask = (asker: Asker) => {
      const askedMs = fleet.world.nowMs;
      void fleet.ask(asker, 60_000).then(() => {
        longestMs = Math.max(longestMs, fleet.world.nowMs - askedMs);
      });
    };
    for (const asker of fleet.askers) ask(asker);
    await fleet.world.run(START_MS + 120_000);
    expect(fleet.askers.every(({ failed }) => failed === 1)).toBe(true);
    // A claim of a second, and the work.
    expect(longestMs).toBeLessThan(2100);
  });

  it("nothing is computed when nobody asks any more", async () => {
    const fleet = new Fleet({ seed: FIRST_SEED });
    for (let i = 0; i < 5; i++) fleet.start();
    await fleet.play(200, () => 1000, 3000);
    const { computed } = fleet;
    await fleet.world.run(fleet.world.nowMs + 3_600_000);
    expect(fleet.computed).toBe(computed);
    expect(fleet.server.versions().size).toBe(0);
  });

  it("no answer is too old and nobody waits for ever, in storms", async () => {
    const violations: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) violations.push(...(await storm(seed)));
    expect(violations).toEqual([]);
  });

  type Change = (input: Publication & Ask, nowMs: number) => [input: object, nowMs: number, key?: string];
  const FAULTS: [string, string, Change][] = [
    [
      "an answer is as young as its publication",
      "series/publish",
      (input, nowMs) => [{ ...input, asOfMs: nowMs }, nowMs],
    ],
    ["the age of answers stands still", "series/ask", (input) => [input, START_MS]],
    ["windows of all ends have one answer", "series/", (input, nowMs) => [input, nowMs, KEY]],
  ];
  it.each(FAULTS)("finds the planted fault: %s", async (_name, step, change) => {
    const alter: Alter = (operation) => {
      if (!operation.name.startsWith(step)) return operation;
      const local: NonNullable<typeof operation.local> = (keys, key, input, nowMs) => {
        const [changed, atMs, its = key] = change(input as Publication & Ask, nowMs);
        return operation.local!(keys, its, changed as typeof input, atMs);
      };
      return { ...operation, local };
    };
    for (let seed = 1; seed <= 50; seed++) if ((await storm(seed, alter)).length > 0) return;
    throw new Error("not found in 50 storms");
  });
});
