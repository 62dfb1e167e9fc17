import { afterEach, describe, expect, test } from "vitest";
import { memoryStore, OrielError, Series, ShardedSeries, type ShardedSeriesOptions } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { expectError } from "../series/contract/stage.ts";

const clock = { nowMs: Date.UTC(2100, 0, 1) };
const made: { close(): Promise<void> }[] = [];

/** A server that can be cut off. */
function server() {
  const now = () => clock.nowMs;
  const memory = memoryStore({ clock: now, registry: false });
  const state = { isCut: false, calls: 0 };
  const store: Store = {
    ...memory,
    monotonic: now,
    run(operation, key, input, options) {
      state.calls++;
      if (!state.isCut) return memory.run(operation, key, input, options);
      const error = new OrielError("UNAVAILABLE", "cut off", { transient: true, applied: "no" });
      return Promise.reject(error);
    },
  };
  made.push(memory);
  return { store, state };
}

function listed(servers: readonly { store: Store }[], options: ShardedSeriesOptions = {}) {
  const series = new ShardedSeries(
    servers.map(({ store }) => store),
    "api",
    { retention: "1h", ...options },
  );
  made.unshift(series);
  return series;
}

afterEach(async () => {
  for (const each of made.splice(0)) await each.close();
});

describe("a list of servers", () => {
  test("has one shard each; every process finds all events", async () => {
    const servers = [server(), server(), server()];
    const [one, other] = [listed(servers), listed(servers)];
    for (let i = 1; i <= 30; i++) await (i % 2 ? one : other).record(i);
    expect(one.shards).toBe(3);
    for (const series of [one, other, listed(servers)])
      expect(await series.stats()).toMatchObject({ count: 30, sum: 465, min: 1, max: 30, degraded: false });
    const alone = await Promise.all(servers.map((each) => listed([each]).stats()));
    expect(alone.map(({ count }) => count)).toEqual([10, 10, 10]);
    // A process that knows one of them says what it lacks.
    for (const answer of alone)
      expect(answer).toMatchObject({ degraded: true, degradedBy: "shards", missingShare: 2 / 3 });
    await expectError(listed([servers[0]!]).values(), "MISMATCH", /67 % of the shards are on servers that this/);
  });

  test("in another order is a mismatch, and nothing is written to any server", async () => {
    const servers = [server(), server(), server()];
    await listed(servers).record(1);
    for (const others of [[1, 0, 2], [0, 2, 1], [2, 1], [0, 1], [0]]) {
      const series = listed(others.map((i) => servers[i]!));
      await expectError(
        series.record(2),
        "MISMATCH",
        /in 3 shards, and this one in|number \d of a list for this process/,
      );
      await expectError(series.recordAndGet(2), "MISMATCH");
    }
    const one = new ShardedSeries(servers[0]!.store, "api", { shards: 3, retention: "1h" });
    await expectError(
      one.record(2),
      "MISMATCH",
      /this server is the only one for this process, and number 1 of a list for others/,
    );
    expect((await listed(servers).stats()).count).toBe(1);
  });

  test("may grow: who knows the shorter list records on, and says what it lacks", async () => {
    const servers = [server(), server(), server()];
    const plain = new Series(servers[0]!.store, "api", { retention: "1h" });
    await plain.record(0);
    const short = listed(servers.slice(0, 2));
    await short.record(1);
    const long = listed(servers);
    expect(await long.stats()).toMatchObject({ count: 2, degraded: false });
    for (let i = 2; i < 8; i++) await long.record(i);
    await short.record(8);
    expect(await long.stats()).toMatchObject({ count: 9, degraded: false });
    expect(await short.stats()).toMatchObject({ count: 7, degraded: true, degradedBy: "shards", missingShare: 0.25 });
    clock.nowMs += 2 * 3_600_000 + 1;
    expect(await listed(servers).stats()).toMatchObject({ count: 0, degraded: false });
    expect(await listed(servers.slice(0, 2)).stats()).toMatchObject({ count: 0, degraded: false });
    await plain.close();
  });

  test("a server that is cut off: answers say which share they lack, and events go to the others", async () => {
    const servers = [server(), server(), server()];
    const series = listed(servers);
    for (let i = 0; i < 9; i++) await series.record(i);
    expect(await series.stats()).toMatchObject({ count: 9, degraded: false });
    servers[1]!.state.isCut = true;
    for (const one of [series, listed(servers)]) {
      const answer = await one.stats();
      expect(answer).toMatchObject({ count: 6, degraded: true, degradedBy: "shards" });
      expect(answer.missingShare).toBe(1 / 3);
      expect(await one.timeline({ every: "1m" })).toMatchObject({ degraded: true, degradedBy: "shards" });
      expect(await one.histogram({ bounds: [1] })).toMatchObject({ count: 6, degradedBy: "shards" });
      expect((await one.compare({ span: "1m", before: "1m" })).current).toMatchObject({ degradedBy: "shards" });
      await expectError(one.values(), "UNAVAILABLE");
      await expectError(one.fractionBelow(1), "UNAVAILABLE");
    }
    const lost: OrielError[] = [];
    for (let i = 0; i < 12; i++) await series.record(i).catch((error) => lost.push(error));
    // It is known that the server is away.
    expect(lost).toEqual([]);
    expect(await series.stats()).toMatchObject({ count: 18 });
    servers[1]!.state.isCut = false;
    expect(await series.stats()).toMatchObject({ count: 21, degraded: false });
    servers[1]!.state.calls = 0;
    for (let i = 0; i < 9; i++) await series.record(i);
    expect(servers[1]!.state.calls).toBeGreaterThan(2);
  });

  test("if a call finds it cut off, the next ones leave it out, and it is tried again after a second", async () => {
    const servers = [server(), server()];
    const series = listed(servers);
    await series.record(0);
    servers[0]!.state.isCut = true;
    servers[1]!.state.isCut = false;
    const lost: OrielError[] = [];
    for (let i = 0; i < 6; i++) await series.record(i).catch((error) => lost.push(error));
    expect(lost.length).toBe(1);
    expect(lost[0]).toMatchObject({ code: "UNAVAILABLE", applied: "no" });
    servers[0]!.state.isCut = false;
    const { calls } = servers[0]!.state;
    for (let i = 0; i < 6; i++) await series.record(i);
    expect(servers[0]!.state.calls).toBe(calls);
    clock.nowMs += 1000;
    for (let i = 0; i < 6; i++) await series.record(i);
    expect(servers[0]!.state.calls).toBeGreaterThan(calls + 2);
    expect(await series.stats()).toMatchObject({ count: 18, degraded: false });
  });

  test("nothing is recorded before the spread is noted on every server", async () => {
    const servers = [server(), server()];
    servers[1]!.state.isCut = true;
    const series = listed(servers);
    await expectError(series.record(1), "UNAVAILABLE");
    servers[1]!.state.isCut = false;
    expect(await series.stats()).toMatchObject({ count: 0, degraded: false });
    await series.record(1);
    servers[1]!.state.isCut = true;
    clock.nowMs += 30 * 60_000 - 1;
    // One call may find that the server is away.
    for (const value of [2, 3]) await series.record(value).catch(() => {});
    await series.record(4);
    clock.nowMs += 1;
    await expectError(series.record(5), "UNAVAILABLE");
  });
});

describe("a process that begins while a server of the list is away", () => {
  test("records in the rest for as long as the others may that had noted the list on every server", async () => {
    const servers = [server(), server(), server()];
    const before = listed(servers);
    await before.record(1);
    clock.nowMs += 20_000;
    await before.record(2); // it says that it had noted the list on every server
    servers[2]!.state.isCut = true;
    const later = listed(servers);
    const lost: OrielError[] = [];
    for (let i = 3; i < 9; i++) await later.record(i).catch((error) => lost.push(error));
    expect(lost.every(({ applied }) => applied === "no")).toBe(true);
    expect(lost.length).toBeLessThan(2);
    for (const one of [before, later])
      expect(await one.stats()).toMatchObject({ degraded: true, degradedBy: "shards", missingShare: 1 / 3 });
    // The one that it follows noted the list 20 s ago.
    clock.nowMs += 30 * 60_000 - 20_001;
    await later.record(9);
    await later.record(10);
    clock.nowMs += 1;
    await expectError(later.record(11), "UNAVAILABLE");
    await expectError(listed(servers).record(12), "UNAVAILABLE");
    servers[2]!.state.isCut = false;
    await later.record(13);
    expect(await before.stats()).toMatchObject({ count: 11 - lost.length, degraded: false });
  });

  test("waits if the list may be new to that server: who knows only that one would not find the events", async () => {
    const servers = [server(), server(), server()];
    const short = listed(servers.slice(0, 1));
    await short.record(1);
    servers[0]!.state.isCut = true;
    for (let i = 0; i < 3; i++) {
      await expectError(listed(servers).record(2), "UNAVAILABLE");
      clock.nowMs += 20_000;
    }
    servers[0]!.state.isCut = false;
    expect(await short.stats()).toMatchObject({ count: 1, degraded: false });
    await listed(servers).record(3);
    expect(await short.stats()).toMatchObject({ degraded: true, degradedBy: "shards" });
  });

  test("is refused by the rest as before", async () => {
    const servers = [server(), server(), server()];
    const before = listed(servers);
    await before.record(1);
    clock.nowMs += 20_000;
    await before.record(2);
    servers[2]!.state.isCut = true;
    await expectError(listed(servers, { values: "float64" }).record(3), "MISMATCH");
    await expectError(listed([servers[1]!, servers[0]!, servers[2]!]).record(3), "MISMATCH");
  });
});

test("bad input is refused by name, value and bound", () => {
  const [store, other] = [server().store, server().store];
  const refused = (make: () => unknown, text: RegExp) => expect(make).toThrow(text);
  for (const shards of [0, 257, 1.5, "4", null])
    refused(
      () => new ShardedSeries(store, "s", { shards } as never),
      /shards is .*; it must be a whole number from 1 to 256/,
    );
  refused(() => new ShardedSeries(store, "s", {}), /ShardedSeries "s": shards is undefined; it must be a whole number/);
  refused(() => new ShardedSeries([], "s"), /store is undefined/);
  refused(() => new ShardedSeries([store, other], "s", { shards: 3 }), /shards is 3; it must be left out, or 2/);
  refused(() => new ShardedSeries([store, {} as never], "s"), /store/);
  refused(() => new ShardedSeries(store, "s", { shard: 3 } as never), /unknown option "shard"|shard/);
  refused(() => new ShardedSeries(store, "", { shards: 3 }), /name/);
});
