import type { Listeners } from "../../base/async/listeners.ts";
import type { StoreEvents } from "../contract.ts";
import { isOutOfQuota, reasonOf } from "./reason.ts";

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

/**
 * Bounds of the pause between probes. It is random, at least half, so that many processes do not ask a recovering
 * server at once.
 */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;
/** A probe uses up what is left of a quota. */
const MAX_QUOTA_PAUSE_MS = 60_000;
/** A call begins a probe that is overdue by this time. In Workers no timer outlives its request. */
const TIMERS_SLACK_MS = 250;

/** The outage of a server, from the first deadline without an answer to the next answer. */
export class Outage {
  /** Ms since 1970. */
  readonly since = Date.now();
  readonly address: string | undefined;
  /** The key of a failed call, which probes ask for. */
  readonly key: string;
  cause: unknown;
  #failures = 0;
  /** Until this time a probe is under way, or none is due. */
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(address: string | undefined, key: string, cause: unknown) {
    this.address = address;
    this.key = key;
    this.cause = cause;
  }

  get reason(): string {
    return reasonOf(this.cause)?.text ?? (this.cause instanceof Error ? this.cause.message : "no answer");
  }

  /** Ms until a probe may begin. */
  restMs(nowMs: number): number {
    return Math.max(0, this.#restUntilMs - nowMs);
  }

  /** Begins a probe of at most `maxMs`. Returns false if one is under way or none is due. */
  begin(nowMs: number, maxMs: number): boolean {
    if (nowMs < this.#restUntilMs) return false;
    this.#restUntilMs = nowMs + maxMs;
    return true;
  }

  /** Same, for a call. It begins a probe that is overdue because its timer did not fire. */
  beginByCall(nowMs: number, maxMs: number): boolean {
    return this.begin(nowMs - TIMERS_SLACK_MS, maxMs + TIMERS_SLACK_MS);
  }

  /** Ends the probing by this store. The next store may begin a probe at once. */
  release(): void {
    this.#restUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Called if a probe ended without an answer. */
  failed(nowMs: number, cause: unknown): void {
    // An unknown cause does not replace a known reason.
    if (reasonOf(cause) || !reasonOf(this.cause)) this.cause = cause ?? this.cause;
    const longestMs = isOutOfQuota(this.cause) ? MAX_QUOTA_PAUSE_MS : MAX_PAUSE_MS;
    const maxMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, longestMs);
    this.#failures = Math.min(this.#failures + 1, 10);
    const { retryAfterMs = 0 } = Object(this.cause) as { retryAfterMs?: number };
    this.#restUntilMs = nowMs + Math.max(maxMs * (0.5 + Math.random() / 2), Math.min(retryAfterMs, MAX_QUOTA_PAUSE_MS));
  }
}

/** Largest number of remembered nodes. Addresses may change during the life of a process. */
const MAX_NODES = 256;

/** The health of each node of a cluster, by address. */
export class ClusterNodes {
  readonly #addressOf: (key: string) => string | undefined;
  readonly #nodes = new Map<string, ServerHealth>();

  /** `addressOf` returns the address of the node that has `key`, or undefined if it is unknown. */
  constructor(addressOf: (key: string) => string | undefined) {
    this.#addressOf = addressOf;
  }

  /** The node that has `key`; undefined if it is unknown. */
  of(key: string): ServerHealth | undefined {
    const address = this.#addressOf(key);
    if (address === undefined) return undefined;
    let node = this.#nodes.get(address);
    if (!node) {
      if (this.#nodes.size >= MAX_NODES)
        for (const [each, { outage }] of this.#nodes) if (!outage) this.#nodes.delete(each);
      node = new ServerHealth(address);
      this.#nodes.set(address, node);
    }
    return node;
  }

  get all(): ServerHealth[] {
    return [...this.#nodes.values()];
  }
}
