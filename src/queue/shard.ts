import type { Keyspace } from "../store/contract.ts";
import { refusal } from "../store/refusal.ts";
import { BAND_SIZE, CLAIMED, channelOf, readScore } from "./layout.ts";
import { Times } from "./times.ts";

const MESSAGE_BYTES = 200;

export interface Stored {
  seq: number;
  envelope: Uint8Array;
}

/** A shard as a memory store keeps it, all under its first key; lua/queue/law.lua tells what it is in Redis. */
export class Shard {
  readonly times = new Times();
  readonly messages = new Map<string, Stored>();
  readonly errors = new Map<string, string>();
  layout: string | undefined;
  seq = 0;
  /** Priorities that were ever used, highest first. */
  levels: number[] = [];
  isPaused = false;
  sizeBytes = 0;

  add(id: string, stored: Stored): void {
    this.messages.set(id, stored);
    this.sizeBytes += messageBytes(stored.envelope);
  }

  delete(id: string): void {
    const stored = this.messages.get(id);
    if (stored) this.sizeBytes -= messageBytes(stored.envelope);
    this.messages.delete(id);
    this.errors.delete(id);
  }

  /** When the first that waits is due; Infinity: none does. */
  head(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.levels.map((level) => this.#firstOf(level)));
  }

  /** When there is something to claim next. */
  next(): number {
    return this.isPaused ? Number.POSITIVE_INFINITY : Math.min(this.head(), this.#firstOf(CLAIMED));
  }

  #firstOf(band: number): number {
    const first = this.times.first(band, BAND_SIZE, 1)[0];
    return first ? readScore(first[1]).ms : Number.POSITIVE_INFINITY;
  }
}

/** The shard as it stands, to be read; an empty one where there is none. Throws CLASH for another layout than `layout`. */
export function shardAt(keys: Keyspace, key: string, layout: string): Shard {
  const shard = (keys.get(key) as Shard | undefined) ?? new Shard();
  if (shard.layout !== undefined && shard.layout !== layout)
    throw refusal("CLASH", `the queue's layout is ${shard.layout}, not ${layout}`);
  return shard;
}

/** Keeps a shard that will count so much more. Throws OVERLOADED; nothing may have been changed before. */
export function keep(keys: Keyspace, key: string, shard: Shard, growthBytes = 0): void {
  keys.set(key, shard, shard.sizeBytes + growthBytes, Number.POSITIVE_INFINITY);
}

/** Tells those who sleep that something is due before what they know of. */
export function tell(keys: Keyspace, key: string, ms: number): void {
  keys.publish(channelOf(key), `${ms}`);
}

export function messageBytes(envelope: Uint8Array): number {
  return MESSAGE_BYTES + envelope.length;
}
