import type { Clock } from "../time.ts";
import { decisionOf } from "./answer.ts";
import { MODE } from "./ask.ts";
import type { Asker } from "./asker.ts";
import { isAway, withApplied } from "./away.ts";
import type { Decision } from "./decision.ts";
import type { Fallback } from "./fallback.ts";
import type { Policy } from "./policies.ts";

/** Permits fetched ahead: how many at a time, and for how long they may be given out. */
export interface LeaseSettings {
  permits: number;
  forMs: number;
}

type TakeOne = (base: string, policies: readonly Policy[], cost: number) => Promise<Decision>;

interface Pool {
  permits: number;
  /** -Infinity where nothing was fetched. */
  untilMs: number;
  /** As the fetch was answered. */
  decision: Decision;
  fetching: Promise<Decision> | undefined;
}

/** Ids whose permits are held at a time. */
const MOST_POOLS = 10_000;

/**
 * Gives permits out of what was taken ahead, without asking. They were counted when they were fetched: what passes may
 * be late by up to `forMs`, so that within one span up to `permits` more than the limit may pass for each process, and
 * what is not given out in time is lost to everybody.
 */
export class Leases {
  readonly #asker: Asker;
  readonly #fallback: Fallback;
  readonly #settings: LeaseSettings;
  readonly #ask: TakeOne;
  readonly #now: Clock;
  readonly #pools = new Map<string, Pool>();

  /** `ask` takes for one caller, without fetching. */
  constructor(asker: Asker, fallback: Fallback, settings: LeaseSettings, ask: TakeOne, now: Clock) {
    this.#ask = ask;
    this.#asker = asker;
    this.#fallback = fallback;
    this.#settings = settings;
    this.#now = now;
  }

  async take(base: string, policies: readonly Policy[], cost: number): Promise<Decision> {
    for (;;) {
      const pool = this.#pools.get(base);
      if (pool?.fetching) {
        const failure = await pool.fetching.then(
          ({ allowed }) => (allowed ? undefined : "denied"),
          (error: unknown) => error,
        );
        // Who waits for a fetch that the store fails, fails with it: not one deadline after another.
        if (isAway(failure)) return this.#fallback.answer(base, policies, cost, withApplied(failure, "no"));
        if (failure !== undefined) return this.#ask(base, policies, cost);
      } else if (pool && pool.permits >= cost && this.#now() < pool.untilMs) {
        pool.permits -= cost;
        const { decision } = pool;
        return { ...decision, granted: cost, remaining: decision.remaining + pool.permits };
      } else return this.#fetch(base, policies, cost);
    }
  }

  forget(base: string): void {
    this.#pools.delete(base);
  }

  async #fetch(base: string, policies: readonly Policy[], cost: number): Promise<Decision> {
    const untilMs = this.#now() + this.#settings.forMs;
    const wanted = Math.max(cost, this.#settings.permits);
    const question = { base, policies, cost: wanted, mode: MODE.take, isPartial: true, amount: cost };
    const asking = this.#asker.ask(question).then((reply) => decisionOf(reply, policies, reply.permits, 0));
    const pool: Pool = { permits: 0, untilMs: -Infinity, decision: undefined as never, fetching: asking };
    this.#makeRoom();
    this.#pools.set(base, pool);
    try {
      const decision = await asking;
      if (!decision.allowed) return decision;
      pool.untilMs = untilMs;
      pool.permits = decision.granted - cost;
      pool.decision = decision;
      return { ...decision, granted: cost, remaining: decision.remaining + pool.permits };
    } catch (error) {
      return this.#fallback.answer(base, policies, cost, error);
    } finally {
      pool.fetching = undefined;
    }
  }

  #makeRoom(): void {
    if (this.#pools.size < MOST_POOLS) return;
    for (const [base, { untilMs, fetching }] of this.#pools)
      if (!fetching && (untilMs <= this.#now() || this.#pools.size >= MOST_POOLS)) this.#pools.delete(base);
  }
}
