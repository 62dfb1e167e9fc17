import type { RedlockMutex } from "redis-semaphore";
import { OrielError } from "../errors.ts";
import { giveBack } from "../hold/give-backs.ts";
import type { Store } from "../store/contract.ts";
import { warn } from "../warn.ts";
import type { Member } from "./member.ts";
import type { Round } from "./round.ts";

/** The client that redis-semaphore's classes take. */
export type RedisClient = ConstructorParameters<typeof RedlockMutex>[0][number];

export type Action = "acquire" | "extend" | "release";

/** The SHA-1 of each script of redis-semaphore 5.8. Its other requests are SET and ZREM. */
const ACTIONS: Readonly<Record<string, Action>> = {
  "594683e49a64ebaf975caf5f8079a1d097c438f1": "extend",
  "7157921a7cc7cfba979acf6d63f073151df17d12": "release",
  "43ebdb49120d170e08af560cb4e46e36f8585936": "acquire",
  "999a49a1d07671a8027165641001f5bad44608b3": "extend",
  "10c1c2e05e7c48aa5824d227b8c51abcde87b18e": "acquire",
  "2327bcdc5edb5b8687f6d19b5e1f42b815ebddab": "extend",
  "0bd1010c98f1ddd70a6024fd374489a8ea3d2c12": "release",
};

/** A server that fails is warned of this often. */
const QUIET_MS = 60_000;

const warnedAtMs = new WeakMap<Store, number>();

/**
 * One hold on one server, as a client for redis-semaphore. The library decides what to ask of which server; each request runs
 * as a step of oriel, so that all stores serve it, its clock is the server's, and no lease is shortened.
 *
 * Requests are sent one after another. So a late answer to an acquisition is known before the release is sent.
 */
export class LibraryClient {
  readonly #member: Member;
  readonly #token: string;
  #last: Promise<unknown> = Promise.resolve();
  #isEnded = false;
  /** True unless the server has refused or released it, or was never asked. */
  #mayBeHeld = false;

  constructor(member: Member, token: string) {
    this.#member = member;
    this.#token = token;
  }

  /** A client of ioredis with the methods that redis-semaphore uses, for one call of the library. `round` counts the answers. */
  asRedis(purpose: Action, round: Round, leaseMs: number): RedisClient {
    const request = (action: Action) => this.#request(action, purpose, round, leaseMs);
    const methods = {
      set: async () => ((await request("acquire")) === 1 ? "OK" : null),
      zrem: () => request("release"),
      evalsha: (sha: string) => {
        const action = ACTIONS[sha];
        return action ? request(action) : Promise.reject(new Error(`redis-semaphore has an unknown script, ${sha}`));
      },
    };
    return methods as unknown as RedisClient;
  }

  /** Releases what may be held here, in the background. Retries while the server fails and the lease may last. */
  drop(leaseMs: number, isNotified: boolean): void {
    this.#isEnded = true;
    const { store } = this.#member;
    giveBack(store, {
      untilMs: store.leaseClock() + leaseMs,
      release: () => this.#next(async () => this.#mayBeHeld && this.#release(isNotified)),
    });
  }

  #request(action: Action, purpose: Action, round: Round, leaseMs: number): Promise<0 | 1> {
    if (action === purpose) {
      const answer = this.#send(action, round, leaseMs);
      if (action === "release") answer.catch(() => this.drop(leaseMs, true));
      const { store } = this.#member;
      if (round.isShared) answer.catch((error) => warnOfMember(store, error));
      return round.count(answer, store.address);
    }
    // The library gives up an acquisition, or a hold that it could not extend. The caller does so too, but not while servers
    // that are out of reach may still have the hold.
    if (action === "release") return Promise.resolve(0);
    // It renews the hold on servers that did not have it.
    if (!this.#isEnded) this.#send(action, round, leaseMs).catch(() => {});
    return Promise.resolve(0);
  }

  #send(action: Action, round: Round, leaseMs: number): Promise<boolean> {
    if (action === "release") this.#isEnded = true;
    return this.#next(async () => {
      if (action === "release") return this.#release(true);
      if (action === "extend") return this.#member.extend(this.#token, leaseMs);
      return this.#acquire(round, leaseMs);
    });
  }

  async #acquire(round: Round, leaseMs: number): Promise<boolean> {
    const couldBeHeld = this.#mayBeHeld;
    this.#mayBeHeld = true;
    try {
      const answer = await this.#member.acquire(this.#token, leaseMs);
      this.#mayBeHeld = answer.isHeld;
      if (!answer.isHeld) round.refuse(answer);
      return answer.isHeld;
    } catch (error) {
      if ((error as OrielError).applied === "no") this.#mayBeHeld = couldBeHeld;
      throw error;
    }
  }

  async #release(isNotified: boolean): Promise<boolean> {
    const wasHeld = await this.#member.release(this.#token, isNotified);
    this.#mayBeHeld = false;
    return wasHeld;
  }

  #next<T>(send: () => Promise<T>): Promise<T> {
    const answer = this.#last.then(send);
    this.#last = answer.catch(() => {});
    return answer;
  }
}

/**
 * Warns that one of several servers fails, at most once a minute for each. No call rejects while the majority answers, so
 * the failure would stay unknown until another server fails too.
 */
function warnOfMember(store: Store, error: unknown): void {
  const nowMs = store.monotonic();
  if (nowMs - (warnedAtMs.get(store) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
  warnedAtMs.set(store, nowMs);
  const place = store.address === undefined ? "" : ` (redis at ${store.address})`;
  const [text, code] = error instanceof OrielError ? [OrielError.detailOf(error), error.code] : [`${error}`, "CORRUPT"];
  warn(`one of several servers fails, and locks continue without it: ${text}${place}`, code);
}
