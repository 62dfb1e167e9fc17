import { corruptError, type OrielError } from "../../base/errors.ts";
import { BUCKET_BYTES, DAMAGE_MARK, REPLY_BYTES, REPLY_NOW_MS_AT } from "../../generated/layouts/fleet.ts";
import { readScript } from "../../generated/scripts/fleet.ts";
import type { Operation } from "../../store/contract.ts";
import { readStrings } from "../../store/message-pack.ts";
import { isValidBucket, unpackBuckets } from "./bucket.ts";
import { layoutOf, type RingShape, ringAt } from "./ring.ts";

export interface BucketQuery extends RingShape {
  /** Number of the first name (0: all others), and the maximum number of names, up to 100. */
  first: number;
  limit: number;
  /** Reads only this name; "": every name. */
  name: string;
}

export interface NameBuckets {
  name: string;
  buckets: Float64Array[];
  /** Some buckets have a wrong size or invalid values; they are left out. */
  isDamaged: boolean;
}

const decoder = new TextDecoder();

/** The buckets of some names; law in lua/fleet/read.lua. */
export const read: Operation<BucketQuery, { nowMs: number; names: NameBuckets[] }> = {
  name: "fleet/read",
  script: readScript,
  keyCount: 1,
  arity: 5,
  repeatable: true,
  encode: ({ first, limit, name, ...shape }) => [layoutOf(shape), shape.sampleCount, first, limit, name],
  decode(reply) {
    const strings = readStrings(reply, REPLY_BYTES);
    const names: NameBuckets[] = [];
    for (let i = 0; i < strings.length; i += 2) names.push(namedOf(decoder.decode(strings[i]), strings[i + 1]!));
    return { nowMs: new DataView(reply.buffer, reply.byteOffset).getFloat64(REPLY_NOW_MS_AT, true), names };
  },
  local(keys, key, { first, limit, name: wanted, ...shape }, nowMs) {
    const ring = ringAt(keys, key, layoutOf(shape));
    const names = ["", ...ring.names].slice(first, first + limit);
    return {
      nowMs,
      names: names
        .filter((name) => wanted === "" || name === wanted)
        .map((name) => {
          const buckets = bucketsOf(ring.numberOf(name), shape.sampleCount, ring.buckets);
          return { name, buckets, isDamaged: false };
        }),
    };
  },
};

/** A `DAMAGE_MARK` after the buckets means that some are damaged. */
function namedOf(name: string, bytes: Uint8Array): NameBuckets {
  const isCut = bytes.length % BUCKET_BYTES === DAMAGE_MARK.length;
  const all = unpackBuckets(isCut ? bytes.subarray(0, -1) : bytes);
  const buckets = all.filter(isValidBucket);
  return { name, buckets, isDamaged: isCut || buckets.length < all.length };
}

function bucketsOf(number: number, sampleCount: number, buckets: ReadonlyMap<string, Float64Array>): Float64Array[] {
  const found: Float64Array[] = [];
  for (let slot = 0; slot < sampleCount; slot++) {
    const bucket = buckets.get(`${number}|${slot}`);
    if (bucket) found.push(bucket.slice());
  }
  return found;
}

export function damagedName(key: string, name: string): OrielError {
  const which = name === "" ? "all other names" : JSON.stringify(name);
  return corruptError(key, `a bucket of ${which} has another size, or impossible numbers`);
}
