export interface Sample {
  atMs: number;
  bytes: number;
}

/** What may come and go between two thirds of a run without being growth. */
const ALLOWANCE_BYTES = 8 << 20;
const ALLOWED_SHARE = 0.1;

/**
 * Whether something grew without end: the median of the last third of its samples against the middle third's. The
 * first third is the way to what it needs at work.
 */
export function growth(who: string, samples: readonly Sample[]): string[] {
  const third = Math.floor(samples.length / 3);
  if (third < 3) return [`${who}: ${samples.length} samples are too few`];
  const middle = median(samples.slice(-2 * third, -third));
  const last = median(samples.slice(-third));
  const boundBytes = middle * (1 + ALLOWED_SHARE) + ALLOWANCE_BYTES;
  return last <= boundBytes ? [] : [`${who} grew from ${mib(middle)} to ${mib(last)}`];
}

/** Whether it ever held more than it may. */
export function excess(who: string, samples: readonly Sample[], boundBytes: number): string[] {
  const most = Math.max(...samples.map(({ bytes }) => bytes));
  return most <= boundBytes ? [] : [`${who} held ${mib(most)}; the bound is ${mib(boundBytes)}`];
}

export function median(samples: readonly Sample[]): number {
  return samples.map(({ bytes }) => bytes).sort((a, b) => a - b)[samples.length >> 1]!;
}

export function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
