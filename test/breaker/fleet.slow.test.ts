import { describe, expect, test } from "vitest";
import { Breaker, type BreakerOptions, memoryStore, type Store } from "../../src/entries/index.ts";
import type { FlushReply, FlushRequest } from "../../src/limits/breaker/flush-format.ts";
import { START_MS } from "../harness/clock/stepped-stores.ts";

const PROCESSES = 1000;
const STEP_MS = 250;
const OPTIONS = {
  ...{ name: "fleet", span: "10s", failures: 20, failureRatio: 0.5, minimumCalls: 10, flush: "1s" },
  ...{ quorum: 0.5, cooldown: "5s", lease: "2s" },
} satisfies BreakerOptions;

/** Changes of the requests to the store, and of its replies. */
interface Change {
  request?(request: FlushRequest): FlushRequest;
  reply?(reply: FlushReply, request: FlushRequest): FlushReply;
}

interface Process {
  readonly breaker: Breaker;
  isSick: boolean;
  /** Its calls: those that reached the service, and those that were rejected. */
  reached: number;
  lost: number;
}

/** A thousand processes on one clock. Each calls once a step, and a sick one, whose calls fail, tries again at once: three times. */
class Fleet {
  readonly clock = { nowMs: START_MS };
  readonly processes: Process[];
  /** How often a process has learned that the circuit of all is open. */
  learned = 0;
  readonly #memory = memoryStore({ clock: () => this.clock.nowMs, registry: false });
  readonly #change: Change;
  readonly #options: Partial<BreakerOptions>;

  constructor(change: Change = {}, options: Partial<BreakerOptions> = {}) {
    this.#change = change;
    this.#options = options;
    this.processes = Array.from({ length: PROCESSES }, () => this.#opened());
  }

  #opened(): Process {
    const { request = (each) => each, reply = (each) => each } = this.#change;
    const memory = this.#memory;
    const store = Object.assign(Object.create(memory) as Store, {
      async run(operation: never, key: string, input: FlushRequest) {
        const sent = request(input);
        return reply((await memory.run(operation, key, sent as never)) as FlushReply, input);
      },
    });
    const options = { ...OPTIONS, ...this.#options, monotonic: () => this.clock.nowMs } as BreakerOptions;
    const breaker = new Breaker(store, options);
    breaker.on("open", ({ degraded }) => {
      if (!degraded) this.learned++;
    });
    return { breaker, isSick: false, reached: 0, lost: 0 };
  }

  /** Those at these places are sick from now on, and no others. */
  sicken(from: number, to: number): void {
    for (const [i, each] of this.processes.entries()) each.isSick = i >= from && i < to;
  }

  async live(steps: number, each: (step: number) => void = () => {}): Promise<void> {
    for (let step = 0; step < steps; step++) {
      this.clock.nowMs += STEP_MS;
      await Promise.all(this.processes.map((process) => this.#act(process)));
      await new Promise((resolve) => setImmediate(resolve));
      each(step);
    }
  }

  async #act(process: Process): Promise<void> {
    for (let attempt = 0; attempt < (process.isSick ? 3 : 1); attempt++) {
      const isBad = process.isSick;
      const work = () => {
        process.reached++;
        if (isBad) throw new Error("bad");
      };
      await process.breaker.run(work).catch(({ code }) => {
        if (code === "OPEN") process.lost++;
      });
    }
  }

  /** Calls since the last look. */
  take(isSick: boolean): { reached: number; lost: number } {
    const sum = { reached: 0, lost: 0 };
    for (const each of this.processes.filter((one) => one.isSick === isSick)) {
      sum.reached += each.reached;
      sum.lost += each.lost;
      each.reached = each.lost = 0;
    }
    return sum;
  }

  /** The processes that reject their calls. */
  get open(): number {
    return this.processes.filter(({ breaker }) => breaker.stats().state === "open").length;
  }

  /** Whether a new process would be rejected. */
  async isOpenForAll(): Promise<boolean> {
    return (await this.#opened().breaker.ready()).state !== "closed";
  }
}

/** Healthy for a span; then some are sick. */
async function sickened(sick: number, change?: Change, options?: Partial<BreakerOptions>): Promise<Fleet> {
  const fleet = new Fleet(change, options);
  await fleet.live(40);
  expect(fleet.take(false)).toEqual({ reached: 40 * PROCESSES, lost: 0 });
  fleet.sicken(0, sick);
  return fleet;
}

describe.each([1, 10, 100])("%i of a thousand processes are sick", (sick) => {
  test("no healthy process loses a call in 20 s, and each sick one is open for itself after 20 failures", async () => {
    const fleet = await sickened(sick);
    let protectedAt = 0;
    await fleet.live(20, (step) => {
      if (fleet.open < sick) protectedAt = step + 1;
    });
    expect(protectedAt).toBeLessThanOrEqual(7);
    expect(fleet.take(true)).toEqual({ reached: 20 * sick, lost: 40 * sick });
    await fleet.live(60);
    // Each probes for itself: once in 5 s.
    expect(fleet.take(true).reached).toBeLessThanOrEqual(4 * sick);
    expect(fleet.take(false)).toEqual({ reached: 80 * (PROCESSES - sick), lost: 0 });
    expect(await fleet.isOpenForAll()).toBe(false);
    fleet.sicken(0, 0);
    await fleet.live(40);
    fleet.take(false);
    await fleet.live(4);
    expect(fleet.take(false)).toEqual({ reached: 4 * PROCESSES, lost: 0 });
  });
});

test("without a quorum, one sick process of a thousand opens the circuit for all", async () => {
  const fleet = await sickened(1, {}, { quorum: undefined });
  await fleet.live(12);
  expect(await fleet.isOpenForAll()).toBe(true);
  expect(fleet.take(false).lost).toBeGreaterThan(PROCESSES);
});

test("600 of a thousand are sick: when they are open for themselves all others learn it in a second, and one probe of all passes", async () => {
  const fleet = await sickened(600);
  const [alone, all] = [[] as number[], [] as number[]];
  await fleet.live(14, (step) => {
    if (fleet.open >= 600) alone.push(step);
    if (fleet.open === PROCESSES) all.push(step);
  });
  expect(fleet.take(true).reached).toBeLessThanOrEqual(21 * 600);
  expect(all[0]! - alone[0]!).toBeLessThanOrEqual(1000 / STEP_MS);
  expect(await fleet.isOpenForAll()).toBe(true);
  fleet.take(false);
  // The cooldown is over once in these 6 s.
  await fleet.live(24);
  expect(fleet.take(true).reached + fleet.take(false).reached).toBeLessThanOrEqual(2);
  fleet.sicken(0, 0);
  await fleet.live(40);
  fleet.take(false);
  await fleet.live(20);
  expect(fleet.take(false)).toEqual({ reached: 20 * PROCESSES, lost: 0 });
  expect(fleet.open).toBe(0);
});

/** An outage of all opens the circuit. When it is over, some stay sick: those that always ask first. */
async function afterOutage(sick: number, change?: Change, options?: Partial<BreakerOptions>): Promise<Fleet> {
  const fleet = await sickened(PROCESSES, change, options);
  await fleet.live(OUTAGE_STEPS);
  expect(fleet.open).toBe(PROCESSES);
  fleet.take(true);
  fleet.sicken(0, sick);
  return fleet;
}

/** Steps until all healthy processes' calls pass; at most `most`. */
async function recovery(fleet: Fleet, most = 400): Promise<number> {
  for (let steps = 4; steps <= most; steps += 4) {
    await fleet.live(4);
    const { reached, lost } = fleet.take(false);
    if (lost === 0 && reached > 0) return steps;
  }
  return Number.POSITIVE_INFINITY;
}

const OUTAGE_STEPS = 16;
const COOLDOWN_STEPS = 5000 / STEP_MS;

describe.each([
  [1, 1, 4],
  [10, 1, 4],
  [100, 1, 8],
  [400, 1, 16],
  [100, 10, 8],
  [400, 10, 16],
])("after an outage of all %i of a thousand stay sick and ask first, with %i probes", (sick, probes, cooldowns) => {
  test(`all calls of the healthy ones pass within ${cooldowns} cooldowns`, async () => {
    const fleet = await afterOutage(sick, {}, { probes });
    expect(await recovery(fleet)).toBeLessThanOrEqual(cooldowns * COOLDOWN_STEPS);
    expect(await fleet.isOpenForAll()).toBe(false);
    await fleet.live(40);
    expect(fleet.take(false).lost).toBe(0);
  });
});

test.each([1, 10])("while an outage of all goes on, no more than %i probes pass in a cooldown", async (probes) => {
  const fleet = await afterOutage(PROCESSES, {}, { probes });
  for (let cooldown = 0; cooldown < 6; cooldown++) {
    await fleet.live(COOLDOWN_STEPS);
    expect(fleet.take(true).reached).toBeLessThanOrEqual(2 * probes);
    expect(await fleet.isOpenForAll()).toBe(true);
  }
});

test("600 of a thousand stay sick: whenever a healthy one closes the circuit, it is open for all again within 3 s", async () => {
  const fleet = await afterOutage(600, {}, { probes: 10 });
  let closedSteps = 0;
  await fleet.live(8 * COOLDOWN_STEPS, () => {
    const closed = fleet.processes.filter(({ breaker }) => breaker.stats().state === "closed").length;
    closedSteps = closed > 0 ? closedSteps + 1 : 0;
    expect(closedSteps).toBeLessThanOrEqual(3000 / STEP_MS);
  });
});

/** A sickness that goes round: each tenth has it for 4 s. Returns whether it opened the circuit for all. */
async function opensByWandering(change?: Change): Promise<boolean> {
  const fleet = await sickened(0, change, { cooldown: "1s" });
  for (let tenth = 0; tenth < 8; tenth++) {
    fleet.sicken(tenth * 100, tenth * 100 + 100);
    await fleet.live(16);
  }
  return fleet.learned > 0;
}

test("a sickness that goes round, with a tenth of the processes at a time, does not open the circuit for all", async () => {
  expect(await opensByWandering()).toBe(false);
});

describe("a planted fault is found", () => {
  const lost = async (sick: number, change: Change) => {
    const fleet = await sickened(sick, change);
    await fleet.live(60);
    return fleet.take(false).lost;
  };

  test("calls decide, not processes", async () => {
    const quorum = Number.POSITIVE_INFINITY;
    expect(await lost(1, { request: (each) => ({ ...each, rule: { ...each.rule, quorum } }) })).toBeGreaterThan(0);
  });

  test("a process that sees failures has a voice for each report", async () => {
    let next = 0;
    const renamed = (each: FlushRequest) => ({ ...each, id: String(next++).padStart(16, "x") });
    expect(await lost(100, { request: (each) => (each.sees ? renamed(each) : each) })).toBeGreaterThan(0);
  });

  test("healthy processes have no voice", async () => {
    const change: Change = { request: (each) => (each.sees ? each : { ...each, sequence: 0 }) };
    expect(await lost(10, change)).toBeGreaterThan(0);
  });

  test("a process that saw failures once says so for ever", async () => {
    const seen = new Set<string>();
    const change: Change = {
      request(each) {
        if (each.sees) seen.add(each.id);
        return { ...each, sees: seen.has(each.id) };
      },
    };
    expect(await opensByWandering(change)).toBe(true);
  });

  test("no process says that it sees failures", async () => {
    const fleet = await sickened(600, { request: (each) => ({ ...each, sees: false }) });
    await fleet.live(14);
    expect(await fleet.isOpenForAll()).toBe(false);
  });

  test("every process that asks may probe", async () => {
    const fleet = await sickened(600, { reply: (each, { wanted }) => ({ ...each, granted: wanted }) });
    await fleet.live(14);
    fleet.take(true);
    fleet.take(false);
    await fleet.live(24);
    expect(fleet.take(true).reached + fleet.take(false).reached).toBeGreaterThan(2);
  });
});
