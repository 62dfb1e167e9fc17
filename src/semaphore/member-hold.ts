import type { OrielError } from "../errors.ts";
import { type HoldSource, provenUntil } from "../hold/hold-source.ts";
import { newToken } from "../hold/waiters.ts";
import type { Clock } from "../time.ts";
import { type Action, LibraryClient, type RedisClient } from "./library-client.ts";
import type { Member } from "./member.ts";
import { Round } from "./round.ts";
import type { Refusal } from "./steps.ts";

/** One call of redis-semaphore on these clients. */
interface LibraryLock {
  tryAcquire(): Promise<boolean>;
  release(): Promise<void>;
}

interface LibraryOptions {
  identifier: string;
  lockTimeout: number;
  refreshInterval: number;
  retryInterval: number;
  acquireTimeout: number;
  acquireAttemptsLimit: number;
  acquiredExternally?: true;
}

/** The servers of a hold, and the class of redis-semaphore that asks them. */
export interface Held {
  /** Names the hold in messages. */
  readonly what: string;
  /** At least one. */
  readonly members: readonly Member[];
  library(clients: RedisClient[], options: LibraryOptions): LibraryLock;
  /** Called when a hold of this process has ended. */
  onReleased(): void;
}

export type Attempt = { hold: MemberHold } | { refusals: readonly Refusal[] } | { error: OrielError };

/** A hold that one server keeps, or the majority of several. redis-semaphore sends the requests; a `Round` decides. */
export class MemberHold implements HoldSource<null> {
  readonly fence = null;
  readonly leaseMs: number;
  readonly provenUntilMs: number;
  readonly leaseClock: Clock;
  readonly what: string;
  readonly #held: Held;
  readonly #token = newToken();
  readonly #clients: readonly LibraryClient[];
  /** A server may have the hold for this time. */
  #longestMs: number;

  private constructor(held: Held, leaseMs: number) {
    const { leaseClock } = held.members[0]!.store;
    this.#held = held;
    this.what = held.what;
    this.leaseMs = leaseMs;
    this.#longestMs = leaseMs;
    this.leaseClock = leaseClock;
    this.provenUntilMs = provenUntil(leaseClock(), leaseMs);
    this.#clients = held.members.map((member) => new LibraryClient(member, this.#token));
  }

  /** Sends one request to all servers. Never rejects. Every attempt has a token of its own. */
  static async acquire(held: Held, leaseMs: number): Promise<Attempt> {
    const hold = new MemberHold(held, leaseMs);
    const round = await hold.#run("acquire", leaseMs);
    const isHeld = round.verdict === "yes";
    if (isHeld && hold.leaseClock() < hold.provenUntilMs) return { hold };
    hold.drop(isHeld);
    // A hold that came too late is as good as a refusal.
    const isRefused = isHeld || round.verdict === "no";
    return isRefused ? { refusals: round.refusals } : { error: round.error() };
  }

  /** A server that does not have the hold, for instance because it was restarted empty, gets it back if it is free there. */
  async extend(leaseMs: number): Promise<boolean> {
    this.#longestMs = Math.max(this.#longestMs, leaseMs);
    const round = await this.#run("extend", leaseMs);
    if (round.verdict === undefined) throw round.error();
    if (round.verdict === "no") this.drop(true);
    return round.verdict === "yes";
  }

  async release(): Promise<boolean> {
    const round = await this.#run("release", this.#longestMs);
    this.#held.onReleased();
    if (round.verdict === undefined) throw round.error();
    return round.verdict === "yes";
  }

  /** Releases what it may hold, in the background. */
  drop(isNotified: boolean): void {
    for (const client of this.#clients) client.drop(this.#longestMs, isNotified);
  }

  async #run(action: Action, leaseMs: number): Promise<Round> {
    const round = new Round(this.#clients.length);
    const clients = this.#clients.map((client) => client.asRedis(action, round, leaseMs));
    const lock = this.#held.library(clients, {
      identifier: this.#token,
      lockTimeout: leaseMs,
      // `HeldLock` renews the hold, and `Turns` retries.
      refreshInterval: 0,
      retryInterval: 0,
      acquireTimeout: Number.MAX_SAFE_INTEGER,
      acquireAttemptsLimit: 1,
      ...(action !== "acquire" && { acquiredExternally: true as const }),
    });
    await (action === "release" ? lock.release() : lock.tryAcquire());
    return round;
  }
}
