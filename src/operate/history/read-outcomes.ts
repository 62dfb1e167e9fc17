import type { Store } from "../../store/contract.ts";
import { type Outcome, outcomesKey } from "./names.ts";
import { lines } from "./steps/lines.ts";

const ORDER = ["allowed", "denied", "shadow"];

/** The outcomes that a limiter's history has, allowed ones first, and the server's time. */
export async function readOutcomes(store: Store, limiter: string): Promise<{ nowMs: number; outcomes: Outcome[] }> {
  const { nowMs, list } = await store.run(lines, outcomesKey(store, limiter), { line: "", isWanted: true });
  const found = new Map<string, Outcome>();
  for (const { outcome, policy } of objectsIn(list))
    if (typeof policy === "string" && ORDER.includes(outcome as string))
      found.set(`${ORDER.indexOf(outcome as string)} ${policy}`, { outcome, policy } as Outcome);
  const keys = [...found.keys()].sort();
  return { nowMs, outcomes: keys.map((key) => found.get(key)!) };
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
