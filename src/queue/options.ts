import { argumentError, needlessArgument, wholeNumber } from "../base/errors.ts";
import { type Announced, given, type Schema, type SettingsOf } from "../base/options.ts";
import { type Duration, durationMs, instantMs } from "../base/time.ts";
import { BAND_SIZE } from "../generated/layouts/queue.ts";
import { type BackoffOptions, backoffOf, DEFAULT_BACKOFF } from "./backoff.ts";
import { type DueTime, MAX_MESSAGES } from "./format/layout.ts";

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

const ID = /^[^\0\p{Surrogate}]{1,512}$/u;
const MAX_DELAY_MS = 50 * 31_536_000_000;
export const VISIBILITY = [durationMs, 30_000, 1, 86_400_000] as const;

export const QUEUE = {
  shards: [wholeNumber, 1, 1, 64],
  replicas: [wholeNumber, 0, 0, 1000],
  dedupeFor: [durationMs, 60_000, 0, 366 * 86_400_000],
  attempts: [wholeNumber, 5, 1, 100],
  backoff: [backoffOf, DEFAULT_BACKOFF, DEFAULT_BACKOFF],
} as const satisfies Schema<DelayQueueOptions>;
/** Beside its shards, which all processes must share. */
export type AnnouncedQueue = Announced<typeof QUEUE, "shards" | "backoff">;
const DELAY = [durationMs, null, 0, MAX_DELAY_MS] as const;
export const WHEN = { delay: DELAY, at: [given<number | Date | undefined>] } as const;
export const CLAIM = { limit: [wholeNumber, 1, 1, MAX_MESSAGES], visibility: VISIBILITY } as const;
export const NACK = { delay: DELAY, error: [given<unknown>] } as const;
export const AGAIN = { delay: [durationMs, undefined, 0, MAX_DELAY_MS] } as const;

export type QueueSettings = SettingsOf<typeof QUEUE>;

/** The options of a message. Those that it leaves out are the queue's. */
export function messageSchema({ attempts, backoff }: QueueSettings) {
  return {
    ...WHEN,
    id: [(_: string, id: string | undefined) => (id === undefined ? newId() : checkId(id))],
    attempts: [wholeNumber, attempts, 1, 100],
    backoff: [backoffOf, backoff, backoff],
    priority: [wholeNumber, 0, 0, 9],
  } as const satisfies Schema<AddMessageOptions>;
}

/** Throws ARGUMENT if both are set. */
export function dueTimeOf({ delayMs, at }: SettingsOf<typeof WHEN>): DueTime {
  if (at === undefined) return { delayMs: delayMs ?? 0 };
  if (delayMs !== null) throw needlessArgument("at", at, "delay says when the message is due");
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
  return origin + (madeCount++).toString(36);
}

let origin = "";
let madeCount = 0;
