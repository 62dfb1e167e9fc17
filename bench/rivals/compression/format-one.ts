import { encodeFrame, noParts, readFrame } from "../../../src/engine/journal/format/frames.ts";
import { FRAME_SINCE_CREATION_MS_AT } from "../../../src/generated/layouts/journal.ts";
import type { Compressor } from "./compressor.ts";

/** The frames of format 1, one for each run of equal times, as a series stores them. */
export const formatOne: Compressor = {
  name: "oriel, format 1",
  encode(times, values) {
    const frames: Uint8Array[] = [new Uint8Array(times.slice(0, 1).buffer)];
    for (let from = 0; from < times.length; ) {
      let to = from + 1;
      while (to < times.length && times[to] === times[from]) to++;
      const { bytes } = encodeFrame(1, frames.length, values.subarray(from, to));
      // The store writes the stamp.
      new DataView(bytes.buffer).setUint32(
        FRAME_SINCE_CREATION_MS_AT,
        (times[from] as number) - (times[0] as number),
        true,
      );
      frames.push(bytes);
      from = to;
    }
    return frames;
  },
  decode(stored, times, values) {
    const createdMs = new Float64Array(new Uint8Array(stored[0] as Uint8Array).buffer)[0] as number;
    const parts = noParts();
    let at = 0;
    for (const frame of stored.slice(1)) {
      readFrame(new DataView(frame.buffer), 0, 0, parts);
      values.set(new Float32Array(frame.buffer, parts.valuesAt, parts.count), at);
      times.fill(createdMs + parts.sinceCreationMs, at, at + parts.count);
      at += parts.count;
    }
  },
};
