import { OrielError } from "../../errors.ts";
import { constants } from "../../journal/format/constants.ts";
import { Digest } from "../../journal/format/digest.ts";
import { encodeSummary } from "../../journal/format/summary.ts";
import type { JournalCopy } from "../../journal/replica/journal-copy.ts";
import type { Column } from "../../kernel/contract.ts";

/** Maximum number of frame ranges, 20 bytes each. A process that recorded in the last 20 s needs about three. */
const MAX_RANGES = 4096;
/** Ranks of a digest's error that are reserved for rounding and order statistics. */
const RANKS_SPARE = 2;

/**
 * The bytes of a summary of all events from `fromMs` on; undefined if there is no journal. Half of `rankError` covers the
 * ranks within the digests, the other half a digest that an edge of the window cuts. O(n log n).
 */
export function summaryOf(copy: JournalCopy, fromMs: number, rankError: number): Uint8Array | undefined {
  const { head, tail, isFirstKnown, lateFrames: frames } = copy;
  if (!head || !tail) return undefined;
  if (frames.list.length > MAX_RANGES) {
    const why = `more than ${MAX_RANGES} ranges of frames in 20 s: too many processes record for a summary`;
    throw new OrielError("TOO_LARGE", why);
  }
  const { times, values } = inOrder(copy, fromMs);
  const each = Math.max(constants.minInDigest, Math.floor((values.length * rankError) / 2) - RANKS_SPARE);
  const digests: Digest[] = [];
  for (let from = 0; from < values.length; from += each) {
    const to = Math.min(values.length, from + each);
    digests.push(Digest.from(values.slice(from, to), rankError / 2, times[from]!, times[to - 1]!));
  }
  const { birthBefore, clock, latestMs, createdMs } = head.header;
  const coversUntilMs = clock === 1 ? latestMs : createdMs;
  const isOlderMissing = isFirstKnown && birthBefore !== 0;
  return encodeSummary({
    header: tail.header,
    known: copy.knownOf(tail),
    fromMs,
    coversUntilMs,
    isOlderMissing,
    frames,
    digests,
  });
}

/** All events from `fromMs` on, in order of time. */
function inOrder(copy: JournalCopy, fromMs: number): { times: Float64Array; values: Column } {
  const total = copy.eventCount;
  const times = new Float64Array(total);
  const values = copy.tail!.header.valueType === 1 ? new Float64Array(total) : new Float32Array(total);
  let count = 0;
  let isOrdered = true;
  for (const segment of copy.segments.list)
    for (let i = 0; i < segment.count; i++) {
      const ms = segment.timeAt(i);
      if (ms < fromMs) continue;
      if (count > 0 && ms < times[count - 1]!) isOrdered = false;
      times[count] = ms;
      values[count++] = segment.valueAt(i);
    }
  const all = { times: times.subarray(0, count), values: values.subarray(0, count) };
  if (isOrdered) return all;
  const order = Uint32Array.from({ length: count }, (_, i) => i).sort((a, b) => times[a]! - times[b]!);
  return { times: all.times.map((_, i) => times[order[i]!]!), values: all.values.map((_, i) => values[order[i]!]!) };
}
