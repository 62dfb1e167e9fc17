import type { Listeners } from "../../async/listeners.ts";
import type { StoreEvents } from "../contract.ts";
import { Outage } from "./outage.ts";

/** Who began to ask so long ago asks no more: in Workers a request that ends takes its timers and fetches with it. */
export const ASKER_LOST_MS = 500;
const LONGEST_DOUBT_MS = 10_000;

/**
 * What is known of one server. Plain data: where stores are made for each request (HTTP), they share it, and no promise or
 * timer of one request may be of use to another.
 *
 *        no answer for a whole deadline, while calls failed
 *   up ----------------------------------------------------> down: calls fail at once; one probe at a time asks
 *    ^                                                         |
 *    +---------------------------------------------------------+
 *        any answer: of a probe, or a late one of a call
 */
export class ServerHealth {
  readonly address: string | undefined;
  outage: Outage | undefined;
  /** Stores whose users listen for its outages. */
  readonly watchers = new Set<{ readonly listeners: Listeners<StoreEvents> }>();
  /** The sections of INFO that it has answered for, or refused. */
  readonly told = new Set<string>();
  /** Ms since 1970 of the last recovery, or of the first call. */
  upSince = Date.now();
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #failingSinceMs = 0;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  /** When somebody began to ask whether it is down; NaN when that has ended. */
  #suspectedAtMs = Number.NaN;

  constructor(address: string | undefined) {
    this.address = address;
  }

  /** Gives the outage that this ends. */
  answered(nowMs: number): Outage | undefined {
    this.#answeredAtMs = nowMs;
    this.#suspectedAtMs = Number.NaN;
    this.#failedAtMs = Number.NEGATIVE_INFINITY;
    const { outage } = this;
    // While a module is loaded Workers' clocks show 0.
    if (this.upSince === 0) this.upSince = Date.now();
    if (!outage) return undefined;
    this.outage = undefined;
    this.upSince = Date.now();
    return outage;
  }

  /**
   * A call that began at `beganAtMs` failed for want of an answer. True where none came for a whole deadline: an answer
   * that is merely slow, while others come, does not count, nor do failures that lie far apart.
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

  /** Calls fail at once from now on. */
  leave(key: string, cause: unknown): Outage {
    this.#suspectedAtMs = Number.NaN;
    this.outage = new Outage(this.address, key, cause);
    return this.outage;
  }

  /** Somebody begins to ask whether it is down. */
  suspect(nowMs: number): void {
    if (!(nowMs - this.#suspectedAtMs < LONGEST_DOUBT_MS)) this.#suspectedAtMs = nowMs;
  }

  /** Whether somebody asks who may still end it. */
  isAsked(nowMs: number): boolean {
    return nowMs - this.#suspectedAtMs < ASKER_LOST_MS;
  }

  /** Whether a call that began at `beganAtMs` and was not answered makes up for an asker who was lost before. */
  confirms(beganAtMs: number): boolean {
    const doubtMs = beganAtMs - this.#suspectedAtMs;
    return doubtMs >= ASKER_LOST_MS && doubtMs < LONGEST_DOUBT_MS;
  }

  /** It is known whether it is down. */
  endDoubt(): void {
    this.#suspectedAtMs = Number.NaN;
  }
}
