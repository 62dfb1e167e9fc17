import { endsWithRequest } from "../../async/of-request.ts";
import type { Clock } from "../../time.ts";
import type { Decision } from "../decision.ts";
import type { Policy } from "../policies.ts";
import { decisionOf } from "../steps/answer.ts";
import { MODE } from "../steps/ask.ts";
import type { Asker } from "./asker.ts";
import { isAway, withApplied } from "./away.ts";
import type { Fallback } from "./fallback.ts";
import { bytesOf, MOST_RECENT_BYTES, Recent } from "./recent.ts";

/** Permits fetched ahead: how many at a time, and for how long they may be given out. */
export interface LeaseSettings {
  permits: number;
  forMs: number;
}

/** Of a fetch whose request has ended nobody hears: another one begins after so long, in Workers. */
const LOST_MS = 500;

interface Fetch {
  asking: Promise<Decision>;
  sizeBytes: number;
  atMs: number;
}

type TakeOne = (base: string, policies: readonly Policy[], cost: number) => Promise<Decision>;

interface Pool {
  permits: number;
  /** As the fetch was answered. */
  decision: Decision;
}

/**
 * Gives permits out of what was taken ahead, without asking. They were counted when they were fetched: what passes may
 * be late by up to `forMs`, so that within one span up to `permits` more than the limit may pass for each process, and
 * what is not given out in time is lost to everybody. So is what is held for ids beyond the bound (recent.ts); as many are
 * fetched for at a time, and of more ids each call asks for itself.
 */
export class Leases {
  readonly #asker: Asker;
  readonly #fallback: Fallback;
  readonly #settings: LeaseSettings;
  readonly #ask: TakeOne;
  readonly #now: Clock;
  readonly #pools: Recent<Pool>;
  readonly #fetching = new Map<string, Fetch>();
  #fetchingBytes = 0;

  /** `ask` takes for one caller, without fetching. */
  constructor(asker: Asker, fallback: Fallback, settings: LeaseSettings, ask: TakeOne, now: Clock) {
    this.#ask = ask;
    this.#asker = asker;
    this.#fallback = fallback;
    this.#settings = settings;
    this.#now = now;
    this.#pools = new Recent(now);
  }

  async take(base: string, policies: readonly Policy[], cost: number): Promise<Decision> {
    for (;;) {
      const fetching = this.#fetchOf(base);
      const pool = fetching ? undefined : this.#pools.get(base);
      if (fetching) {
        if (endsWithRequest) return this.#ask(base, policies, cost);
        const failure = await fetching.asking.then(
          ({ allowed }) => (allowed ? undefined : "denied"),
          (error: unknown) => error,
        );
        // Who waits for a fetch that the store fails, fails with it: not one deadline after another.
        if (isAway(failure)) return this.#fallback.answer(base, policies, cost, withApplied(failure, "no"));
        if (failure !== undefined) return this.#ask(base, policies, cost);
      } else if (pool && pool.permits >= cost) {
        pool.permits -= cost;
        const { decision } = pool;
        return { ...decision, granted: cost, remaining: decision.remaining + pool.permits };
      } else if (this.#fetchingBytes >= MOST_RECENT_BYTES) return this.#ask(base, policies, cost);
      else return this.#fetch(base, policies, cost);
    }
  }

  forget(base: string): void {
    this.#pools.delete(base);
    this.#forgetFetch(base, this.#fetching.get(base));
  }

  #fetchOf(base: string): Fetch | undefined {
    if (!endsWithRequest) return this.#fetching.get(base);
    const lostMs = this.#now() - LOST_MS;
    for (const [each, fetch] of this.#fetching) {
      if (fetch.atMs > lostMs) break;
      this.#forgetFetch(each, fetch);
    }
    return this.#fetching.get(base);
  }

  #forgetFetch(base: string, fetch: Fetch | undefined): void {
    if (!fetch || this.#fetching.get(base) !== fetch) return;
    this.#fetchingBytes -= fetch.sizeBytes;
    this.#fetching.delete(base);
  }

  async #fetch(base: string, policies: readonly Policy[], cost: number): Promise<Decision> {
    const nowMs = this.#now();
    const untilMs = nowMs + this.#settings.forMs;
    const wanted = Math.max(cost, this.#settings.permits);
    const question = { base, policies, cost: wanted, mode: MODE.take, isPartial: true, amount: cost };
    const asking = this.#asker.ask(question).then((reply) => decisionOf(reply, policies, reply.permits, 0));
    const sizeBytes = bytesOf(base, policies);
    const fetch = { asking, sizeBytes, atMs: nowMs };
    this.#pools.delete(base);
    this.#fetching.set(base, fetch);
    this.#fetchingBytes += sizeBytes;
    try {
      const decision = await asking;
      if (!decision.allowed) return decision;
      const permits = decision.granted - cost;
      // Where it was forgotten meanwhile, so is what was fetched.
      if (this.#fetching.get(base) === fetch) this.#pools.set(base, { permits, decision }, untilMs, sizeBytes);
      return { ...decision, granted: cost, remaining: decision.remaining + permits };
    } catch (error) {
      return this.#fallback.answer(base, policies, cost, error);
    } finally {
      this.#forgetFetch(base, fetch);
    }
  }
}
