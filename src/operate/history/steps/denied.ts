import { corruptError } from "../../../base/errors.ts";
import {
  DENIED_BYTES,
  DENIED_COUNT_AT,
  DENIED_TEXT_BYTES_AT,
  MAX_SLOT_IDS,
  SLOT_MS,
  SLOTS,
} from "../../../generated/layouts/history.ts";
import { deniedScript } from "../../../generated/scripts/history.ts";
import type { Keyspace, Operation } from "../../../store/contract.ts";
import { textBytes } from "../../../store/memory/heap-bytes.ts";

/** Ids with their numbers of denials. */
export type Denials = ReadonlyMap<string, number>;

/** Longest id, in UTF-16 units. A longer one is cut. */
const MAX_ID_LENGTH = 256;

export interface DeniedInput {
  /** Counts to be added; may be empty. */
  added: Denials;
  isWanted: boolean;
}

/**
 * Adds counts of denied ids, and reads those of the last hour, the largest first. lua/history/denied.lua states the law. It is
 * not repeated after a lost answer, so a count is never too large.
 */
export const denied: Operation<DeniedInput, Denials> = {
  name: "history/denied",
  script: deniedScript,
  arity: 2,
  keyCount: SLOTS,
  keysOf: (key) => Array.from({ length: SLOTS }, (_, slot) => `${key}:${slot}`),
  repeatable: false,
  encode: ({ added, isWanted }) => [write(added), isWanted ? 1 : 0],
  decode: (reply) => sorted(read(reply)),
  local(keys, base, { added, isWanted }, nowMs) {
    const slot = Math.floor(nowMs / SLOT_MS);
    const slotKeys = Array.from({ length: SLOTS }, (_, i) => `${base}:${i}`);
    const key = slotKeys[slot % SLOTS]!;
    const slots = slotKeys.map((each) => denialsIn(keys, each));
    if (added.size > 0) {
      const counts = new Map(slots[slot % SLOTS]);
      for (const [id, count] of cut(added)) counts.set(id, (counts.get(id) ?? 0) + count);
      const kept = new Map([...sorted(counts)].slice(0, MAX_SLOT_IDS));
      let bytes = 0;
      for (const id of kept.keys()) bytes += textBytes(id) + 8;
      keys.set(key, kept, bytes, (slot + SLOTS) * SLOT_MS);
    }
    if (!isWanted) return new Map();
    return sorted(slotKeys.flatMap((each) => [...denialsIn(keys, each)]));
  },
};

/** Throws CORRUPT if the value is not that of a slot. */
function denialsIn(keys: Keyspace, key: string): Denials {
  const value = keys.get(key) ?? new Map();
  const isSlot = value instanceof Map && [...value].every(([id, n]) => typeof id === "string" && typeof n === "number");
  if (!isSlot) throw corruptError(key, "it is not a sorted set of ids");
  return value;
}

/** Sums of the counts of each id. An id that has a lone surrogate has the replacement character there, as in UTF-8. */
function cut(counts: Denials): [id: string, count: number][] {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const encoder = new TextEncoder();
  return [...counts].map(([id, count]) => [
    decoder.decode(encoder.encode(id.length > MAX_ID_LENGTH ? `${id.slice(0, MAX_ID_LENGTH)}…` : id)),
    count,
  ]);
}

function write(counts: Denials): Uint8Array {
  const encoder = new TextEncoder();
  const parts = cut(counts).map(([id, count]) => ({ text: encoder.encode(id), count }));
  const bytes = new Uint8Array(parts.reduce((sum, { text }) => sum + DENIED_BYTES + text.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { text, count } of parts) {
    view.setFloat64(at + DENIED_COUNT_AT, count, true);
    view.setUint16(at + DENIED_TEXT_BYTES_AT, text.length, true);
    bytes.set(text, at + DENIED_BYTES);
    at += DENIED_BYTES + text.length;
  }
  return bytes;
}

function* read(reply: Uint8Array): Generator<[id: string, count: number]> {
  const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for (let at = 0; at < reply.length; ) {
    const from = at + DENIED_BYTES;
    const to = from + view.getUint16(at + DENIED_TEXT_BYTES_AT, true);
    yield [decoder.decode(reply.subarray(from, to)), view.getFloat64(at + DENIED_COUNT_AT, true)];
    at = to;
  }
}

/** The sums of all counts of each id, the largest first. */
function sorted(counts: Iterable<readonly [id: string, count: number]>): Denials {
  const sums = new Map<string, number>();
  for (const [id, count] of counts) sums.set(id, (sums.get(id) ?? 0) + count);
  // Of equal counts the last in the order of UTF-8, which is that of code points, comes first.
  return new Map([...sums].sort(([id, count], [otherId, other]) => other - count || byCodePoints(otherId, id)));
}

function byCodePoints(one: string, other: string): number {
  const [a, b] = [[...one], [...other]];
  const at = a.findIndex((character, i) => character !== b[i]);
  if (at < 0) return a.length - b.length;
  return (a[at]!.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? -1);
}
