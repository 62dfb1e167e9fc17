import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { deferred } from "../../../src/base/async/deferred.ts";
import { OrielError, redisStore, Series } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { StoreFailure } from "../../../src/store/health/failures.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { breakSaves, mendSaves } from "../../harness/servers/saves.ts";
import { until } from "../../harness/until.ts";
import { isWrite, storeWith } from "../contract/changed-store.ts";

const LOCAL = { degraded: true, degradedBy: "local" };
const OPTIONS = { values: "float64", onStoreError: "local", retention: "1m" } as const;

type Act = (admin: Redis, folder: string) => Promise<unknown>;
const call = (text: string): Act => {
  const [command, ...words] = text.split(" ");
  return (admin) => admin.call(command!, ...words);
};
const allowAll = call("ACL SETUSER default +@all");

/** What makes a server refuse to write, each for a reason that passes; and what ends it. */
test.concurrent.for<[string, Act, Act]>([
  ["out of memory", call("CONFIG SET maxmemory 1mb"), call("CONFIG SET maxmemory 0")],
  ["no permission for scripts", call("ACL SETUSER default -evalsha -eval"), allowAll],
  ["no permission for what a script writes first", call("ACL SETUSER default -append -set"), allowAll],
  ["too few replicas", call("CONFIG SET min-replicas-to-write 1"), call("CONFIG SET min-replicas-to-write 0")],
  ["read-only", call("REPLICAOF 127.0.0.1 1"), call("REPLICAOF NO ONE")],
  ["a save that failed", breakSaves, mendSaves],
])("events buffered because of %s are sent once afterwards", async ([, begin, end], { expect, onTestFinished }) => {
  const folder = mkdtempSync(join(tmpdir(), "oriel-hand-in-"));
  const server = await startRedis({ args: ["--enable-protected-configs", "yes", "--dir", folder] });
  const client = new Redis(server.url);
  const admin = client.duplicate();
  await admin.call("ACL", "SETUSER", "operator", "on", "nopass", "~*", "&*", "+@all");
  await admin.call("AUTH", "operator", "any");
  onTestFinished(async () => {
    for (const each of [admin, client]) each.disconnect();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const failures: StoreFailure[] = [];
  // A server that may change its mind is asked again until the deadline.
  const plain: Store = redisStore(client, { deadline: 5000 });
  let refusals = 0;
  const store: Store = {
    ...plain,
    run: (...call) => {
      const answer = plain.run(...call);
      answer.catch(() => refusals++);
      return answer;
    },
    report: (failure) => void failures.push(failure),
  };
  const series = new Series(store, "s", OPTIONS);
  const reader = new Series(plain, "s", { values: "float64", retention: "1m" });
  await until("it is connected", async () => !(await series.stats()).degraded);
  expect((await series.recordAndGet(1)).degraded).toBe(false);
  await begin(admin, folder);
  for (const value of [2, 3, 4]) expect(await series.record(value)).toEqual(LOCAL);
  expect(await series.recordMany([5, 6])).toEqual(LOCAL);
  expect(await series.stats()).toMatchObject({ ...LOCAL, count: 6, sum: 21 });
  const before = refusals;
  await until("it was tried three times to hand them in", () => refusals >= before + 3);
  expect(await series.record(7)).toEqual(LOCAL);
  expect(await series.stats()).toMatchObject({ ...LOCAL, count: 7, sum: 28 });
  await end(admin, folder);
  await until("all is in the store", async () => (await reader.stats()).count >= 7);
  await until("it is back", async () => !(await series.stats()).degraded);
  expect([...(await reader.values())].sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(await series.stats()).toMatchObject({ count: 7, sum: 28, degraded: false });
  expect(failures).toEqual([]);
  await store.close();
});

/** A store that is away until the test defines its answers to writes. */
function scene() {
  const failures: StoreFailure[] = [];
  let trouble: OrielError | undefined;
  let isOfWrites = true;
  let write = async () => {};
  const { store, plain, clock } = storeWith(async (name, _key, run) => {
    if (isWrite(name)) await write();
    if (trouble && (isWrite(name) || !isOfWrites)) throw trouble;
    return run();
  });
  const series = new Series({ ...store, report: (failure) => void failures.push(failure) }, "s", OPTIONS);
  const fail = (error?: OrielError, what: "writes" | "all" = "writes") => {
    trouble = error;
    isOfWrites = what === "writes";
  };
  /** Holds writes up from now on, until `end`. */
  const hold = () => {
    const begun = deferred();
    const ended = deferred();
    write = () => {
      begun.resolve();
      return ended.promise;
    };
    return { begun: begun.promise, end: () => ended.resolve() };
  };
  return { series, plain, clock, failures, fail, hold };
}

const away = new OrielError("UNAVAILABLE", "away", { transient: true });

test.each(["MISMATCH", "CORRUPT", "ARGUMENT"] as const)(
  "events refused with %s are given up, reported, and still in this process's answers",
  async (code) => {
    const { series, clock, failures, fail } = scene();
    await series.record(1);
    await series.stats();
    fail(away);
    expect(await series.recordMany([2, 3])).toEqual(LOCAL);
    fail(new OrielError(code, "never"));
    await until("it is reported", () => failures.length > 0);
    expect(failures).toMatchObject([{ count: 2, error: { code, structure: "Series", structureName: "s" } }]);
    fail(away);
    clock.nowMs += 1000;
    expect(await series.record(4)).toEqual(LOCAL);
    expect(await series.stats()).toMatchObject({ ...LOCAL, count: 4, sum: 10 });
    fail();
    await until("it is back", async () => !(await series.record(0)).degraded);
    // The window that lacks them says so.
    expect(await series.stats()).toMatchObject(LOCAL);
  },
);

test("buffered events that outlive the retention are reported, as are those of a closed series", async () => {
  const { series, clock, failures, fail } = scene();
  await series.record(1);
  fail(away);
  await series.recordMany([2, 3]);
  clock.nowMs += 61_000;
  expect(await series.record(4)).toEqual(LOCAL);
  await until("it is reported", () => failures.length > 0);
  expect(failures).toMatchObject([{ count: 2, error: { code: "LATE" } }]);
  await series.close();
  expect(failures.slice(1)).toMatchObject([{ count: 1, error: { code: "UNAVAILABLE", structureName: "s" } }]);
});

test("an event that is buffered while the series closes is reported", async () => {
  const { series, failures, fail, hold } = scene();
  await series.record(1);
  const { begun, end } = hold();
  const recorded = series.record(2);
  await begun;
  const closed = series.close();
  fail(away);
  end();
  expect(await recorded).toEqual(LOCAL);
  await closed;
  expect(failures).toMatchObject([{ count: 1, error: { code: "UNAVAILABLE", applied: "no", structureName: "s" } }]);
});

test("a refusal by this process's own bound is no failure of the store", async () => {
  const { series, fail } = scene();
  await series.record(1);
  fail(new OrielError("OVERLOADED", "64 MiB wait for answers", { transient: true }));
  await expect(series.record(2)).rejects.toMatchObject({ code: "OVERLOADED", applied: "no" });
  fail();
  expect(await series.record(3)).toEqual({ degraded: false });
});

test("events that may be in the store are never sent, and their number is reported once", async () => {
  const { series, plain, clock, failures, fail } = scene();
  await series.record(1);
  fail(new OrielError("DEADLINE", "no answer", { transient: true, applied: "unknown" }));
  expect(await series.record(2)).toEqual(LOCAL);
  expect(failures).toMatchObject([{ count: 1, error: { code: "DEADLINE", applied: "unknown", structureName: "s" } }]);
  // While it is away events are kept; then their appending, too, ends without an answer.
  expect(await series.recordMany([3, 4, 5])).toEqual(LOCAL);
  await until("they were sent without an answer", () => failures.length > 1);
  expect(failures.slice(1)).toMatchObject([{ count: 3, error: { code: "DEADLINE", applied: "unknown" } }]);
  fail();
  clock.nowMs += 1000;
  await until("it is back", async () => !(await series.record(0)).degraded);
  await series.close();
  expect(failures.length).toBe(2);
  const found = await new Series(plain, "s", { ...OPTIONS, onStoreError: "throw" }).values();
  expect([...found].filter((value) => value > 0)).toEqual([1]);
});

test.each(["when it is back", "when the series is closed"])(
  "the number of events recorded before the first contact is reported %s",
  async (when) => {
    const { series, failures, fail } = scene();
    fail(away, "all");
    expect(await series.record(1)).toEqual(LOCAL);
    expect(await series.recordMany([2, 3])).toEqual(LOCAL);
    if (when === "when it is back") fail();
    if (when === "when it is back") await until("it is reported", () => failures.length > 0);
    await series.close();
    expect(failures).toMatchObject([{ count: 3, error: { code: "UNAVAILABLE", applied: "no", structureName: "s" } }]);
  },
);

const DELETED = { error: { code: "UNAVAILABLE", applied: "no", structureName: "s" } };

test.each(["was reached before", "was never reached"])(
  "events buffered when the series is deleted are reported once, if the store %s",
  async (when) => {
    const { series, plain, failures, fail } = scene();
    if (when === "was reached before") await series.record(1);
    fail(away, "all");
    await series.recordMany([2, 3, 4]);
    await expect(series.delete()).rejects.toMatchObject({ code: "UNAVAILABLE", applied: "no" });
    expect(failures).toEqual([]); // Nothing was deleted, and nothing given up.
    fail(away); // Kept events are refused, and deletions are not.
    await series.delete();
    expect(failures).toMatchObject([{ ...DELETED, count: 3 }]);
    expect((await series.stats()).count).toBe(0);
    fail();
    await series.close();
    expect(failures.length).toBe(1);
    expect((await new Series(plain, "s", { ...OPTIONS, onStoreError: "throw" }).stats()).count).toBe(0);
  },
);

test("events that are being sent during a deletion, and refused, are not reported as lost", async () => {
  const { series, plain, failures, fail, hold } = scene();
  await series.record(1);
  fail(away, "all");
  await series.recordMany([2, 3, 4]);
  const held = hold();
  fail(away);
  await held.begun;
  await series.delete();
  held.end();
  await until("it is away again", async () => (await series.record(5)).degraded);
  fail();
  const reader = new Series(plain, "s", { ...OPTIONS, onStoreError: "throw" });
  await until("all kept events are sent", async () => (await reader.stats()).count >= 4);
  await series.close();
  expect([[...(await reader.values())].sort(), failures]).toEqual([[2, 3, 4, 5], []]);
});
