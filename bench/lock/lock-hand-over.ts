import type { LockRival } from "../rivals/lock/lock.ts";
import { percentile } from "../runner/measure.ts";
import type { Row } from "../runner/report.ts";

/** After this time a waiting client has been refused and waits. */
const SETTLED_MS = 25;
const JITTER_MS = 20;

/** Time from one client's release to another client's hold, by the rival's name. The rivals take turns. */
export async function measureHandOvers(
  rivals: readonly LockRival[],
  redisUrl: string,
  count: number,
): Promise<Map<string, Row>> {
  const open = (rival: LockRival) => Promise.all([0, 1].map(() => rival.open(redisUrl, `hand-over ${rival.name}`)));
  const pairs = await Promise.all(rivals.map(open));
  const measuredMs = rivals.map((): number[] => []);
  const never = new AbortController().signal;
  try {
    for (let turn = 0; turn < count; turn++)
      for (const [i, [first, second]] of pairs.entries()) {
        let releasedMs = 0;
        let waits: Promise<boolean> | undefined;
        await first!.pair(never, async () => {
          waits = second!.pair(never, async () => void measuredMs[i]!.push(performance.now() - releasedMs));
          await new Promise((resolve) => setTimeout(resolve, SETTLED_MS + Math.random() * JITTER_MS));
          releasedMs = performance.now();
        });
        await waits;
      }
  } finally {
    await Promise.all(pairs.flat().map((client) => client.close()));
  }
  const row = (ms: number[]) => ({ handOverP50Ms: percentile(ms, 50), handOverP99Ms: percentile(ms, 99) });
  return new Map(rivals.map((rival, i) => [rival.name, row(measuredMs[i]!)]));
}
