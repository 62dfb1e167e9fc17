import type { Keyspace } from "../store/contract.ts";
import { ARRAY_BYTES, ownText, SLOT_BYTES, textBytes } from "../store/memory/heap-bytes.ts";
import { refusal } from "../store/refusal.ts";

export const MOST_SENDERS = 512;
export const SENDER_LIFE_MS = 600_000;
const SLACK_MS = 60_000;
const RING_BYTES = 640;
/** A bucket, its field, and its place in the map. */
const BUCKET_SIZE_BYTES = SLOT_BYTES + 32 + ARRAY_BYTES + 64;
/** A name's place. */
const NAME_BYTES = 12;
const SENDER_SIZE_BYTES = 120;

/** Buckets and their length, and how many names may have some of their own. */
export interface RingShape {
  sampleCount: number;
  bucketMs: number;
  mostNames: number;
}

interface Sender {
  id: string;
  number: number;
  atMs: number;
}

/** The buckets of a fleet as a memory store keeps them; lua/fleet/law.lua tells what they are in Redis. */
export class Ring {
  layout: string | undefined;
  /** A name's number is its place, from 1; 0: all others. */
  readonly names: string[] = [];
  #namesBytes = 0;
  /** Who sent last at the end. */
  senders: Sender[] = [];
  readonly buckets = new Map<string, Float64Array>();

  numberOf(name: string): number {
    return this.names.indexOf(name) + 1;
  }

  addName(name: string): void {
    this.#namesBytes += textBytes(name) + NAME_BYTES;
    this.names.push(ownText(name));
  }

  get sizeBytes(): number {
    return (
      RING_BYTES + this.#namesBytes + this.senders.length * SENDER_SIZE_BYTES + this.buckets.size * BUCKET_SIZE_BYTES
    );
  }
}

export function layoutOf({ sampleCount, bucketMs, mostNames }: RingShape): string {
  return `1|${sampleCount}|${bucketMs}|${mostNames}`;
}

/** The ring as it stands; an empty one where there is none. Throws CLASH for another layout. */
export function ringAt(keys: Keyspace, key: string, layout: string): Ring {
  const ring = (keys.get(key) as Ring | undefined) ?? new Ring();
  if (ring.layout !== undefined && ring.layout !== layout)
    throw refusal("CLASH", `the fleet's layout is ${ring.layout}, not ${layout}`);
  return ring;
}

/** Keeps a ring to which up to so many names and buckets are added. Throws OVERLOADED; nothing may have been changed before. */
export function keep(
  keys: Keyspace,
  key: string,
  ring: Ring,
  { sampleCount, bucketMs }: RingShape,
  given: readonly { name: string }[],
  nowMs: number,
): void {
  const growthBytes = given.reduce((sum, { name }) => sum + BUCKET_SIZE_BYTES + NAME_BYTES + textBytes(name), 0);
  const sizeBytes = ring.sizeBytes + growthBytes + SENDER_SIZE_BYTES;
  keys.set(key, ring, sizeBytes, nowMs + (sampleCount + 1) * bucketMs + SLACK_MS);
}
