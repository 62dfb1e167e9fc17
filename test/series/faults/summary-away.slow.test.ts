import { describe, expect, test } from "vitest";
import { OrielError, Series } from "../../../src/entries/index.ts";
import { counted, shortChunks } from "../cold-journal.ts";
import { storeWith } from "../contract/changed-store.ts";
import { expectError } from "../contract/stage.ts";

const OPTIONS = { values: "float64", retention: "60s", resident: false } as const;
const approximate = { rankError: 0.5 };

/** A store of which one step's answers are held back once they are given. */
function late(held: string) {
  let release = () => {};
  let give = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const given = new Promise<void>((resolve) => (give = resolve));
  const { store, plain } = storeWith(async (name, _key, run) => {
    const answer = await run();
    if (name !== held) return answer;
    give();
    await gate;
    return answer;
  });
  return { store, plain, given, release };
}

describe("answers that overtake each other report no loss", () => {
  test("an approximate answer that arrives after a later append's", async () => {
    const { store, given, release } = late("summary/approximate");
    const series = new Series(store, "s", OPTIONS);
    await series.recordMany([1, 2, 3]);
    const asked = series.stats({ approximate });
    await given;
    await series.recordMany([4, 5, 6]);
    release();
    expect(await asked).toMatchObject({ count: 3, degraded: false });
    expect(await series.stats()).toMatchObject({ count: 6, degraded: false });
  });

  test("an append's answer that arrives after a later approximate one", async () => {
    const { store, plain, given, release } = late("journal/append");
    const [series, other] = [new Series(store, "s", OPTIONS), new Series(plain, "s", OPTIONS)];
    await other.recordMany([1, 2, 3]);
    const recorded = series.recordMany([4, 5, 6]);
    await given;
    await other.record(7);
    expect(await series.stats({ approximate })).toMatchObject({ count: 7, degraded: false });
    release();
    await recorded;
    expect(await series.stats()).toMatchObject({ count: 7, degraded: false });
  });
});

test("without a summary, a process that may cache the window does so from the second query on", async () => {
  const { store: plain } = storeWith();
  const writer = new Series(plain, "s", OPTIONS);
  await writer.recordMany([1, 2, 3]);
  for (const [resident, wanted] of [
    [true, ["summary/approximate", "journal/read-window", "journal/read"]],
    [false, ["summary/approximate", "summary/approximate", "summary/approximate"]],
  ] as const) {
    const { asked, store } = counted(plain);
    const series = new Series(store, "s", { ...OPTIONS, resident });
    for (let i = 0; i < 3; i++) expect((await series.stats({ approximate })).count).toBe(3);
    expect(asked).toEqual(wanted);
  }
});

test("a loss between two approximate answers is reported", async () => {
  const { store } = storeWith();
  const { store: shorter, plain } = storeWith();
  for (const each of [store, shorter]) await new Series(each, "s", OPTIONS).recordMany([1, 2, 3]);
  // The journal of the same number, begun anew.
  let isRolled = false;
  const run: typeof store.run = (...call) => (isRolled ? shorter : store).run(...call);
  const series = new Series({ ...store, monotonic: store.monotonic, run }, "s", OPTIONS);
  expect(await series.stats({ approximate })).toMatchObject({ count: 3, degraded: false });
  isRolled = true;
  expect(await series.stats({ approximate })).toMatchObject({ count: 3, degradedBy: "lost" });
  await plain.close();
});

test('offline, with onStoreError "local", an approximate query gets an exact answer', async () => {
  let isAway = false;
  const asked: string[] = [];
  const { store, plain } = storeWith(async (name, _key, run) => {
    asked.push(name);
    if (isAway) throw new OrielError("UNAVAILABLE", "away", { transient: true });
    return run();
  });
  const series = new Series(store, "s", { ...OPTIONS, onStoreError: "local" });
  await new Series(plain, "s", OPTIONS).recordMany([1, 2, 3]);
  expect(await series.stats({ approximate })).toMatchObject({ count: 3, degraded: false });
  isAway = true;
  const local = { count: 0, degradedBy: "local", approximate: { rankError: 0, events: 0 } };
  expect(await series.stats({ approximate })).toMatchObject(local);
  const before = asked.filter((name) => name === "summary/approximate").length;
  await series.record(4);
  expect(await series.stats({ approximate })).toMatchObject({ ...local, count: 1 });
  expect(asked.filter((name) => name === "summary/approximate").length).toBe(before);
  await series.close();
  const strict = new Series(store, "s", OPTIONS);
  await expectError(strict.stats({ approximate }), "UNAVAILABLE", /away/);
});

test("queries that accept an error are bounded like others", async () => {
  let fail = () => {};
  const silent = new Promise<never>((_, reject) => (fail = () => reject(new OrielError("DEADLINE", "silent"))));
  const { store } = storeWith(() => silent);
  const series = new Series(store, "s", OPTIONS);
  const asked = Array.from({ length: 65_536 }, () => series.stats({ approximate }));
  await expectError(series.stats({ approximate }), "OVERLOADED", /65536 queries wait/);
  await expectError(series.stats(), "OVERLOADED", /65536 queries wait/);
  fail();
  await Promise.allSettled(asked);
  await expectError(series.stats({ approximate }), "DEADLINE", /silent/);
});

test("events after a summary are read within maxResidentBytes", async () => {
  shortChunks();
  const { store } = storeWith();
  const writer = new Series(store, "s", { ...OPTIONS, resident: true });
  const fill = async (count: number) => {
    for (let i = 0; i < count; i++) await writer.recordMany(Array.from({ length: 400 }, (_, j) => i * j));
  };
  await fill(5);
  await writer.summarize({ rankError: 0.2 });
  await fill(60);
  const { asked, store: counting } = counted(store);
  const cold = new Series(counting, "s", { ...OPTIONS, maxResidentBytes: 22 * 2000 });
  await expectError(cold.stats({ approximate }), "TOO_LARGE", /maxResidentBytes/);
  expect(asked.filter((name) => name === "journal/read").length).toBeLessThan(2 * 20 + 10);
});
