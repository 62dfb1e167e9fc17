import { FORMAT, SLACK_MS } from "../../generated/layouts/fleet.ts";
import type { Keyspace } from "../../store/contract.ts";
import { ARRAY_BYTES, ownText, SLOT_BYTES, textBytes } from "../../store/memory/heap-bytes.ts";
import { refusal } from "../../store/refusal.ts";

const RING_BYTES = 640;
/** Memory size of a bucket, its field and its map entry. */
const BUCKET_SIZE_BYTES = SLOT_BYTES + 32 + ARRAY_BYTES + 64;
/** Memory size of a name's entry. */
const NAME_BYTES = 12;
const SENDER_SIZE_BYTES = 120;

/** Number and length of the buckets, and the maximum number of names with buckets of their own. */
export interface RingShape {
  sampleCount: number;
  bucketMs: number;
  maxNames: number;
}

interface Sender {
  id: string;
  number: number;
  atMs: number;
}

/** The buckets of a fleet in a memory store. layouts/fleet.mjs and lua/fleet/law.lua define the layout in Redis. */
export class Ring {
  layout: string | undefined;
  /** A name's number is its position, from 1. Number 0 is all other names. */
  readonly names: string[] = [];
  #namesBytes = 0;
  /** Ordered by last flush, the latest at the end. */
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

export function layoutOf({ sampleCount, bucketMs, maxNames }: RingShape): string {
  return `${FORMAT}|${sampleCount}|${bucketMs}|${maxNames}`;
}

/** Returns the stored ring, or an empty one. Throws MISMATCH for another layout. */
export function ringAt(keys: Keyspace, key: string, layout: string): Ring {
  const ring = (keys.get(key) as Ring | undefined) ?? new Ring();
  if (ring.layout !== undefined && ring.layout !== layout)
    throw refusal(
      "MISMATCH",
      `the fleet's layout (format|buckets|bucket ms|metrics) is ${ring.layout}, not ${layout}: use those options, or another name`,
    );
  return ring;
}

/** Stores a ring that grows by up to this many names and buckets. Throws OVERLOADED; call it before any change. */
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
