import type { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { OrielError } from "../../src/base/errors.ts";
import { groupsKey } from "../../src/engine/groups/dictionary.ts";
import { GroupNames } from "../../src/engine/groups/group-names.ts";
import { SeriesGroup } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { type OpenStore, onRedis } from "../harness/clock/stepped-stores.ts";

const RETENTION_MS = 3_600_000;
const APPEND = "groups/append-in-groups";

let opened: OpenStore;
beforeAll(async () => {
  opened = await onRedis();
});
afterAll(() => opened.close());
beforeEach(() => opened.clear());

const open = (store: Store) => new SeriesGroup(store, "g", { labels: ["a"], retention: RETENTION_MS });
const keyOf = () => opened.store.keyOf("g");
const loseNames = () => (opened.client as Redis).del(groupsKey(keyOf()));

/** Another process begins a dictionary, and has not closed the chunk of the earlier one yet. */
function beginNames(): Promise<void> {
  const settings = { labels: ["a"], maxGroups: 9, retentionMs: RETENTION_MS, entropy: () => 7, onFull: () => {} };
  return new GroupNames(opened.store, keyOf(), settings).add([["other"]]);
}

/**
 * A store whose first append is sent once or twice, and is answered once. `before` happens just before the copy with the answer.
 * Afterwards no request named `away` is sent.
 */
function lossy(copies: 1 | 2, before: () => Promise<unknown>, away?: string): Store {
  const { store } = opened;
  let [isFirst, isAway] = [true, false];
  const run: Store["run"] = async (operation, key, input, options) => {
    if (isAway && operation.name === away) throw new OrielError("UNAVAILABLE", "away", { transient: true });
    if (operation.name !== APPEND || !isFirst) return store.run(operation, key, input, options);
    isFirst = false;
    if (copies === 2) await store.run(operation, key, input);
    await before();
    isAway = true;
    return store.run(operation, key, input, copies === 2 ? { ...options, ranOnce: undefined } : options);
  };
  return { ...store, monotonic: store.monotonic, keyOf: (name) => store.keyOf(name), run };
}

/** What becomes of the second event of a series, which knows the time and the names when it is recorded. */
async function recorded(store: Store, options?: { at: number }) {
  await open(opened.store).record(1, { a: "b" });
  const group = open(store);
  await group.stats();
  const error = await group.record(2, { a: "b" }, options).then(
    () => expect.fail("it was recorded"),
    (reason) => reason as OrielError,
  );
  const { rows } = await open(opened.store).stats();
  return { code: error.code, applied: error.applied, stored: rows.reduce((sum, { count }) => sum + count, 0) };
}

test.each([
  ["the names cannot be read again", "groups/intern"],
  ["the next append is not sent", APPEND],
])("an append that was refused is not applied, and of one sent twice nobody knows: %s", async (_, away) => {
  const once = await recorded(lossy(1, loseNames, away));
  expect(once).toEqual({ code: "UNAVAILABLE", applied: "no", stored: 1 });
  await opened.clear();
  const twice = await recorded(lossy(2, loseNames, away));
  expect(twice).toEqual({ code: "UNAVAILABLE", applied: "unknown", stored: 2 });
});

test("nobody knows of one sent twice either if the chunk of the earlier names cannot be closed", async () => {
  const before = async () => {
    await loseNames();
    await beginNames();
  };
  const twice = await recorded(lossy(2, before, "journal/rotate"));
  expect(twice).toEqual({ code: "UNAVAILABLE", applied: "unknown", stored: 2 });
});

test("an event that is late after its names were lost is not applied, and of one sent twice nobody knows", async () => {
  const lateThen = async () => {
    opened.clock.nowMs += 1000;
    await loseNames();
  };
  const options = () => ({ at: opened.clock.nowMs - RETENTION_MS + 500 });
  expect(await recorded(lossy(1, lateThen), options())).toMatchObject({ code: "LATE", applied: "no" });
  await opened.clear();
  expect(await recorded(lossy(2, lateThen), options())).toMatchObject({ code: "LATE", applied: "unknown" });
});
