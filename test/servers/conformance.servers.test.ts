import { beforeAll, describe, expect, test } from "vitest";
import { memoryStore } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { SUBJECTS } from "../fuzz/subjects.ts";
import { atEnd } from "../harness/ends.ts";
import type { Servers } from "../matrix/servers.ts";
import { storeOn } from "../store/contract/clients.ts";
import { driveAll } from "../store/restricted/drive.ts";
import { serverForms } from "./forms.ts";
import { rareSteps } from "./rare-steps.ts";
import { STEPS } from "./steps.ts";

/** How each call of every structure ends, and each rare step. `names`: how the names of their keys begin. */
async function outcomesOn(store: Store, names: string): Promise<Record<string, Record<string, unknown>>> {
  return { ...(await driveAll(store, names)), rare: await rareSteps(store, `${names}-rare`) };
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
