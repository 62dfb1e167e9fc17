import { corruptError } from "../errors.ts";
import type { Keyspace } from "../store/contract.ts";
import { channelOf, queueKeyOf } from "./keys.ts";
import { law } from "./law.ts";

const HEAD_LENGTH = 26;
export const ID_LENGTH = 16;
export const PLACE_LENGTH = 29;

/** Of the queue's text, which is ASCII. */
const TEXT_BYTES = 24;

/** Who waits for a lock; layout and law in lua/lock/queue.lua. */
export interface Queue {
  promisedUntilMs: number;
  calledMs: number;
  places: string;
}

export const firstOf = (places: string): string => places.slice(0, ID_LENGTH);

/** Until when the lock is or was promised (0: never since it was taken), and to whom, as the key's text stands. */
export function promiseOf(text: string): { untilMs: number; toId: string } {
  return { untilMs: Number(text.slice(0, 13)), toId: firstOf(text.slice(HEAD_LENGTH)) };
}

export function readQueue(keys: Keyspace, lockKey: string, nowMs: number): Queue {
  const key = queueKeyOf(lockKey);
  const text = keys.get(key) as string | undefined;
  if (text === undefined) return { promisedUntilMs: 0, calledMs: 0, places: "" };
  const places = text.slice(HEAD_LENGTH);
  const promisedUntilMs = msIn(key, text, 0);
  const calledMs = msIn(key, text, 13);
  let first = 0;
  while (first < places.length && msIn(key, places, first + ID_LENGTH) < nowMs) first += PLACE_LENGTH;
  return {
    promisedUntilMs: first > 0 || promisedUntilMs > nowMs + law.promiseMs ? 0 : promisedUntilMs,
    calledMs,
    places: places.slice(first),
  };
}

/** A time that stands in the text; throws CORRUPT. */
export function msIn(key: string, text: string, at: number): number {
  const digits = text.slice(at, at + 13);
  if (!/^\d+$/.test(digits)) throw corruptError(key, "it lists nobody who waits for a lock");
  return Number(digits);
}

export function writeQueue(keys: Keyspace, lockKey: string, queue: Queue, nowMs: number): void {
  const { promisedUntilMs, calledMs, places } = queue;
  const key = queueKeyOf(lockKey);
  const text = digits(promisedUntilMs) + digits(calledMs) + places;
  if (places === "") keys.delete(key);
  else keys.set(key, text, TEXT_BYTES + text.length, nowMs + law.placeLifeMs);
}

export function without(places: string, id: string): string {
  const at = places.indexOf(id);
  return at < 0 ? places : places.slice(0, at) + places.slice(at + PLACE_LENGTH);
}

export function withPlace(places: string, id: string, nowMs: number): string {
  const at = places.indexOf(id);
  const ends = digits(nowMs + law.placeLifeMs);
  if (at >= 0) return places.slice(0, at + ID_LENGTH) + ends + places.slice(at + PLACE_LENGTH);
  return places.length < law.mostPlaces * PLACE_LENGTH ? places + id + ends : places;
}

/** The places with one before all others. */
export function withFirst(places: string, id: string, nowMs: number): string {
  return id + digits(nowMs) + without(places, id);
}

/** Promises a free lock to the first and tells it and, now and then, a second; law in lua/lock/hand-on.lua. */
export function handOn(keys: Keyspace, lockKey: string, queue: Queue, nowMs: number, isFirstTold: boolean): void {
  let { calledMs, places } = queue;
  if (places === "") return;
  const promisedUntilMs = nowMs + law.promiseMs;
  const isSecondTold = places.length > PLACE_LENGTH && (calledMs > nowMs || calledMs + law.watchMs <= nowMs);
  if (isSecondTold) calledMs = nowMs;
  places = firstOf(places) + digits(promisedUntilMs) + places.slice(PLACE_LENGTH);
  writeQueue(keys, lockKey, { promisedUntilMs, calledMs, places }, nowMs);
  if (!isFirstTold) keys.publish(channelOf(lockKey, firstOf(places)), "");
  if (isSecondTold) keys.publish(channelOf(lockKey, firstOf(places.slice(PLACE_LENGTH))), "");
}

function digits(ms: number): string {
  return String(ms).padStart(13, "0");
}
