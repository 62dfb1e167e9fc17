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
    try {
      await everyOne([driven.seed(), exact.seed()]);
      for (const [ask, run] of Object.entries(driven.asks))
        outcomes[ask] = await run().then(
          () => "answered",
          (error) => (error instanceof OrielError ? error.code : String(error)),
        );
      await exact.check();
    } finally {
      await everyOne([driven.close(), exact.close()]);
    }
    outcomes.reported = String([...driven.reported, ...exact.reported]);
    return [subject.name, outcomes] as const;
  });
  return Object.fromEntries(await everyOne(all));
}

/** As `Promise.all`, but rejects when all have ended, so that nothing runs on beside the next test. */
async function everyOne<T>(all: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(all);
  return Promise.all(all);
}
