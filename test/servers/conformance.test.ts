import { beforeAll, describe, expect, test } from "vitest";
import { memoryStore, OrielError } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import type { Subject } from "../fuzz/subject.ts";
import { SUBJECTS } from "../fuzz/subjects.ts";
import { atEnd } from "../harness/ends.ts";
import type { Servers } from "../matrix/servers.ts";
import { storeOn } from "../store/contract/clients.ts";
import { serverForms } from "./forms.ts";
import { rareSteps } from "./rare-steps.ts";
import { STEPS } from "./steps.ts";

/** How each call of a structure ends: "answered", or the code of its error. Then its check of exact answers. */
async function outcomesOf(subject: Subject, store: Store, name: string): Promise<Record<string, string>> {
  const driven = subject.open(store, name, "1m");
  const exact = subject.open(store, `${name}-exact`, "1h");
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
  return outcomes;
}

/** All structures at once: their waits cost no CPU. `names`: how the names of their keys begin. */
async function outcomesOn(store: Store, names: string): Promise<Record<string, Record<string, unknown>>> {
  const all = SUBJECTS.map(
    async (subject, i) => [subject.name, await outcomesOf(subject, store, `${names}${i}`)] as const,
  );
  return { ...Object.fromEntries(await Promise.all(all)), rare: await rareSteps(store, `${names}-rare`) };
}

let expected: Record<string, Record<string, unknown>>;
beforeAll(async () => {
  const store = memoryStore();
  expected = await outcomesOn(store, "memory");
  await store.close();
});

test("the memory store answers the calls of every structure", () => {
  expect(Object.keys(expected)).toEqual([...SUBJECTS.map(({ name }) => name), "rare"]);
  for (const { name } of SUBJECTS) expect(Object.values(expected[name]!)).toContain("answered");
});

/** With scripts, or with functions. */
async function expectConformance(servers: Servers, scripting: "eval" | "functions"): Promise<void> {
  const given = await servers.connect();
  const own = storeOn(given, { deadline: 5000, ...(scripting === "functions" && { scripting }) });
  const seen = new Set<string>();
  const run: Store["run"] = (operation, ...call) => {
    seen.add(operation.name);
    return own.run(operation, ...call);
  };
  try {
    expect(await outcomesOn({ ...own, run }, scripting)).toEqual(expected);
    expect(STEPS.filter((step) => !seen.has(step))).toEqual([]);
  } finally {
    await own.close();
    await given.end();
  }
}

describe("each call of every structure ends as in memory, and every step runs", () => {
  for (const [name, start] of Object.entries(serverForms())) {
    if (typeof start === "object") test.skip(`${name}: ${start.missing}`, () => {});
    else
      test(name, async () => {
        const servers = await start();
        atEnd(() => servers.raw.disconnect());
        await servers.flush();
        await Promise.all((["eval", "functions"] as const).map((each) => expectConformance(servers, each)));
      });
  }
});
