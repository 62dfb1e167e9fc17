import type { BlockCodec } from "../../kernel/blocks/contract.ts";
import { valueBytes } from "../format/chunk.ts";
import { eachEvent, type RawChunk } from "./raw-chunk.ts";
import { SealedChunk } from "./sealed-chunk.ts";

/** Blocks that one slice decodes. */
const SLICE_BLOCKS = 16;

/** Whether the sealed form gives back every event, to the bit, compared with the bytes of the chunk itself. It works in slices. */
export function* isExact(
  codec: BlockCodec,
  sealed: Uint8Array,
  raw: RawChunk,
  counted: readonly number[],
): Generator<void, boolean> {
  const chunk = SealedChunk.parse(sealed);
  const wide = valueBytes(raw.header.valueType) === 8;
  const times = new Float64Array(chunk.count);
  const words = new Uint32Array(chunk.count * (wide ? 2 : 1));
  let at = 0;
  let blocks = 0;
  for (const block of chunk.decode(codec)) {
    times.set(block.times, at);
    const { buffer, byteOffset, byteLength } = block.values;
    words.set(new Uint32Array(buffer, byteOffset, byteLength >> 2), at * (wide ? 2 : 1));
    at += block.times.length;
    if (++blocks % SLICE_BLOCKS === 0) yield;
  }
  let i = 0;
  let isSame = true;
  yield* eachEvent(raw, counted, (ms, low, high) => {
    const [itsLow, itsHigh] = wide ? [words[2 * i]!, words[2 * i + 1]!] : [words[i]!, 0];
    const isEqual = (itsLow === low && itsHigh === high) || (isNan(low, high, wide) && isNan(itsLow, itsHigh, wide));
    if (times[i++] !== ms || !isEqual) isSame = false;
  });
  return isSame && i === chunk.count;
}

/** Whether the bits are a NaN. Its other bits are not compared, because engines may change them. */
function isNan(low: number, high: number, wide: boolean): boolean {
  if (!wide) return (low & 0x7fff_ffff) > 0x7f80_0000;
  const top = high & 0x7fff_ffff;
  return top > 0x7ff0_0000 || (top === 0x7ff0_0000 && low !== 0);
}
