import { expect, test } from "vitest";
import { externalBytes } from "../../bench/external-bytes.ts";
import { LocalSeries } from "../../src/entries/index.ts";
import { uniformOf } from "../stats/random.ts";

const WEEK_MS = 7 * 86_400_000;
const SERIES = 10_000;
/** WebAssembly memory and what is used anew by each call. */
const FIXED_BYTES = 2 << 20;
/** Beside its events: the room of an open segment, leaves and blocks at a window's edges, candidates of three brackets. */
const SERIES_BYTES = 40_000;

interface Life {
  series: LocalSeries;
  type: "float32" | "float64";
  endMs: number;
  retentionMs: number;
  /** Times and counts of what was recorded within the retention, at the last touch. */
  batches: { t: number; count: number }[];
}

function isHeld({ batches, retentionMs }: Life, nowMs: number): number {
  while (batches.length > 0 && batches[0]!.t < nowMs - retentionMs * 1.1) batches.shift();
  return batches.reduce((sum, { count }) => sum + count, 0);
}

test("10 000 series with random use over a week leave nothing behind", async () => {
  const u = uniformOf(2026);
  let nowMs = 1.7e12;
  const endMs = nowMs + WEEK_MS;
  const values = Float64Array.from({ length: 15_000 }, () => 100 * u());
  const singles = Float32Array.from(values);
  const begin = (): Life => {
    const retentionMs = Math.round(600_000 * 144 ** u());
    const type = u() < 0.5 ? "float32" : "float64";
    const series = new LocalSeries({ retention: retentionMs, values: type, clock: () => nowMs });
    return { series, type, retentionMs, endMs: nowMs + 6e4 * 400 ** u(), batches: [] };
  };
  new LocalSeries({ clock: () => nowMs }).recordMany(values);
  const baselineBytes = await externalBytes();
  let lives: Life[] = [];
  let recorded = 0;
  let most = 0;
  for (let step = 0; step < SERIES; step++) {
    nowMs += WEEK_MS / SERIES;
    lives = lives.filter((life) => life.endMs > nowMs && nowMs < endMs);
    lives.push(begin());
    for (const life of lives) {
      if (u() < 0.95) continue;
      const count = Math.floor(values.length ** u());
      life.series.recordMany((life.type === "float64" ? values : singles).subarray(0, count));
      life.batches.push({ t: nowMs, count });
      recorded += count;
      if (u() < 0.2) expect(life.series.stats({ span: life.retentionMs }).count).toBeGreaterThanOrEqual(count);
    }
    if (step % 1000 < 999) continue;
    let allowedBytes = FIXED_BYTES;
    for (const life of lives) allowedBytes += SERIES_BYTES + isHeld(life, nowMs) * (life.type === "float64" ? 22 : 14);
    const heldBytes = (await externalBytes()) - baselineBytes;
    most = Math.max(most, heldBytes);
    expect(heldBytes, `after ${recorded} events in ${step + 1} series`).toBeLessThan(allowedBytes);
  }
  expect(recorded).toBeGreaterThan(10_000_000);
  expect(most).toBeGreaterThan(2 * FIXED_BYTES);
  lives = [];
  expect((await externalBytes()) - baselineBytes).toBeLessThan(FIXED_BYTES);
});
