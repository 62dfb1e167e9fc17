import type { Keyspace } from "../store/contract.ts";
import { refusal } from "../store/refusal.ts";

export const MOST_SENDERS = 512;
export const SENDER_LIFE_MS = 600_000;
const SLACK_MS = 60_000;
const BUCKET_SIZE_BYTES = 128;
const SENDER_SIZE_BYTES = 24;

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
  /** Who sent last at the end. */
  senders: Sender[] = [];
  readonly buckets = new Map<string, Float64Array>();

  numberOf(name: string): number {
    return this.names.indexOf(name) + 1;
  }

  get sizeBytes(): number {
    const names = this.names.reduce((sum, name) => sum + name.length, 0);
    return names + this.senders.length * SENDER_SIZE_BYTES + this.buckets.size * BUCKET_SIZE_BYTES;
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

/** Keeps a ring to which up to so many buckets are added. Throws OVERLOADED; nothing may have been changed before. */
export function keep(
  keys: Keyspace,
  key: string,
  ring: Ring,
  { sampleCount, bucketMs }: RingShape,
  growth: number,
  nowMs: number,
): void {
  const sizeBytes = ring.sizeBytes + growth * BUCKET_SIZE_BYTES + SENDER_SIZE_BYTES;
  keys.set(key, ring, sizeBytes, nowMs + (sampleCount + 1) * bucketMs + SLACK_MS);
}
