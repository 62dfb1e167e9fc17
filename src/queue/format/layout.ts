import { BAND_SIZE, DELIVERIES_SIZE, SEQ_DIGITS } from "../../generated/layouts/queue.ts";
import type { Store } from "../../store/contract.ts";
import { fnv1a, spreadKeys } from "../../store/keys.ts";

const FORMAT = 3;
/** Maximum messages of one step. */
export const MAX_MESSAGES = 1000;
/** Maximum messages of a step that reads or writes whole messages. It occupies the server for about 5 ms. */
export const MAX_FULL_MESSAGES = 256;

const SEQ = /^[0-9a-f]{14}/;
const encoder = new TextEncoder();

/** The `times` keys of all shards. */
export function timesKeys(store: Store, name: string, shards: number): string[] {
  return spreadKeys(store, name, "times", shards);
}

/**
 * The `times` key of the home shard. It has the first tag, so it is a shard of the queue for every number of shards, and
 * its layout is the queue's.
 */
export function homeKey(store: Store, name: string): string {
  return timesKeys(store, name, 1)[0]!;
}

export function keysOfShard(times: string): string[] {
  return [times, `${times.slice(0, -"times".length)}messages`];
}

export function channelOf(times: string): string {
  return `due:${times}`;
}

/** The layout that all processes of a queue must agree on. */
export function layoutText(shards: number): string {
  return `${FORMAT}|${shards}`;
}

export function shardOf(id: string, shards: number): number {
  return shards === 1 ? 0 : fnv1a(encoder.encode(id)) % shards;
}

export function scoreOf(band: number, ms: number, deliveries: number): number {
  return (band * BAND_SIZE + clampMs(ms)) * DELIVERIES_SIZE + deliveries;
}

/** Clamps a time to the range of scores: 1970 to 2109. */
function clampMs(ms: number): number {
  return Math.max(0, Math.min(Math.floor(ms), BAND_SIZE - 1));
}

/** The highest score of a band up to a time. */
export function scoreUntil(band: number, ms: number): number {
  return scoreOf(band, ms, DELIVERIES_SIZE - 1);
}

export function readScore(score: number): { band: number; ms: number; deliveries: number } {
  const deliveries = score % DELIVERIES_SIZE;
  const time = (score - deliveries) / DELIVERIES_SIZE;
  const ms = time % BAND_SIZE;
  return { band: (time - ms) / BAND_SIZE, ms, deliveries };
}

export function memberOf(seq: number, id: string): string {
  return seq.toString(16).padStart(SEQ_DIGITS, "0") + id;
}

export function idOf(member: string): string {
  return member.slice(SEQ_DIGITS);
}

/** The seq of a member; NaN if it has none. */
export function seqOf(member: string): number {
  return SEQ.test(member) ? Number.parseInt(member.slice(0, SEQ_DIGITS), 16) : Number.NaN;
}

/** Approximate time at which a message was added, by the server's clock. */
export function addedAtMs(seq: number): number {
  return Math.floor(seq / 1000);
}

/** The seq of a value in `messages`; NaN if it has none. */
export function seqOfValue(value: Uint8Array): number {
  return seqOf(String.fromCharCode(...value.subarray(0, SEQ_DIGITS)));
}

/** A message's value in `messages`: seq and envelope. */
export function storedValueOf({ seq, envelope }: { seq: number; envelope: Uint8Array }): Uint8Array {
  const value = new Uint8Array(SEQ_DIGITS + envelope.length);
  value.set(encoder.encode(memberOf(seq, "")));
  value.set(envelope, SEQ_DIGITS);
  return value;
}

export function envelopeOf(value: Uint8Array): Uint8Array {
  return value.subarray(SEQ_DIGITS);
}

/** When a message is due: ms since 1970, or ms from now by the server's clock. The form that steps take. */
export type DueTime = { atMs: number } | { delayMs: number };

export function dueTimeText(when: DueTime): string {
  return "atMs" in when ? `${when.atMs}` : `+${when.delayMs}`;
}

export function dueMs(when: DueTime, nowMs: number): number {
  return clampMs("atMs" in when ? when.atMs : nowMs + when.delayMs);
}

/** Keeps a byte order mark, so that text is unchanged. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Reads a reply from its beginning, value by value. Returned bytes are views of it. */
export class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get at(): number {
    return this.#at;
  }
  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }
  f64(): number {
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }
  u16(): number {
    this.#at += 2;
    return this.#view.getUint16(this.#at - 2, true);
  }
  u8(): number {
    return this.#bytes[this.#at++]!;
  }
  /** Reads a u32 length, then that many bytes. */
  bytes(): Uint8Array {
    const from = this.#at + 4;
    this.#at = from + this.#view.getUint32(this.#at, true);
    return this.#bytes.subarray(from, this.#at);
  }
  text(): string {
    return decoder.decode(this.bytes());
  }
}
