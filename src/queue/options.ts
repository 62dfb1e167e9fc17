import { argumentError, checkKnown, needlessArgument, wholeNumber } from "../base/errors.ts";
import { type Duration, durationMs, instantMs } from "../base/time.ts";
import { BAND_SIZE } from "../generated/layouts/queue.ts";
import { type Backoff, type BackoffOptions, backoffOf, DEFAULT_BACKOFF } from "./backoff.ts";
import type { DueTime } from "./format/due-time.ts";

/** Options of `DelayQueue`. Shards must be the same in all processes. */
export interface DelayQueueOptions {
  /**
   * Shards, which may be on different primaries; each has its own order. 1 to 64, default 1. The same for all
   * processes.
   */
  shards?: number | undefined;
  /** Replicas that must have a message before it is acknowledged. Default 0. */
  replicas?: number | undefined;
  /** How long the id of a message is known after it was added, even if the message is done. Default 1 minute. */
  dedupeFor?: Duration | undefined;
  /** Maximum deliveries of a message, 1 to 100, default 5. It is dead after the last delivery fails or lapses. */
  attempts?: number | undefined;
  /** Pause after a failed delivery. Default 1 s, doubled after each failure, up to 1 h. */
  backoff?: BackoffOptions | undefined;
}

/** Options of `DelayQueue.add`: when the message is due, its id, and its deliveries. */
export interface AddMessageOptions {
  /** Time until the message is due, from now by the server's clock. Default 0. */
  delay?: Duration | undefined;
  /** When the message is due: ms since 1970, or a Date, up to the year 2109. Cannot be combined with `delay`. */
  at?: number | Date | undefined;
  /** Up to 512 characters. While the id is known, another message with it is not added. Default: a new id. */
  id?: string | undefined;
  attempts?: number | undefined;
  backoff?: BackoffOptions | undefined;
  /** 0 to 9, default 0. Of the due messages, those with the highest priority are claimed first. */
  priority?: number | undefined;
}

/** Options of `DelayQueue.claim`. */
export interface ClaimOptions {
  /** Maximum number of messages: 1 to 1000, default 1. */
  limit?: number | undefined;
  /** How long the messages stay claimed: 1 ms to a day, default 30 s. */
  visibility?: Duration | undefined;
}

/** Options of `DelayQueue.nack`. */
export interface NackOptions {
  /** Time until the next delivery. Default: the message's backoff. */
  delay?: Duration | undefined;
  /** Why the delivery failed; a dead message keeps it. */
  error?: unknown;
}

export interface QueueSettings {
  shards: number;
  replicas: number;
  dedupeMs: number;
  attempts: number;
  backoff: Backoff;
}

export const MAX_DELAY_MS = 50 * 31_536_000_000;
const ID = /^[^\0\p{Surrogate}]{1,512}$/u;

export function queueSettings(options: DelayQueueOptions): QueueSettings {
  checkKnown(options, ["shards", "replicas", "dedupeFor", "attempts", "backoff"]);
  const { shards = 1, replicas = 0, dedupeFor = 60_000, attempts = 5 } = options;
  return {
    shards: wholeNumber("shards", shards, 1, 64),
    replicas: wholeNumber("replicas", replicas, 0, 1000),
    dedupeMs: durationMs("dedupeFor", dedupeFor, 0, 366 * 86_400_000),
    attempts: wholeNumber("attempts", attempts, 1, 100),
    backoff: backoffOf(options.backoff, DEFAULT_BACKOFF),
  };
}

export function messageSettings(options: AddMessageOptions, absent: QueueSettings) {
  checkKnown(options, ["delay", "at", "id", "attempts", "backoff", "priority"]);
  const { attempts = absent.attempts, priority = 0 } = options;
  return {
    id: checkId(options.id === undefined ? newId() : options.id),
    when: dueTimeOf(options),
    attempts: wholeNumber("attempts", attempts, 1, 100),
    priority: wholeNumber("priority", priority, 0, 9),
    backoff: backoffOf(options.backoff, absent.backoff),
  };
}

/** Throws ARGUMENT if both are set. */
export function dueTimeOf({ delay, at }: { delay?: Duration; at?: number | Date }): DueTime {
  if (at === undefined) return { delayMs: durationMs("delay", delay === undefined ? 0 : delay, 0, MAX_DELAY_MS) };
  if (delay !== undefined) throw needlessArgument("at", at, "delay says when the message is due");
  const atMs = instantMs("at", at);
  if (atMs >= BAND_SIZE) throw argumentError("at", atMs, `below ${BAND_SIZE} ms since 1970 (2109)`);
  return { atMs };
}

export function isId(id: unknown): id is string {
  return typeof id === "string" && ID.test(id);
}

export function checkId(id: unknown): string {
  if (!isId(id)) throw argumentError("id", id, "1 to 512 characters, without NUL or half surrogate pairs");
  return id;
}

/** A new id: 72 random bits, drawn once per process, and a running number. */
function newId(): string {
  origin ||= btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(9)))).replace(/[+/]/g, "_");
  return origin + (made++).toString(36);
}

let origin = "";
let made = 0;
