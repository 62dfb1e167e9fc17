import type { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SeriesGroup } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { type OpenStore, onRedis } from "../harness/clock/stepped-stores.ts";
import { restoreKeys, savedKeys } from "./redis-copies.ts";

let opened: OpenStore;
let redis: Redis;
beforeAll(async () => {
  opened = await onRedis();
  redis = opened.client as Redis;
});
afterAll(() => opened.close());
beforeEach(() => opened.clear());

/** The names may lack the last group, or be gone. */
type Kept = "the base" | "nothing";

/** Takes back what happens after the call. */
async function copied(kept: Kept): Promise<() => Promise<void>> {
  const keys = kept === "nothing" ? [] : await savedKeys(redis);
  return () => restoreKeys(redis, keys);
}

const groupOn = (store: Store) => new SeriesGroup(store, "g", { labels: ["label"] });
type Group = ReturnType<typeof groupOn>;
const VALUES: Record<string, number> = { base: 1, before: 2, after: 3 };
const record = (group: Group, label: string) => group.record(VALUES[label]!, { label });

/** Each event has the value of its label. */
function expectOwn(rows: Awaited<ReturnType<Group["stats"]>>["rows"]): void {
  for (const { labels, min, max } of rows)
    if (labels.label !== "_other")
      expect([labels.label, min, max]).toEqual([labels.label, ...[VALUES[labels.label], VALUES[labels.label]]]);
}

describe.each(["the base", "nothing"] as const)("after a failover that leaves %s", (kept) => {
  test.each([0, 1, 2, 3, 4, 5])("before request %i of a question, no event counts for another group", async (which) => {
    let requests = 0;
    let fail = async () => {};
    const store: Store = {
      ...opened.store,
      async run(operation, key, input, options) {
        if (requests++ === which) await fail();
        return opened.store.run(operation, key, input, options);
      },
    };
    const [asking, before, after] = [groupOn(store), groupOn(opened.store), groupOn(opened.store)];
    await record(before, "base");
    await asking.stats();
    const takeBack = await copied(kept);
    await record(before, "before");
    fail = async () => {
      await takeBack();
      await record(after, "after");
    };
    requests = 0;
    const answer = await asking.stats();
    expectOwn(answer.rows);
    const counted = answer.rows.map(({ labels }) => labels.label);
    // The answer has the events of one instant.
    if (!answer.degraded) expect(counted.includes("before")).toBe(!counted.includes("after"));
    expectOwn((await asking.stats()).rows);
    for (const group of [asking, before, after]) await group.close();
  });

  test("a copy from before it does not get the names from after it", async () => {
    const [asking, other] = [groupOn(opened.store), groupOn(opened.store)];
    await record(asking, "base");
    const takeBack = await copied(kept);
    await record(other, "before");
    expect((await asking.stats()).rows.length).toBe(2);
    await takeBack();
    await record(asking, "after");
    const { rows } = await asking.stats({ maxAge: "1m" });
    expectOwn(rows);
    expect(rows.map(({ labels }) => labels.label)).toContain("after");
    for (const group of [asking, other]) await group.close();
  });
});

test("a young copy is used without a request", async () => {
  let requests = 0;
  const store: Store = {
    ...opened.store,
    run(operation, key, input, options) {
      requests++;
      return opened.store.run(operation, key, input, options);
    },
  };
  const group = groupOn(store);
  for (const label of ["base", "before"]) await record(group, label);
  const answer = await group.stats({ maxAge: "1m" });
  requests = 0;
  expect(await group.stats({ maxAge: "1m" })).toEqual(answer);
  expect(requests).toBe(0);
  expect((await group.stats()).rows).toEqual(answer.rows);
  expect(requests).toBe(2);
  await group.close();
});
