import { BAND_SIZE, CLAIMED, LAPSED, LINGER_MS } from "../../generated/layouts/queue.ts";
import type { Keyspace } from "../../store/contract.ts";
import { ARRAY_BYTES, ownText, SLOT_BYTES, textBytes } from "../../store/memory/heap-bytes.ts";
import { refusal } from "../../store/refusal.ts";
import { addedAtMs, channelOf, readScore } from "./layout.ts";
import { bytesInTimes, Times } from "./times.ts";

/** Memory of a message besides its envelope, its id and its entry in `times`; includes a fixed failure reason. */
const MESSAGE_BYTES = ARRAY_BYTES + 2 * SLOT_BYTES + 56;
const SHARD_BYTES = 600;

export const FAILED = "failed";
/** Fixed reasons are constants and take no extra memory. */
const FIXED_ERRORS = new Map([LAPSED, FAILED].map((why) => [why, why]));

export interface Stored {
  seq: number;
  envelope: Uint8Array;
}

/** A shard in a memory store, stored under its first key. lua/queue/layout.lua defines the layout in Redis. */
export class Shard {
  readonly times = new Times();
  readonly messages = new Map<string, Stored>();
  readonly #errors = new Map<string, string>();
  layout: string | undefined;
  seq = 0;
  /** Priorities that were ever used, highest first. */
  levels: number[] = [];
  isPaused = false;
  /** It is the home shard of a queue with several shards. */
  isHome = false;
  expireAtMs = Number.POSITIVE_INFINITY;
  /** Until when the last cancelled message is known. */
  cancelledUntilMs = 0;
  #ownBytes = SHARD_BYTES;

  get sizeBytes(): number {
    return this.#ownBytes + this.times.sizeBytes;
  }

  add(id: string, stored: Stored): void {
    this.messages.set(id, stored);
    this.#ownBytes += storedBytes(id, stored.envelope);
  }

  delete(id: string): void {
    const stored = this.messages.get(id);
    if (stored) this.#ownBytes -= storedBytes(id, stored.envelope);
    this.messages.delete(id);
    this.setError(id, "");
  }

  /** Why the last delivery failed; "" if it did not. */
  errorOf(id: string): string {
    return this.#errors.get(id) ?? "";
  }

  setError(id: string, why: string): void {
    this.#ownBytes += errorBytes(why) - errorBytes(this.errorOf(id));
    if (why === "") this.#errors.delete(id);
    else this.#errors.set(id, FIXED_ERRORS.get(why) ?? ownText(why));
  }

  /** When the first waiting message is due; Infinity if none waits. */
  head(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.levels.map((level) => this.#firstOf(level)));
  }

  /** When the next message can be claimed. */
  next(): number {
    return this.isPaused ? Number.POSITIVE_INFINITY : Math.min(this.head(), this.#firstOf(CLAIMED));
  }

  #firstOf(band: number): number {
    const first = this.times.first(band, BAND_SIZE, 1)[0];
    return first ? readScore(first[1]).ms : Number.POSITIVE_INFINITY;
  }
}

/** Returns the stored shard for reading, or an empty one. Throws MISMATCH for a layout other than `layout`. */
export function shardAt(keys: Keyspace, key: string, layout: string): Shard {
  const shard = (keys.get(key) as Shard | undefined) ?? new Shard();
  if (shard.layout !== undefined && shard.layout !== layout)
    throw refusal(
      "MISMATCH",
      `the queue's layout (format|shards) is ${shard.layout}, not ${layout}: use that number of shards, or another name`,
    );
  return shard;
}

/** Stores a shard that grows by `growthBytes`. Throws OVERLOADED; call it before any change. */
export function saveShard(keys: Keyspace, key: string, shard: Shard, growthBytes = 0): void {
  keys.set(key, shard, shard.sizeBytes + growthBytes, shard.expireAtMs);
}

/** The same for a shard after which it is not empty: takes its expiry away. The twin of lua/queue/keep.lua. */
export function keepShard(keys: Keyspace, key: string, shard: Shard, growthBytes = 0): void {
  keys.set(key, shard, shard.sizeBytes + growthBytes, Number.POSITIVE_INFINITY);
  shard.expireAtMs = Number.POSITIVE_INFINITY;
}

/** Lets a shard expire if it is empty, after the changes of a step. The twin of expire_if_empty in lua/queue/expiry.lua. */
export function expireIfEmpty(keys: Keyspace, key: string, shard: Shard, nowMs: number): void {
  if (shard.layout === undefined || shard.messages.size > 0 || shard.isPaused || shard.isHome) return;
  // Without messages, each entry is an id that is remembered until the time in its score.
  const endsMs = Math.max(nowMs, addedAtMs(shard.seq), readScore(shard.times.highest() ?? 0).ms);
  shard.expireAtMs = endsMs + LINGER_MS;
  // It has become smaller since the step stored it, so this cannot fail.
  saveShard(keys, key, shard);
}

/** Publishes a hint to sleeping workers: a message is due earlier than they know. */
export function publishDue(keys: Keyspace, key: string, ms: number): void {
  keys.publish(channelOf(key), `${ms}`);
}

/** Memory of an added message. */
export function messageBytes(id: string, envelope: Uint8Array): number {
  return storedBytes(id, envelope) + bytesInTimes(id);
}

function storedBytes(id: string, envelope: Uint8Array): number {
  return MESSAGE_BYTES + envelope.length + textBytes(id);
}

/** Memory of a failure reason besides its entry, which is counted with the message. */
export function errorBytes(why: string): number {
  return why === "" || FIXED_ERRORS.has(why) ? 0 : textBytes(why);
}
