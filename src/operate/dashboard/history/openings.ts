import { openingsKey } from "../../history/names.ts";
import { objectsIn } from "../../history/read-outcomes.ts";
import { lines } from "../../history/steps/lines.ts";
import type { BreakerOpening } from "../parts.ts";
import type { Listed, Scope } from "../scope.ts";

const MAX_SHOWN = 100;
const CAUSES = ["calls", "probe", "order"];

/** The openings of a circuit, the latest first. */
export async function openingsOf({ store }: Scope, { name }: Listed): Promise<BreakerOpening[]> {
  const { list } = await store.run(lines, openingsKey(store, name), { line: "", isWanted: true });
  const found = new Map<number, BreakerOpening>();
  for (const each of objectsIn(list)) {
    const { atMs, cause, calls, failures, slow } = each as unknown as BreakerOpening;
    const areNumbers = [atMs, calls, failures, slow].every((value) => typeof value === "number");
    // A process that missed the half-open state does not know that a probe failed.
    if (areNumbers && CAUSES.includes(cause) && found.get(atMs)?.cause !== "probe")
      found.set(atMs, { atMs, cause, calls, failures, slow });
  }
  return [...found.values()].sort((a, b) => b.atMs - a.atMs).slice(0, MAX_SHOWN);
}
