import { OrielError } from "../../errors.ts";
import { law } from "../../journal/format/law.ts";

/**
 * Refuses events that the store would refuse, as near as a process can tell that does not reach it. What is refused here may
 * be in the store by an append without an answer (`mayBeApplied`): by another time than this process's guess.
 */
export function checkTimes(times: Float64Array, serverMs: number, fromMs: number, mayBeApplied: boolean): void {
  const applied = mayBeApplied ? "unknown" : "no";
  for (const atMs of times) {
    if (atMs - serverMs > law.earlyMs) {
      const text = `at: an event is more than ${law.earlyMs} ms ahead of the server's clock`;
      throw new OrielError("EARLY", text, { applied });
    }
    if (atMs < fromMs) throw new OrielError("LATE", "at: an event is older than the retention", { applied });
  }
}
