import * as layout from "../../../../generated/layouts/journal.ts";
import { readPartsScript } from "../../../../generated/scripts/journal.ts";
import type { Operation } from "../../../../store/contract.ts";
import { HEADER_BYTES } from "../../format/chunk.ts";
import type { ChunkBytes } from "../../format/chunk-bytes.ts";
import { constants } from "../../format/constants.ts";

export interface Parts {
  birth: number;
  checksum: number;
  /** From and length of each part, in bytes. */
  parts: readonly (readonly [number, number])[];
}

/**
 * Reads parts of a sealed chunk, one after the other; undefined if it is not the one whose outline was read.
 * lua/journal/read-parts.lua states the rules.
 */
export const readParts: Operation<Parts, Uint8Array | undefined> = {
  name: "journal/read-parts",
  script: readPartsScript,
  arity: 1,
  keyCount: 1,
  repeatable: true,
  encode({ birth, checksum, parts }) {
    const view = new DataView(new ArrayBuffer(layout.PARTS_BYTES + layout.PART_BYTES * parts.length));
    view.setUint32(layout.PARTS_BIRTH_AT, birth, true);
    view.setUint32(layout.PARTS_CHECKSUM_AT, checksum, true);
    for (const [i, [from, length]] of parts.entries()) {
      const at = layout.PARTS_BYTES + layout.PART_BYTES * i;
      view.setUint32(at + layout.PART_FROM_AT, from, true);
      view.setUint32(at + layout.PART_LENGTH_AT, length, true);
    }
    return [new Uint8Array(view.buffer)];
  },
  decode(reply) {
    if (reply[layout.PARTS_ANSWER_STATUS_AT] !== 0) return undefined;
    // Not as a Buffer, whose parts cost twice as much.
    return new Uint8Array(reply.buffer, reply.byteOffset, reply.length).subarray(layout.PARTS_ANSWER_BYTES);
  },
  local(keys, key, { birth, checksum, parts }) {
    const chunk = keys.get(key) as ChunkBytes | undefined;
    if (!chunk || chunk.header.format !== constants.sealedFormat || chunk.header.birth !== birth) return undefined;
    const { bytes } = chunk;
    const view = new DataView(bytes.buffer, bytes.byteOffset + HEADER_BYTES, layout.SEALED_BYTES);
    if (view.getUint32(layout.SEALED_CHECKSUM_AT, true) !== checksum) return undefined;
    const found = new Uint8Array(parts.reduce((sum, [, length]) => sum + length, 0));
    let at = 0;
    for (const [from, length] of parts) {
      found.set(bytes.subarray(from, from + length), at);
      at += length;
    }
    return found;
  },
};
