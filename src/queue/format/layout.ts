import type { Store } from "../../store/contract.ts";
import { fnv1a, spreadKeys } from "../../store/spread-keys.ts";

export const FORMAT = 1;
/** What a score is made of; lua/queue/law.lua tells the layout. */
export const BAND_SIZE = 2 ** 42;
export const CLAIMED = 10;
export const DEAD = 11;
export const DONE = 12;
/** The kind of an envelope whose bytes are no message, but were found in the place of one. */
export const RAW = 2;
const DELIVERIES_SIZE = 128;
export const SEQ_DIGITS = 14;
export const MOST_REMEMBERED = 100_000;
/** Of one step. */
export const MOST_MESSAGES = 1000;
/** Of one that reads, or writes, all of a message; nobody else is served for some 5 ms then. */
export const MOST_WHOLE = 256;
export const MOST_BYTES = 2 ** 20;

const SEQ = /^[0-9a-f]{14}/;
const encoder = new TextEncoder();

/** The `times` keys of all shards. */
export function timesKeys(store: Store, name: string, shards: number): string[] {
  return spreadKeys(store, name, "times", shards);
}

export function keysOfShard(times: string): string[] {
  return [times, `${times.slice(0, -"times".length)}messages`];
}

export function channelOf(times: string): string {
  return `due:${times}`;
}

/** What all who share a queue must agree on. */
export function layoutText(shards: number): string {
  return `${FORMAT}|${shards}`;
}

export function shardOf(id: string, shards: number): number {
  return shards === 1 ? 0 : fnv1a(encoder.encode(id)) % shards;
}

export function scoreOf(band: number, ms: number, deliveries: number): number {
  return (band * BAND_SIZE + inBand(ms)) * DELIVERIES_SIZE + deliveries;
}

/** A time as scores can hold it: 1970 to 2109. */
export function inBand(ms: number): number {
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

/** NaN where it has none. */
export function seqOf(member: string): number {
  return SEQ.test(member) ? Number.parseInt(member.slice(0, SEQ_DIGITS), 16) : Number.NaN;
}

/** When a message was added, about: by the server's clock. */
export function addedAtMs(seq: number): number {
  return Math.floor(seq / 1000);
}

/** The seq of what `messages` has of a message; NaN where it has none. */
export function seqOfValue(value: Uint8Array): number {
  return seqOf(String.fromCharCode(...value.subarray(0, SEQ_DIGITS)));
}

/** What `messages` has of a message: seq, and envelope. */
export function storedValueOf({ seq, envelope }: { seq: number; envelope: Uint8Array }): Uint8Array {
  const value = new Uint8Array(SEQ_DIGITS + envelope.length);
  value.set(encoder.encode(memberOf(seq, "")));
  value.set(envelope, SEQ_DIGITS);
  return value;
}

export function envelopeOf(value: Uint8Array): Uint8Array {
  return value.subarray(SEQ_DIGITS);
}
