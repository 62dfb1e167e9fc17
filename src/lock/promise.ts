import type { Keyspace } from "../store/contract.ts";
import { queueKeyOf } from "./keys.ts";
import { law } from "./law.ts";
import { firstOf, handOn, ID_LENGTH, msIn, PLACE_LENGTH, promiseOf, type Queue, withPlace } from "./queue.ts";

/**
 * For a free lock: until when it is promised to another than `id`, else 0. A lock that is free without a release is promised
 * here, and so is one that was promised in vain; law in lua/lock/acquire.lua.
 */
export function promiseToAnother(keys: Keyspace, lockKey: string, queue: Queue, id: string, nowMs: number): number {
  const text = keys.get(queueKeyOf(lockKey)) as string | undefined;
  if (text === undefined) return 0;
  if (queue.promisedUntilMs >= nowMs) return firstOf(queue.places) === id ? 0 : queue.promisedUntilMs;
  const { untilMs, toId } = promiseOf(text);
  const isInVain = untilMs > 0 && untilMs <= nowMs + law.promiseMs;
  if (isInVain && id !== "" && toId === id) return 0;
  const places = isInVain ? inFront(queueKeyOf(lockKey), queue.places, id, untilMs) : queue.places;
  if (places === "" || firstOf(places) === id) return 0;
  handOn(keys, lockKey, { ...queue, places: id === "" ? places : withPlace(places, id, nowMs) }, nowMs, false);
  return nowMs + law.promiseMs;
}

/** The places with the first in front that has asked since a promise was made; "" where that is `id`, or none has. */
function inFront(key: string, places: string, id: string, untilMs: number): string {
  const askedMs = untilMs - law.promiseMs + law.placeLifeMs;
  for (let at = 0; at < places.length; at += PLACE_LENGTH) {
    const place = places.slice(at, at + PLACE_LENGTH);
    if (firstOf(place) === id) return "";
    if (msIn(key, place, ID_LENGTH) >= askedMs) return place + places.slice(0, at) + places.slice(at + PLACE_LENGTH);
  }
  return "";
}
