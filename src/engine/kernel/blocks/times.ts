import { RUNS_BYTES, TIMES_BYTES, TIMING } from "../../../generated/layouts/block.ts";
import type { BlockDecoder, BlockHead } from "./contract.ts";
import { damaged } from "./head.ts";

/** Writes the times of a block's events to `out`. `earliestMs`: of its totals. Throws CORRUPT. */
export function decodeTimes(
  codec: BlockDecoder,
  head: BlockHead,
  earliestMs: number,
  bytes: Uint8Array,
  out: Float64Array,
): void {
  const { timing, count } = head;
  if (bytes.length !== head.timesBytes)
    throw damaged(`its times have ${bytes.length} bytes; it names ${head.timesBytes}`);
  if (timing === TIMING.raw) {
    if (bytes.length !== 8 * count) throw damaged("its times are raw and have another length");
    new Uint8Array(out.buffer, out.byteOffset, bytes.length).set(bytes);
    return;
  }
  if (bytes.length < (timing === TIMING.runs ? RUNS_BYTES : 0) + TIMES_BYTES) throw damaged("its times end too early");
  const events = codec.decodeTimes(head, earliestMs, bytes, out);
  if (events < 0) throw damaged("its times do not fit their length");
  if (events > count) throw damaged("its runs are longer than the block");
  if (events !== count) throw damaged(`its runs have ${events} events; it must have ${count}`);
}
