import { BAND_SIZE, CLAIMED, LAPSED, LINGER_MS, SEQ_DIGITS } from "../../generated/layouts/queue.ts";
import type { Keyspace } from "../../store/contract.ts";
import { ARRAY_BYTES, ownText, SLOT_BYTES, textBytes } from "../../store/memory/heap-bytes.ts";
import { refusal } from "../../store/refusal.ts";
import { addedAtMs, channelOf, readScore, scoreOf, scoreUntil } from "./layout.ts";

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

const MAX_IN_RUN = 512;
/** Minimum entries of a run. A run keeps its allocated memory, so a shorter one is merged with its neighbour. */
const MIN_IN_RUN = 128;

/** Memory of an entry: its score and its places in the map and in a run. */
const ENTRY_BYTES = SLOT_BYTES + 80;

interface Entry {
  score: number;
  member: string;
}

/** Memory of the member of an id. */
function bytesInTimes(id: string): number {
  return ENTRY_BYTES + textBytes(id) + SEQ_DIGITS;
}

/**
 * The sorted set `times` in a memory store: ordered by score, then by member. Entries are in consecutive runs of up to
 * 512, so an insertion moves few entries.
 */
class Times {
  readonly #entries = new Map<string, Entry>();
  readonly #runs: Entry[][] = [[]];
  sizeBytes = 0;

  scoreOf(member: string): number | undefined {
    return this.#entries.get(member)?.score;
  }

  set(member: string, score: number): void {
    this.delete(member);
    const entry = { score, member };
    this.#entries.set(member, entry);
    this.sizeBytes += ENTRY_BYTES + textBytes(member);
    const at = this.#runOf(entry);
    const run = this.#runs[at]!;
    run.splice(indexIn(run, entry), 0, entry);
    if (run.length > MAX_IN_RUN) this.#runs.splice(at + 1, 0, run.splice(MAX_IN_RUN / 2));
  }

  delete(member: string): boolean {
    const entry = this.#entries.get(member);
    if (!entry) return false;
    const at = this.#runOf(entry);
    const run = this.#runs[at]!;
    run.splice(indexIn(run, entry), 1);
    if (run.length < MIN_IN_RUN && this.#runs.length > 1) this.#join(at);
    this.sizeBytes -= ENTRY_BYTES + textBytes(member);
    return this.#entries.delete(member);
  }

  /** Members and scores of a band, up to a time. */
  first(band: number, untilMs: number, limit: number): [member: string, score: number][] {
    const found: [string, number][] = [];
    const last = scoreUntil(band, untilMs);
    const from = { score: scoreOf(band, 0, 0), member: "" };
    let index = indexIn(this.#runs[this.#runOf(from)]!, from);
    for (let at = this.#runOf(from); at < this.#runs.length; at++, index = 0)
      for (const run = this.#runs[at]!; index < run.length; index++) {
        const { member, score } = run[index]!;
        if (score > last || found.length === limit) return found;
        found.push([member, score]);
      }
    return found;
  }

  /** The highest score of all; undefined without entries. */
  highest(): number | undefined {
    return this.#runs.at(-1)!.at(-1)?.score;
  }

  /** Counts the entries of a band between two times. */
  count(band: number, fromMs: number, untilMs: number): number {
    const from = this.#rankOf({ score: scoreOf(band, fromMs, 0), member: "" });
    return this.#rankOf({ score: scoreUntil(band, untilMs), member: "\uffff" }) - from;
  }

  /** Merges a run with its neighbour. If the result would be too long, splits it into two runs. */
  #join(at: number): void {
    const first = Math.min(at, this.#runs.length - 2);
    const joined = [...this.#runs[first]!, ...this.#runs[first + 1]!];
    if (joined.length <= MAX_IN_RUN) this.#runs.splice(first, 2, joined);
    else this.#runs.splice(first, 2, joined.slice(0, MAX_IN_RUN / 2), joined.slice(MAX_IN_RUN / 2));
  }

  #rankOf(entry: Entry): number {
    const own = this.#runOf(entry);
    let rank = indexIn(this.#runs[own]!, entry);
    for (let at = 0; at < own; at++) rank += this.#runs[at]!.length;
    return rank;
  }

  /** The first run that ends at or after this entry; otherwise the last run. */
  #runOf(entry: Entry): number {
    let low = 0;
    let high = this.#runs.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.#runs[middle]!.at(-1)!, entry)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The entry's index in a run, or its insertion index. */
function indexIn(run: readonly Entry[], entry: Entry): number {
  let low = 0;
  let high = run.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(run[middle]!, entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.score < other.score || (one.score === other.score && one.member < other.member);
}
