export interface Sample {
  atMs: number;
  bytes: number;
  /** The number of things that use the memory: open series of a process, keys of a server. */
  things: number;
}

/** Fluctuation between two thirds of a run that is not growth. */
const ALLOWANCE_BYTES = 8 << 20;
const ALLOWED_SHARE = 0.1;

/**
 * True if memory grew without end: compares the median of the last third of its samples with that of the middle third. The
 * first third is the warm-up. More things may take proportionally more memory, since a busy machine changes the amount of
 * work of a run.
 */
export function growth(who: string, samples: readonly Sample[], bytesPerThing: number): string[] {
  const third = Math.floor(samples.length / 3);
  if (third < 3) return [`${who}: ${samples.length} samples are too few`];
  const [before, after] = [samples.slice(-2 * third, -third), samples.slice(-third)];
  const [middle, last] = [median(before), median(after)];
  const more = Math.max(0, median(after, "things") - median(before, "things"));
  const boundBytes = middle * (1 + ALLOWED_SHARE) + ALLOWANCE_BYTES + more * bytesPerThing;
  return last <= boundBytes ? [] : [`${who} grew from ${mib(middle)} to ${mib(last)}`];
}

/** True if it ever held more than its bound. */
export function excess(who: string, samples: readonly Sample[], boundBytes: number): string[] {
  const most = Math.max(...samples.map(({ bytes }) => bytes));
  return most <= boundBytes ? [] : [`${who} held ${mib(most)}; the bound is ${mib(boundBytes)}`];
}

export function median(samples: readonly Sample[], of: "bytes" | "things" = "bytes"): number {
  return samples.map((sample) => sample[of]).sort((a, b) => a - b)[samples.length >> 1]!;
}

export function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
