import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Charge, type Decision, Limiter, type Policy, type Reservation } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { type OpenStore, onHttp, onMemory, onRedis } from "../../harness/clock/stepped-stores.ts";
import { Random } from "../../simulator/world/random.ts";
import { KINDS } from "./oracle.ts";
import { type Answer, type Budget, ReservationOracle } from "./reservation-oracle.ts";
import { randomTerms } from "./trace.ts";

const { ORIEL_RESERVATION_PROGRAMS = "40", ORIEL_SEED } = process.env;
const seed = Number(ORIEL_SEED ?? Date.now() % 1_000_000);
const STEPS = 60;
const tag = "t";
const WAITS_MS = [0, 0, 0, 0, 1, 3, 9, 50, 99, 100, 101, 250, 999, 1000, 1001, 5000, 59_999, 61_000];
const LONG_MS = [6 * 3_600_000, 24 * 3_600_000];
const LEASES_MS = [1, 50, 100, 100, 700, 1000, 60_000];

/** Each step that may be sent again after a lost reply is now and then applied twice, and its first reply lost. */
function withLostReplies(store: Store, random: Random): Store {
  return {
    ...store,
    async run(operation, ...more) {
      if (operation.repeatable && random.chance(0.3)) await store.run(operation, ...more);
      return store.run(operation, ...more);
    },
  };
}

interface Open {
  id: number;
  reservation: Reservation;
  limiters: number[];
  costs: number[][];
  leaseMs: number;
  last: number[][];
}

const seen = ({ allowed, retryAfterMs, policies }: Decision): Answer => ({
  allowed,
  retryAfterMs,
  policies: policies.map((each) => ({
    allowed: each.allowed,
    remaining: each.remaining,
    retryAfterMs: each.retryAfterMs,
  })),
});

/** One random program over some limiters, and the oracle beside it. */
class Program {
  readonly #random: Random;
  readonly #opened: OpenStore;
  readonly #budgets: Budget[][];
  readonly #limiters: Limiter[];
  readonly #oracle: ReservationOracle;
  readonly #history: unknown[] = [];
  readonly counts = { charged: 0, ended: 0, overruns: 0, denied: 0, late: 0 };
  #open: Open[] = [];
  #ids = 0;

  constructor(random: Random, opened: OpenStore) {
    this.#random = random;
    this.#opened = opened;
    const made = Array.from({ length: random.int(1, 3) }, () =>
      Array.from({ length: random.int(1, 3) }, (_, p) => {
        const kind = random.pick(KINDS);
        let { terms, policy } = randomTerms(kind, random);
        // With smaller limits nearly all calls are denied.
        while (terms.limit < 7) ({ terms, policy } = randomTerms(kind, random));
        return { kind, terms, policy: { ...policy, name: `p${p}` } as Policy };
      }),
    );
    this.#budgets = made;
    const store = withLostReplies(opened.store, random);
    this.#limiters = made.map(
      (own, l) =>
        new Limiter(
          store,
          own.map(({ policy }) => policy),
          { name: `l${l}` },
        ),
    );
    this.#oracle = new ReservationOracle(made);
  }

  async run(): Promise<void> {
    const { clock } = this.#opened;
    for (let step = 0; step < STEPS; step++) {
      const waitMs = this.#random.chance(0.05) ? this.#random.pick(LONG_MS) : this.#random.pick(WAITS_MS);
      clock.nowMs += waitMs;
      this.#oracle.goTo(clock.nowMs);
      const verb = this.#random.pick(["reserve", "reserve", "charge", "charge", "settle", "take", "peek", "other"]);
      this.#note(verb, { waitMs });
      await this.#step(verb);
    }
  }

  #note(verb: string, what: object): void {
    this.#history.push({ verb, ...what });
  }

  #is(actual: unknown, right: unknown): void {
    if (!isDeepStrictEqual(actual, right))
      expect({ actual, budgets: this.#budgets, history: this.#history.slice(-25) }).toEqual({ actual: right });
  }

  async #step(verb: string): Promise<void> {
    const random = this.#random;
    if (verb === "reserve") return this.#reserve();
    if (verb === "take" || verb === "peek") return this.#ask(verb);
    if (verb === "other") return this.#other();
    const one = this.#open.length > 0 ? random.pick(this.#open) : undefined;
    if (!one) return;
    if (verb === "charge") return this.#charge(one);
    if (random.chance(0.3))
      this.#open = this.#open.filter((each) => each !== one); // its process dies
    else await this.#settle(one);
  }

  #costs(limiters: readonly number[]): number[][] {
    return limiters.map((l) => this.#budgets[l]!.map(() => this.#random.pick([0, 1, 1, 2, 3, 5, 8])));
  }

  #requests(limiters: readonly number[], costs: readonly (readonly number[])[]) {
    return limiters.map((l, i) => ({ limiter: this.#limiters[l]!, id: "a", cost: byName("", costs[i]!) }));
  }

  #some(): number[] {
    const all = this.#limiters.map((_, l) => l);
    return this.#random.chance(0.5) ? all : [this.#random.pick(all)];
  }

  async #reserve(): Promise<void> {
    const random = this.#random;
    const limiters = this.#some();
    const costs = this.#costs(limiters);
    const [leaseMs, isCharged] = [random.pick(LEASES_MS), random.chance(0.6)];
    const id = this.#ids++;
    this.#note("reserve", { id, limiters, costs, leaseMs, isCharged });
    const options = { tag, lease: leaseMs, ends: isCharged ? "charged" : "free" } as const;
    const requests = this.#requests(limiters, costs);
    const { limiter, ...rest } = requests[0]!;
    const reservation =
      limiters.length === 1 && random.chance(0.5)
        ? await limiter.reserve("a", { ...options, cost: rest.cost })
        : await Limiter.reserveAll(requests, options);
    this.#is(seen(reservation), this.#oracle.reserve(id, limiters, costs, leaseMs, isCharged));
    const last = costs.map((own) => own.map(() => 0));
    if (reservation.allowed) this.#open.push({ id, reservation, limiters, costs, leaseMs, last });
    else this.counts.denied++;
  }

  /** Names of policies as the reservation has them. */
  #named(one: Open, totals: readonly (readonly number[])[]): Record<string, number> {
    const names = one.reservation.policies.map(({ name }) => name);
    return Object.fromEntries(totals.flat().map((total, i) => [names[i], total]));
  }

  async #charge(one: Open): Promise<void> {
    const random = this.#random;
    // A late copy of an earlier one has lower totals.
    const isCopy = random.chance(0.2);
    const totals = one.last.map((own) => own.map((last) => (isCopy ? random.int(0, last) : last + random.int(0, 3))));
    if (!isCopy) one.last = totals;
    this.#note("charge", { id: one.id, totals });
    const charge = await one.reservation.charge(this.#named(one, totals));
    this.#compare(one, charge, this.#oracle.charge(one.id, one.limiters, totals, one.leaseMs));
  }

  async #settle(one: Open): Promise<void> {
    const random = this.#random;
    this.#open = this.#open.filter((each) => each !== one);
    const isCancelled = random.chance(0.2);
    const totals = one.costs.map((own) => own.map((cost) => (isCancelled ? 0 : Math.max(0, cost + random.int(-3, 3)))));
    this.#note("settle", { id: one.id, totals, isCancelled });
    const settling = isCancelled ? one.reservation.cancel() : one.reservation.settle(this.#named(one, totals));
    const right = this.#oracle.charge(one.id, one.limiters, totals, undefined);
    const charge = await settling;
    if (charge === true || isCancelled) this.#is(charge, right !== undefined);
    else this.#compare(one, charge, right);
    this.#is(await one.reservation.settle(this.#named(one, totals)), false);
  }

  #compare(one: Open, charge: Charge | false, right: { charged: number; debt: number }[] | undefined): void {
    if (right === undefined) this.counts.late++;
    const reserved = one.costs.flat();
    const whole = right?.map(({ charged, debt }, i) => {
      const overrun = Math.max(0, charged - reserved[i]!);
      if (overrun > 0) this.counts.overruns++;
      this.counts.charged += charged;
      return { name: one.reservation.policies[i]!.name, charged, overrun, debt };
    });
    this.#is(charge, whole ? { policies: whole } : false);
  }

  async #ask(verb: "take" | "peek"): Promise<void> {
    const limiters = this.#some();
    const costs = this.#costs(limiters);
    this.#note(verb, { limiters, costs });
    if (verb === "take") {
      const decision = await Limiter.takeAll(this.#requests(limiters, costs), { tag });
      this.#is(seen(decision), this.#oracle.ask(limiters, costs, true));
      return;
    }
    // Asked at once, one step of them may charge what has ended for all.
    const asked = limiters.map((l, i) => this.#limiters[l]!.peek("a", { tag, cost: byName("", costs[i]!) }));
    const answers = await Promise.all([...asked, ...asked]);
    const right = limiters.map((l, i) => this.#oracle.ask([l], [costs[i]!], false));
    this.#is(answers.map(seen), [...right, ...right]);
  }

  async #other(): Promise<void> {
    const random = this.#random;
    const l = random.int(0, this.#limiters.length - 1);
    const permits = random.chance(0.1) ? 0 : random.int(1, 5);
    this.#note("other", { l, permits });
    if (permits === 0) {
      await this.#limiters[l]!.reset("a", { tag });
      this.#oracle.reset(l);
      return;
    }
    await this.#limiters[l]!.penalty("a", permits, { tag });
    this.#oracle.penalty(l, permits);
  }
}

function byName(prefix: string, costs: readonly number[]): Record<string, number> {
  return Object.fromEntries(costs.map((cost, p) => [`${prefix}p${p}`, cost]));
}

const stores = {
  memory: onMemory,
  Redis: () => onRedis(),
  "a cluster": () => onRedis(true),
  "Redis over HTTP": onHttp,
};
describe.each(Object.keys(stores) as (keyof typeof stores)[])("in %s", (name) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await stores[name]();
  });
  afterAll(() => opened?.close());

  test(`random programs of reservations have the oracle's answers (seed ${seed})`, { timeout: 600_000 }, async () => {
    const random = new Random(seed);
    const sums = { charged: 0, ended: 0, overruns: 0, denied: 0, late: 0 };
    for (let i = 0; i < Number(ORIEL_RESERVATION_PROGRAMS); i++) {
      await opened.clear();
      const program = new Program(random.fork(), opened);
      await program.run();
      for (const [what, count] of Object.entries(program.counts)) sums[what as keyof typeof sums] += count;
    }
    // Otherwise the programs would show nothing.
    expect(sums.charged).toBeGreaterThan(0);
    expect(sums.overruns).toBeGreaterThan(0);
    expect(sums.denied).toBeGreaterThan(0);
    expect(sums.late).toBeGreaterThan(0);
  });
});
