import * as layout from "../../../generated/layouts/groups.ts";
import { internScript } from "../../../generated/scripts/groups.ts";
import type { StepOfArguments } from "../../../store/contract.ts";
import { isEmptyFirst } from "../../journal/format/chunk.ts";
import type { ChunkBytes } from "../../journal/format/chunk-bytes.ts";
import { Dictionary, groupsKey, type KnownGroups, NONCE_BYTES } from "../dictionary.ts";

export interface Intern {
  /** Of a dictionary that is begun now, with first chunk 0. */
  header: Uint8Array;
  known: Pick<KnownGroups, "length" | "nonce">;
  /** The new groups, each with a fresh nonce; empty to read only. */
  groups: Uint8Array;
  /** From now until the dictionary expires, if this call writes. */
  lifetimeMs: number;
}

export interface Interned {
  /** Length of the dictionary in bytes; 0 if there is none. */
  length: number;
  /** The known length if that part is still there; else 0. */
  from: number;
  /** The dictionary from there on, at most a page. */
  bytes: Uint8Array;
}

/** Gives groups their numbers. The key is that of the journal. lua/groups/intern.lua states the rules. */
export const intern: StepOfArguments<Intern, Interned> = {
  name: "groups/intern",
  script: internScript,
  arity: 4,
  keyCount: 2,
  keysOf: (key) => [key, groupsKey(key)],
  repeatable: true,
  encode({ header, known, groups, lifetimeMs }) {
    const view = new DataView(new ArrayBuffer(layout.GROUPS_KNOWN_BYTES));
    view.setUint32(layout.GROUPS_KNOWN_LENGTH_AT, known.length, true);
    view.setUint32(layout.GROUPS_KNOWN_NONCE_AT, known.nonce, true);
    return [header, new Uint8Array(view.buffer), groups, lifetimeMs];
  },
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset);
    return {
      length: view.getUint32(layout.INTERNED_LENGTH_AT, true),
      from: view.getUint32(layout.INTERNED_FROM_AT, true),
      bytes: reply.subarray(layout.INTERNED_BYTES),
    };
  },
  local(keys, key, { header, known, groups, lifetimeMs }, nowMs) {
    const at = groupsKey(key);
    const expireAtMs = Math.ceil((nowMs + lifetimeMs) / 1000) * 1000;
    let dictionary = keys.get(at) as Dictionary | undefined;
    if (!dictionary) {
      if (groups.length === 0) return { length: 0, from: 0, bytes: groups };
      const bytes = begun(header, keys.get(key) as ChunkBytes | undefined, nowMs);
      dictionary = new Dictionary(bytes, expireAtMs);
      keys.set(at, dictionary, dictionary.sizeBytes(), expireAtMs);
    }
    const from = dictionary.has(known) ? known.length : 0;
    if (from > 0 && from === dictionary.length && groups.length > 0) {
      const endMs = Math.max(expireAtMs, dictionary.expireAtMs);
      keys.set(at, dictionary, dictionary.sizeBytes(groups.length), endMs);
      dictionary.expireAtMs = endMs;
      dictionary.append(groups);
    }
    return {
      length: dictionary.length,
      from,
      bytes: dictionary.bytes.slice(from, from + layout.GROUPS_PAGE_BYTES),
    };
  },
};

function begun(header: Uint8Array, open: ChunkBytes | undefined, nowMs: number): Uint8Array {
  const bytes = header.slice();
  const view = new DataView(bytes.buffer);
  const isNone = !open || isEmptyFirst(open.header, open.length);
  view.setFloat64(layout.GROUPS_FIRST_CHUNK_AT, isNone ? 0 : open.header.number + 1, true);
  const birthAt = bytes.length - NONCE_BYTES;
  view.setUint32(birthAt, (view.getUint32(birthAt, true) + nowMs) % 2 ** 32, true);
  return bytes;
}
