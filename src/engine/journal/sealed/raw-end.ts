import * as layout from "../../../generated/layouts/journal.ts";
import { FRAME_HEADER_BYTES, type Known } from "../format/answer.ts";
import { type ChunkHeader, HEADER_BYTES, readHeader, valueBytes } from "../format/chunk.ts";
import { constants } from "../format/constants.ts";

/** The end of the chunk before it was sealed. `bytes`: at least the header and the record SEALED. */
export function rawEndOf(bytes: Uint8Array): Known {
  const view = new DataView(bytes.buffer, bytes.byteOffset + HEADER_BYTES, layout.SEALED_BYTES);
  const { number, birth } = readHeader(bytes);
  const frameAt = HEADER_BYTES + layout.SEALED_RAW_FRAME_AT;
  return {
    number,
    birth,
    length: view.getUint32(layout.SEALED_RAW_LENGTH_AT, true),
    place: view.getUint32(layout.SEALED_RAW_PLACE_AT, true),
    // A copy, because a Buffer's slice would keep the whole reply alive.
    frame: new Uint8Array(bytes.subarray(frameAt, frameAt + FRAME_HEADER_BYTES)),
  };
}

/** Whether a chunk of this end, before it was sealed, can have had `count` events. */
export function isPossibleEnd({ length, place }: Known, count: number, { valueType }: ChunkHeader): boolean {
  return (
    length >= HEADER_BYTES + count * valueBytes(valueType) &&
    length > place &&
    length <= constants.fullBytes + constants.appendBytes
  );
}
