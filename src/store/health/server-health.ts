import type { Listeners } from "../../base/async/listeners.ts";
import type { StoreEvents } from "../contract.ts";
import { Outage } from "./outage.ts";

/** A check that takes longer is lost: in Workers, a request that ends takes its timers and fetches with it. */
export const CHECK_LOST_MS = 500;
const MAX_CHECK_MS = 10_000;

/**
 * The known state of one server. Plain data without promises and timers, because stores that are made for each request
 * (HTTP) share it, and a promise or timer of one request must not serve another.
 *
 *        no answer for a whole deadline, while calls failed
 *   up ----------------------------------------------------> down: calls fail at once; one probe at a time asks
 *    ^                                                         |
 *    +---------------------------------------------------------+
 *        any answer: to a probe, or a late one to a call
 */
export class ServerHealth {
  readonly address: string | undefined;
  outage: Outage | undefined;
  /** Stores with listeners for its outages. */
  readonly watchers = new Set<{ readonly listeners: Listeners<StoreEvents> }>();
  /** The sections of INFO that the server has answered or refused. */
  readonly infoSections = new Set<string>();
  /** Whether scripts may have Upstash's flag for the locks of keys. Undefined until it is known. */
  locksKeys: boolean | undefined;
  /** Ms since 1970 of the last recovery, or of the first call. */
  upSince = Date.now();
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #failingSinceMs = 0;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  /** When the check began that decides whether the server is down. NaN without one. */
  #checkBeganAtMs = Number.NaN;

  constructor(address: string | undefined) {
    this.address = address;
  }

  /** Returns the outage that this answer ends. */
  answered(nowMs: number): Outage | undefined {
    this.#answeredAtMs = nowMs;
    this.#checkBeganAtMs = Number.NaN;
    this.#failedAtMs = Number.NEGATIVE_INFINITY;
    const { outage } = this;
    // In Workers clocks show 0 while a module is loaded.
    if (this.upSince === 0) this.upSince = Date.now();
    if (!outage) return undefined;
    this.outage = undefined;
    this.upSince = Date.now();
    return outage;
  }

  /**
   * Called if a call that began at `beganAtMs` got no answer. Returns true if no answer at all came for a whole
   * deadline. A slow answer among others does not count, nor do failures that lie far apart.
   */
  failed(beganAtMs: number, nowMs: number, deadlineMs: number): boolean {
    if (beganAtMs - this.#failedAtMs > deadlineMs) this.#failingSinceMs = beganAtMs;
    this.#failedAtMs = nowMs;
    this.#failingSinceMs = Math.max(Math.min(this.#failingSinceMs, beganAtMs), this.#answeredAtMs);
    return this.isSilent(nowMs, deadlineMs);
  }

  isSilent(nowMs: number, deadlineMs: number): boolean {
    // Timers may fire a little early.
    return this.#failedAtMs > Number.NEGATIVE_INFINITY && nowMs - this.#failingSinceMs >= deadlineMs - 1;
  }

  /** From now on calls fail at once. */
  markDown(key: string, cause: unknown): Outage {
    this.#checkBeganAtMs = Number.NaN;
    this.outage = new Outage(this.address, key, cause);
    return this.outage;
  }

  /** Begins a check whether the server is down. */
  beginCheck(nowMs: number): void {
    if (!(nowMs - this.#checkBeganAtMs < MAX_CHECK_MS)) this.#checkBeganAtMs = nowMs;
  }

  /** Whether a check is under way and not lost. */
  isBeingChecked(nowMs: number): boolean {
    return nowMs - this.#checkBeganAtMs < CHECK_LOST_MS;
  }

  /** Whether an unanswered call that began at `beganAtMs` replaces a lost check. */
  replacesLostCheck(beganAtMs: number): boolean {
    const elapsedMs = beganAtMs - this.#checkBeganAtMs;
    return elapsedMs >= CHECK_LOST_MS && elapsedMs < MAX_CHECK_MS;
  }

  /** Ends the check. */
  endCheck(): void {
    this.#checkBeganAtMs = Number.NaN;
  }
}
