import { OrielError } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { SUBJECTS } from "../../fuzz/subjects.ts";

/**
 * Makes every call of every structure on a store, all structures at once because their waits cost no CPU, and checks exact
 * answers of another one of each. Returns how each call ended: "answered", or the code of its error, and the errors that were
 * only reported. `names`: how the names of the structures begin.
 */
export async function driveAll(store: Store, names = "s"): Promise<Record<string, Record<string, string>>> {
  const all = SUBJECTS.map(async (subject, i) => {
    const driven = subject.open(store, `${names}${i}`, "1m");
    const exact = subject.open(store, `${names}${i}-exact`, "1h");
    const outcomes: Record<string, string> = {};
    await Promise.all([driven.seed(), exact.seed()]);
    for (const [ask, run] of Object.entries(driven.asks))
      outcomes[ask] = await run().then(
        () => "answered",
        (error) => (error instanceof OrielError ? error.code : String(error)),
      );
    await exact.check();
    await Promise.all([driven.close(), exact.close()]);
    outcomes.reported = String([...driven.reported, ...exact.reported]);
    return [subject.name, outcomes] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}
