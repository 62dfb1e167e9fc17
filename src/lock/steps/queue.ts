import { corruptError } from "../../errors.ts";
import {
  HEAD_LENGTH,
  ID_LENGTH,
  MAX_PLACES,
  PLACE_LENGTH,
  PLACE_LIFE_MS,
  RESERVATION_MS,
  SECOND_NOTICE_MS,
} from "../../generated/layouts/lock.ts";
import type { Keyspace } from "../../store/contract.ts";
import { channelOf, queueKeyOf } from "./keys.ts";

/** Overhead of the queue's text in the heap. The text is ASCII. */
const TEXT_BYTES = 24;

/** The processes that wait for a lock. lua/lock/queue.lua has the layout and its rules. */
export interface Queue {
  reservedUntilMs: number;
  secondNoticeMs: number;
  places: string;
}

export const firstOf = (places: string): string => places.slice(0, ID_LENGTH);

/** The end of the current or last reservation (0: none since the lock was acquired) and its owner, as stored. */
export function reservationOf(text: string): { untilMs: number; toId: string } {
  return { untilMs: Number(text.slice(0, 13)), toId: firstOf(text.slice(HEAD_LENGTH)) };
}

export function readQueue(keys: Keyspace, lockKey: string, nowMs: number): Queue {
  const key = queueKeyOf(lockKey);
  const text = keys.get(key) as string | undefined;
  if (text === undefined) return { reservedUntilMs: 0, secondNoticeMs: 0, places: "" };
  const places = text.slice(HEAD_LENGTH);
  const reservedUntilMs = msIn(key, text, 0);
  const secondNoticeMs = msIn(key, text, 13);
  let first = 0;
  while (first < places.length && msIn(key, places, first + ID_LENGTH) < nowMs) first += PLACE_LENGTH;
  return {
    reservedUntilMs: first > 0 || reservedUntilMs > nowMs + RESERVATION_MS ? 0 : reservedUntilMs,
    secondNoticeMs,
    places: places.slice(first),
  };
}

/** Reads a time from the text. Throws CORRUPT. */
export function msIn(key: string, text: string, at: number): number {
  const digits = text.slice(at, at + 13);
  if (!/^\d+$/.test(digits)) throw corruptError(key, "it is not a list of waiting processes");
  return Number(digits);
}

export function writeQueue(keys: Keyspace, lockKey: string, queue: Queue, nowMs: number): void {
  const { reservedUntilMs, secondNoticeMs, places } = queue;
  const key = queueKeyOf(lockKey);
  const text = digits(reservedUntilMs) + digits(secondNoticeMs) + places;
  if (places === "") keys.delete(key);
  else keys.set(key, text, TEXT_BYTES + text.length, nowMs + PLACE_LIFE_MS);
}

export function without(places: string, id: string): string {
  const at = places.indexOf(id);
  return at < 0 ? places : places.slice(0, at) + places.slice(at + PLACE_LENGTH);
}

export function withPlace(places: string, id: string, nowMs: number): string {
  const at = places.indexOf(id);
  const ends = digits(nowMs + PLACE_LIFE_MS);
  if (at >= 0) return places.slice(0, at + ID_LENGTH) + ends + places.slice(at + PLACE_LENGTH);
  return places.length < MAX_PLACES * PLACE_LENGTH ? places + id + ends : places;
}

/** Puts a place in front of all others. */
export function withFirst(places: string, id: string, nowMs: number): string {
  return id + digits(nowMs) + without(places, id);
}

/** Reserves a free lock for the first process and notifies it, and sometimes a second. The twin of lua/lock/notify-next.lua. */
export function notifyNext(
  keys: Keyspace,
  lockKey: string,
  queue: Queue,
  nowMs: number,
  isFirstNotified: boolean,
  message = "",
): void {
  let { secondNoticeMs, places } = queue;
  if (places === "") return;
  const reservedUntilMs = nowMs + RESERVATION_MS;
  const isSecondNotified =
    places.length > PLACE_LENGTH && (secondNoticeMs > nowMs || secondNoticeMs + SECOND_NOTICE_MS <= nowMs);
  if (isSecondNotified) secondNoticeMs = nowMs;
  places = firstOf(places) + digits(reservedUntilMs) + places.slice(PLACE_LENGTH);
  writeQueue(keys, lockKey, { reservedUntilMs, secondNoticeMs, places }, nowMs);
  if (!isFirstNotified) keys.publish(channelOf(lockKey, firstOf(places)), message);
  if (isSecondNotified) keys.publish(channelOf(lockKey, firstOf(places.slice(PLACE_LENGTH))), message);
}

function digits(ms: number): string {
  return String(ms).padStart(13, "0");
}
