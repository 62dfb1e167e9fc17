import { HEADER_BYTES, readHeader } from "../../../src/journal/format/chunk.ts";
import { FrameRanges } from "../../../src/journal/format/frame-ranges.ts";
import { encodeSummary } from "../../../src/journal/format/summary.ts";

/** A summary without events that ends where an open chunk does, or elsewhere. */
export function emptySummary(bytes: Buffer | undefined, spoil?: "number" | "birth" | "length" | "frame"): Uint8Array {
  const chunk = new Uint8Array(bytes ?? Buffer.alloc(HEADER_BYTES));
  const header = readHeader(chunk);
  const { number, birth } = header;
  const known = { number, birth, length: chunk.length, place: 0, frame: new Uint8Array(16) };
  if (chunk.length > HEADER_BYTES)
    Object.assign(known, { place: HEADER_BYTES, frame: chunk.slice(HEADER_BYTES, HEADER_BYTES + 16) });
  if (spoil === "number" || spoil === "birth") header[spoil]++;
  if (spoil === "length") known.length++;
  if (spoil === "frame") known.frame = known.frame.map((byte) => byte + 1);
  const frames = new FrameRanges([]);
  return encodeSummary({ header, known, fromMs: 0, coversUntilMs: 0, isOlderMissing: false, frames, digests: [] });
}
