import { ID_LENGTH, PLACE_LENGTH, PLACE_LIFE_MS, RESERVATION_MS } from "../../generated/layouts/lock.ts";
import type { Keyspace } from "../../store/contract.ts";
import { queueKeyOf } from "./keys.ts";
import { firstOf, msIn, notifyNext, type Queue, reservationOf, withPlace } from "./queue.ts";

/**
 * Returns until when a free lock is reserved for a process other than `id`; 0 if it is not. Reserves it if it is free
 * without a release, or if the last reservation was missed. The twin of the function in lua/lock/acquire.lua.
 */
export function reserveForAnother(keys: Keyspace, lockKey: string, queue: Queue, id: string, nowMs: number): number {
  const text = keys.get(queueKeyOf(lockKey)) as string | undefined;
  if (text === undefined) return 0;
  if (queue.reservedUntilMs >= nowMs) return firstOf(queue.places) === id ? 0 : queue.reservedUntilMs;
  const { untilMs, toId } = reservationOf(text);
  const wasMissed = untilMs > 0 && untilMs <= nowMs + RESERVATION_MS;
  if (wasMissed && id !== "" && toId === id) return 0;
  const places = wasMissed ? nextInTime(queueKeyOf(lockKey), queue.places, id, untilMs) : queue.places;
  if (places === "" || firstOf(places) === id) return 0;
  notifyNext(keys, lockKey, { ...queue, places: id === "" ? places : withPlace(places, id, nowMs) }, nowMs, false);
  return nowMs + RESERVATION_MS;
}

/** The places, led by the first process that has asked since the reservation. "" if that is `id`, or if none has. */
function nextInTime(key: string, places: string, id: string, untilMs: number): string {
  const askedMs = untilMs - RESERVATION_MS + PLACE_LIFE_MS;
  for (let at = 0; at < places.length; at += PLACE_LENGTH) {
    const place = places.slice(at, at + PLACE_LENGTH);
    if (firstOf(place) === id) return "";
    if (msIn(key, place, ID_LENGTH) >= askedMs) return place + places.slice(0, at) + places.slice(at + PLACE_LENGTH);
  }
  return "";
}
