import { BIN_MS, BINS } from "../../generated/layouts/history.ts";
import type { Store } from "../../store/contract.ts";
import { type CountedKind, OUTCOMES, type Outcome, outcomesKey, ringKey } from "./names.ts";
import { count } from "./steps/count.ts";
import { lines } from "./steps/lines.ts";

/** The reports of one bin. Processes report in its middle, and count from the middle of the one before. */
export interface PastCount {
  /** The begin of the bin, which is the middle of that time. */
  readonly atMs: number;
  readonly count: number;
}

/** A count of a structure, with its past. */
export interface PastOutcome extends Outcome {
  /** In no order. Bins in which nothing happened are left out. */
  readonly past: readonly PastCount[];
}

/**
 * The counts of a structure, allowed ones first, with their past from `fromMs` on, and the server's time. `fromMs` is passed
 * the server's time. A history goes back 3 hours.
 */
export async function readOutcomes(
  store: Store,
  kind: CountedKind,
  name: string,
  fromMs: (nowMs: number) => number,
): Promise<{ nowMs: number; outcomes: PastOutcome[] }> {
  const { nowMs, list } = await store.run(lines, outcomesKey(store, kind, name), { line: "", isWanted: true });
  const found = new Map<string, Outcome>();
  for (const { outcome, policy } of objectsIn(list))
    if (typeof policy === "string" && OUTCOMES.includes(outcome as Outcome["outcome"]))
      found.set(`${OUTCOMES.indexOf(outcome as Outcome["outcome"])} ${policy}`, { outcome, policy } as Outcome);
  const first = Math.floor(fromMs(nowMs) / BIN_MS);
  const bins = Math.min(BINS, Math.max(1, Math.floor(nowMs / BIN_MS) - first + 1));
  const outcomes = [...found.keys()].sort().map(async (key): Promise<PastOutcome> => {
    const outcome = found.get(key)!;
    const read = await store.run(count, ringKey(store, kind, name, outcome), { added: 0, bins });
    // A place of the ring may still have the bin of an earlier round.
    const oldest = Math.max(first, Math.floor(read.nowMs / BIN_MS) - BINS + 1);
    const kept = read.bins.filter((bin) => bin.number >= oldest && bin.count > 0);
    return { ...outcome, past: kept.map((bin) => ({ atMs: bin.number * BIN_MS, count: bin.count })) };
  });
  return { nowMs, outcomes: await Promise.all(outcomes) };
}

/** The objects of a list of lines. Lines that another program wrote are left out. */
export function objectsIn(list: string): Record<string, unknown>[] {
  return list.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line.replace(/^\d+ /, ""));
      return typeof value === "object" && value !== null ? [value as Record<string, unknown>] : [];
    } catch {
      return [];
    }
  });
}
