import { MAX_SENDERS, OUTCOME, REPLY_BYTES, REPLY_NOW_MS_AT, SENDER_LIFE_MS } from "../../generated/layouts/fleet.ts";
import { flushScript } from "../../generated/scripts/fleet.ts";
import type { Operation } from "../../store/contract.ts";
import { packStrings } from "../../store/message-pack.ts";
import { merge, packBucket, START } from "./bucket.ts";
import { keep, layoutOf, type Ring, type RingShape, ringAt } from "./ring.ts";

export interface NamedBucket {
  name: string;
  bucket: Float64Array;
}

export interface Flush extends RingShape {
  /** 8 characters. */
  sender: string;
  /** Number of the batch; increases. */
  number: number;
  given: readonly NamedBucket[];
}

export type BucketOutcome = "added" | "added to others" | "too late" | "replaced";
const OUTCOMES: Record<number, BucketOutcome> = {
  [OUTCOME.added]: "added",
  [OUTCOME.addedToOthers]: "added to others",
  [OUTCOME.tooLate]: "too late",
  [OUTCOME.replaced]: "replaced",
};
export const MAX_BUCKETS_PER_FLUSH = 500;

/** Adds a batch to the buckets of a fleet; law in lua/fleet/flush.lua. */
export const flush: Operation<Flush, { nowMs: number; outcomes: BucketOutcome[] }> = {
  name: "fleet/flush",
  script: flushScript,
  keyCount: 1,
  arity: 7,
  repeatable: true,
  encode: ({ sender, number, given, ...shape }) => [
    layoutOf(shape),
    sender,
    number,
    shape.bucketMs,
    shape.sampleCount,
    shape.maxNames,
    packStrings(given.flatMap(({ name, bucket }) => [name, packBucket(bucket)])),
  ],
  decode: (reply) => ({
    nowMs: new DataView(reply.buffer, reply.byteOffset).getFloat64(REPLY_NOW_MS_AT, true),
    outcomes: Array.from(reply.subarray(REPLY_BYTES), (outcome) => OUTCOMES[outcome]!),
  }),
  local(keys, key, { sender, number, given, ...shape }, nowMs) {
    const layout = layoutOf(shape);
    const ring = ringAt(keys, key, layout);
    if (ring.senders.some(({ id, number: last }) => id === sender && last >= number))
      return { nowMs, outcomes: given.map(() => "added") };
    keep(keys, key, ring, shape, given, nowMs);
    ring.layout = layout;
    ring.senders = sendersWith(ring, sender, number, nowMs);
    return { nowMs, outcomes: given.map((each) => addTo(ring, each, shape, nowMs)) };
  },
};

function sendersWith(ring: Ring, id: string, number: number, nowMs: number): Ring["senders"] {
  const others = ring.senders.filter((each) => each.id !== id);
  if (others.length >= MAX_SENDERS || (others[0] && others[0].atMs < nowMs - SENDER_LIFE_MS)) others.shift();
  return [...others, { id, number, atMs: nowMs }];
}

function addTo(ring: Ring, { name, bucket }: NamedBucket, shape: RingShape, nowMs: number): BucketOutcome {
  const { sampleCount, bucketMs, maxNames } = shape;
  const givenMs = bucket[START]! - (bucket[START]! % bucketMs);
  if (givenMs < nowMs - sampleCount * bucketMs) return "too late";
  if (name !== "" && ring.numberOf(name) === 0 && ring.names.length < maxNames) ring.addName(name);
  const number = ring.numberOf(name);
  const startMs = Math.min(givenMs, nowMs - (nowMs % bucketMs));
  const field = `${number}|${(startMs / bucketMs) % sampleCount}`;
  const there = ring.buckets.get(field);
  if (there && there[START]! > startMs) return "too late";
  if (there && there[START] === startMs) merge(there, bucket);
  else
    ring.buckets.set(
      field,
      Float64Array.from(bucket, (value, i) => (i === START ? startMs : value)),
    );
  return number === 0 && name !== "" ? "added to others" : "added";
}
