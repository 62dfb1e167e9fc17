import { script } from "../generated/window/summarize.ts";
import type { Operation } from "../store/contract.ts";
import { FRAME_HEADER_BYTES } from "./answer.ts";
import { type ChunkHeader, expiryOf, HEADER_BYTES, readHeader } from "./chunk.ts";
import { ChunkBytes } from "./chunk-bytes.ts";
import { law } from "./law.ts";
import { summaryKey } from "./summary.ts";

/** Puts a summary beside its journal; true where it was written. Law in lua/window/summarize.lua. */
export const summarize: Operation<Uint8Array, boolean> = {
  name: "window/summarize",
  script,
  arity: 1,
  keyCount: 2,
  keysOf: (key) => [key, summaryKey(key)],
  repeatable: true,
  encode: (summary) => [summary],
  decode: (reply) => reply[0] === 0,
  local(keys, key, summary) {
    const open = keys.get(key) as ChunkBytes | undefined;
    if (open?.header.format !== law.format || !goesOn(open, readHeader(summary), summary)) return false;
    const kept = new ChunkBytes(readHeader(summary), summary.length);
    kept.append(summary.subarray(HEADER_BYTES));
    keys.set(summaryKey(key), kept, kept.length, expiryOf(open.header));
    return true;
  },
};

function goesOn({ header, length, bytes }: ChunkBytes, of: ChunkHeader, summary: Uint8Array): boolean {
  if (header.number === of.number + 1) return header.birthBefore === of.birth;
  if (header.number !== of.number || header.birth !== of.birth) return false;
  const view = new DataView(summary.buffer, summary.byteOffset, summary.length);
  const place = view.getUint32(68, true);
  if (length < view.getUint32(64, true)) return false;
  for (let i = 0; place > 0 && i < FRAME_HEADER_BYTES; i++) if (bytes[place + i] !== summary[72 + i]) return false;
  return true;
}
