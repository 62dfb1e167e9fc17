import * as layout from "../../generated/layouts/groups.ts";
import { ARRAY_BYTES } from "../../store/memory/heap-bytes.ts";

/** Overhead in the heap besides its bytes. */
const DICTIONARY_BYTES = ARRAY_BYTES + 64;
export const NONCE_BYTES = layout.GROUPS_KNOWN_BYTES - layout.GROUPS_KNOWN_NONCE_AT;

/**
 * The part of a dictionary that a process has read: it ends with the header or with a group. The nonce there proves all bytes
 * before it. Length 0: nothing.
 */
export interface KnownGroups {
  readonly length: number;
  readonly nonce: number;
  /** Chunks of the journal before this number have other groups. */
  readonly firstChunk: number;
}

/** Key of the names of a journal's groups: the open chunk's key and a word. */
export function groupsKey(key: string): string {
  return `${key}:groups`;
}

/** A dictionary in a memory store: the bytes of the string in Redis, in a buffer that doubles. */
export class Dictionary {
  #bytes: Uint8Array;
  #length: number;
  /** The keyspace does not say when a key expires. */
  expireAtMs: number;

  constructor(header: Uint8Array, expireAtMs: number) {
    this.#bytes = header;
    this.#length = header.length;
    this.expireAtMs = expireAtMs;
  }

  get length(): number {
    return this.#length;
  }

  /** A view of the bytes in use, valid until the next append. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Whether the known part is still there. */
  has({ length, nonce }: Pick<KnownGroups, "length" | "nonce">): boolean {
    if (length === 0 || length > this.#length) return false;
    return new DataView(this.#bytes.buffer).getUint32(length - NONCE_BYTES, true) === nonce;
  }

  /** Its size in the heap after an append of `moreBytes`, with spare capacity. */
  sizeBytes(moreBytes = 0): number {
    return DICTIONARY_BYTES + this.#roomFor(moreBytes);
  }

  append(groups: Uint8Array): void {
    const roomBytes = this.#roomFor(groups.length);
    if (roomBytes > this.#bytes.length) {
      const larger = new Uint8Array(roomBytes);
      larger.set(this.bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(groups, this.#length);
    this.#length += groups.length;
  }

  #roomFor(moreBytes: number): number {
    const length = this.#length + moreBytes;
    return length > this.#bytes.length ? Math.max(length, this.#bytes.length * 2) : this.#bytes.length;
  }
}
