import * as layout from "../../../generated/layouts/groups.ts";
import { internScript } from "../../../generated/scripts/groups.ts";
import type { StepOfArguments } from "../../../store/contract.ts";
import { isEmptyFirst } from "../../journal/format/chunk.ts";
import type { ChunkBytes } from "../../journal/format/chunk-bytes.ts";
import { Dictionary, groupsKey, type KnownGroups, NONCE_BYTES } from "../dictionary.ts";

export interface Intern {
  /** A dictionary without groups that is begun now, with chunks and times 0. */
  header: Uint8Array;
  known: Pick<KnownGroups, "length" | "nonce">;
  /** The new groups, each with a fresh nonce; empty to read only, or to begin the names anew if there is a header. */
  groups: Uint8Array;
  /** From now until the dictionary expires, if this call writes. */
  lifetimeMs: number;
  /** From then until the names may begin anew. */
  spareMs: number;
}

export interface Interned {
  /** Length of the dictionary in bytes; 0 if there is none. */
  length: number;
  /** The known length if that part is still there; else 0. */
  from: number;
  /** The names may begin anew after this time. */
  waitMs: number;
  /** The dictionary from there on, at most a page. */
  bytes: Uint8Array;
}

/** Gives groups their numbers. The key is that of the journal. lua/groups/intern.lua states the rules. */
export const intern: StepOfArguments<Intern, Interned> = {
  name: "groups/intern",
  script: internScript,
  arity: 5,
  keyCount: 2,
  keysOf: (key) => [key, groupsKey(key)],
  repeatable: true,
  encode({ header, known, groups, lifetimeMs, spareMs }) {
    const view = new DataView(new ArrayBuffer(layout.GROUPS_KNOWN_BYTES));
    view.setUint32(layout.GROUPS_KNOWN_LENGTH_AT, known.length, true);
    view.setUint32(layout.GROUPS_KNOWN_NONCE_AT, known.nonce, true);
    return [header, new Uint8Array(view.buffer), groups, lifetimeMs, spareMs];
  },
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset);
    return {
      waitMs: view.getFloat64(layout.INTERNED_WAIT_MS_AT, true),
      length: view.getUint32(layout.INTERNED_LENGTH_AT, true),
      from: view.getUint32(layout.INTERNED_FROM_AT, true),
      bytes: reply.subarray(layout.INTERNED_BYTES),
    };
  },
  local(keys, key, { header, known, groups, lifetimeMs, spareMs }, nowMs) {
    const at = groupsKey(key);
    let expireAtMs = Math.ceil((nowMs + lifetimeMs) / 1000) * 1000;
    let dictionary = keys.get(at) as Dictionary | undefined;
    const firstAfter = () => firstChunkAfter(keys.get(key) as ChunkBytes | undefined);
    const begin = (firstChunk: number, formerFirstChunk: number) => {
      const bytes = begun(header, [firstChunk, formerFirstChunk, expireAtMs + spareMs], nowMs);
      dictionary = new Dictionary(bytes, expireAtMs);
      keys.set(at, dictionary, dictionary.sizeBytes(), expireAtMs);
      return dictionary;
    };
    if (!dictionary) {
      if (groups.length === 0) return { length: 0, from: 0, waitMs: 0, bytes: groups };
      const first = firstAfter();
      dictionary = begin(first, first);
    }
    let from = dictionary.has(known) ? known.length : 0;
    const isWhole = from > 0 && from === dictionary.length;
    if (isWhole && groups.length > 0) {
      const endMs = Math.max(expireAtMs, dictionary.expireAtMs);
      keys.set(at, dictionary, dictionary.sizeBytes(groups.length), endMs);
      dictionary.expireAtMs = endMs;
      dictionary.append(groups);
    } else if (isWhole && header.length > 0 && nowMs >= timeIn(dictionary.bytes, layout.GROUPS_END_MS_AT)) {
      expireAtMs = Math.max(expireAtMs, dictionary.expireAtMs);
      const formerFirst = timeIn(dictionary.bytes, layout.GROUPS_FIRST_CHUNK_AT);
      dictionary = begin(Math.max(formerFirst, firstAfter()), formerFirst);
      from = 0;
    }
    return {
      length: dictionary.length,
      from,
      waitMs: Math.max(0, timeIn(dictionary.bytes, layout.GROUPS_END_MS_AT) - nowMs),
      bytes: dictionary.bytes.slice(from, from + layout.GROUPS_PAGE_BYTES),
    };
  },
};

/** The f64 at an offset: a time, or the number of a chunk. */
function timeIn(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getFloat64(at, true);
}

function firstChunkAfter(open: ChunkBytes | undefined): number {
  return !open || isEmptyFirst(open.header, open.length) ? 0 : open.header.number + 1;
}

function begun(header: Uint8Array, times: readonly number[], nowMs: number): Uint8Array {
  const bytes = header.slice();
  const view = new DataView(bytes.buffer);
  for (const [i, time] of times.entries()) view.setFloat64(layout.GROUPS_FIRST_CHUNK_AT + 8 * i, time, true);
  const birthAt = bytes.length - NONCE_BYTES;
  view.setUint32(birthAt, (view.getUint32(birthAt, true) + nowMs) % 2 ** 32, true);
  return bytes;
}
