import { Series } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { nameOf, optionsOf, retentionMsOf } from "./plan.ts";

/** Compares one window from a kept copy with one from a cold read. Returns the difference, if any. */
export async function compare(store: Store, kept: Series, index: number): Promise<string | undefined> {
  const { to } = await kept.stats();
  // The journal has all stamps before this answer's instant, so the window no longer changes.
  const window = { at: to - 1, span: retentionMsOf(index) / 2, percentiles: [0, 37, 50, 99, 100] };
  const cold = new Series(store, nameOf(index), optionsOf(index));
  try {
    const [here, there] = await Promise.all([kept.stats(window), cold.stats(window)]);
    const [a, b] = [here, there].map(({ variance, mean, std, degraded, degradedBy, ...exact }) =>
      JSON.stringify(exact),
    );
    if (a !== b) return `series ${index}: the copy says ${a}, a cold read ${b}`;
    for (const { degradedBy } of [here, there]) if (degradedBy === "lost") return `series ${index}: marked as lost`;
    const isSame = here.count === 0 || Math.abs(here.variance - there.variance) <= 1e-9 * there.variance;
    if (!isSame) return `series ${index}: variances ${here.variance} and ${there.variance}`;
  } finally {
    await cold.close();
  }
}
