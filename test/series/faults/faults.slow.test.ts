import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { WindowStats } from "../../../src/engine/stats/window-stats.ts";
import { redisStore, Series } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { builtProgram } from "../../harness/built-program.ts";
import { type FaultProxy, startProxy } from "../../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { isWrite } from "../contract/changed-store.ts";

const options = { retention: "10m", values: "float64" } as const;
const NAME = "shared";

/** What became of each value: a value that was not acknowledged may be there. */
class Ledger {
  readonly acknowledged: number[] = [];
  readonly recorded = new Set<number>();
  #drawn = 0;

  draw(count: number): number[] {
    const values = Array.from({ length: count }, () => ++this.#drawn);
    for (const value of values) this.recorded.add(value);
    return values;
  }

  expectKept(values: ArrayLike<number>): void {
    const times = new Map<number, number>();
    for (const value of Array.from(values)) times.set(value, (times.get(value) ?? 0) + 1);
    expect([...times].filter(([, count]) => count > 1).map(([value]) => value)).toEqual([]);
    expect([...times.keys()].filter((value) => !this.recorded.has(value))).toEqual([]);
    expect(this.acknowledged.filter((value) => !times.has(value))).toEqual([]);
  }
}

function random(seed: number): (most: number) => number {
  let state = seed >>> 0;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

let server: RedisServer;
let proxy: FaultProxy;
let direct: Redis;
let stores: Store[] = [];

beforeAll(async () => {
  server = await startRedis({ tcp: true });
  proxy = await startProxy(server.port);
  direct = new Redis(server.url);
});
beforeEach(() => direct.flushall());
afterAll(async () => {
  direct.disconnect();
  await proxy.close();
  await server.stop();
});

/** A series with a connection of its own, through the proxy or past it. */
function open(url = proxy.url, change: (store: Store) => Store = (store) => store): Series {
  const store = redisStore(url, { deadline: 2000 });
  stores.push(store);
  return new Series(change(store), NAME, options);
}

async function closeAll(): Promise<void> {
  proxy.delay(0);
  await Promise.all(stores.splice(0).map((store) => store.close()));
  stores = [];
}

/** Sends every write twice, the second over another connection and later, as a network may. */
function repeating(store: Store): Store {
  const other = redisStore(server.url);
  stores.push(other);
  const run: Store["run"] = (operation, key, input, runOptions) => {
    if (isWrite(operation.name))
      pause(20)
        .then(() => other.run(operation, key, input))
        .catch(() => {});
    return store.run(operation, key, input, runOptions);
  };
  return { ...store, run };
}

/** Calls fail at once while a store takes the server for down: it is back when a probe on a new connection says so. */
async function answered(series: Series, untilMs = performance.now() + 240_000): Promise<WindowStats> {
  return series.stats().catch(async (error) => {
    if (!error.transient || performance.now() > untilMs) throw error;
    await pause(50);
    return answered(series, untilMs);
  });
}

const troubles: ((pick: (most: number) => number) => unknown)[] = [
  (pick) => proxy.dropReplies(1 + pick(3)),
  (pick) => proxy.dropRequests(1 + pick(3)),
  // biome-ignore lint/suspicious/noThenProperty: the harness names it so; nobody awaits these options.
  () => proxy.dropReplies(1, { then: "silence" }),
  () => proxy.cut(),
  () => direct.script("FLUSH"),
];

describe("through a network that loses, cuts, delays and repeats", () => {
  test.each([1, 2, 3, 4])("each acknowledged event is there once (seed %d)", async (seed) => {
    const pick = random(seed * 7919);
    const ledger = new Ledger();
    const writers = [open(), open(), open(proxy.url, repeating), open(server.url, repeating)];
    const failures: string[] = [];
    const untilMs = performance.now() + 2500;
    // One delay for the whole run: replies must not overtake each other.
    proxy.delay(3 * (seed - 1));
    let isOver = false;
    const untidy = (async () => {
      while (!isOver) {
        await troubles[pick(troubles.length)]!(pick);
        await pause(40 + pick(80));
      }
    })();
    const write = async (series: Series, w: number) => {
      for (let i = 0; i < 12 || (i < 30 && performance.now() < untilMs); i++) {
        const values = ledger.draw([1, 8000, 3, 6000][(i + w) % 4]!);
        const isSingle = values.length === 1;
        const call = isSingle ? series.recordAndGet(values[0]!, { percentiles: [50] }) : series.recordMany(values);
        await call.then(
          () => ledger.acknowledged.push(...values),
          (error) => {
            failures.push(`${error.code}: ${error.message}: ${error.cause}`);
            // An outage, in which calls fail at once, does not use up all calls.
            return pause(30);
          },
        );
        if (i % 5 === w)
          await series
            .stats({ percentiles: [50] })
            .catch((error) => failures.push(`${error.code}: ${error.message}: ${error.cause}`));
      }
    };
    await Promise.all(writers.map(write));
    isOver = true;
    await untidy;
    proxy.delay(0);
    proxy.dropReplies(0);
    proxy.dropRequests(0);
    await pause(50);

    expect(failures.filter((text) => !/^(UNAVAILABLE|DEADLINE|STALE): /.test(text))).toEqual([]);
    const fresh = await open(server.url).values();
    ledger.expectKept(fresh);
    const all = await Promise.all([...writers, open(server.url)].map((each) => answered(each)));
    const { from: _from, to: _to, ...truth } = all.at(-1)!;
    expect(truth).toMatchObject({ count: fresh.length, degraded: false });
    for (const { count, sum, min, max, percentiles } of all)
      expect({ count, sum, min, max, percentiles }).toEqual({
        ...{ count: truth.count, sum: truth.sum, min: truth.min, max: truth.max, percentiles: truth.percentiles },
      });
    for (const key of await direct.keys("*")) expect(await direct.pttl(key)).toBeGreaterThan(0);
    expect((await direct.keys("*")).length).toBeGreaterThan(1);
    await closeAll();
  });

  test("while Redis is unreachable each call fails with one clear error, and works afterwards", async () => {
    const series = open();
    await series.record(1);
    proxy.refuse(true);
    proxy.cut();
    const calls = [series.record(2), series.stats(), series.recordAndGet(3), series.values()];
    for (const result of await Promise.allSettled<unknown>(calls))
      expect(result).toMatchObject({
        status: "rejected",
        reason: { name: "OrielError", code: expect.stringMatching(/^(UNAVAILABLE|DEADLINE)$/), transient: true },
      });
    proxy.refuse(false);
    await expect
      .poll(() =>
        series.record(4).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect([...(await series.values())]).toEqual([...(await open(server.url).values())]);
    await closeAll();
  });
});

describe("processes", () => {
  const script = builtProgram(new URL("../contract/recorder.ts", import.meta.url));

  function start(url: string, first: number, count: number) {
    const child = spawn(process.execPath, [script, url, NAME, `${first}`, `${count}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const acknowledged: number[] = [];
    let rest = "";
    child.stdout.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      acknowledged.push(...lines.map(Number));
    });
    return { child, acknowledged, ended: once(child, "close") };
  }

  test("share one series, and a killed one loses no acknowledged event", async () => {
    const reader = open(server.url);
    const ledger = new Ledger();
    ledger.draw(3_000_000);
    const [one, two, killed] = [
      start(server.url, 1, 1500),
      start(proxy.url, 1_000_001, 1500),
      start(server.url, 2_000_001, 900_000),
    ];
    let isOver = false;
    Promise.all([one!.ended, two!.ended]).then(() => {
      isOver = true;
    });
    let dropped = 0;
    for (let seen = 0; !isOver; ) {
      const { count } = await reader.stats();
      expect(count).toBeGreaterThanOrEqual(seen);
      seen = count;
      if (two!.acknowledged.length > 200 * (dropped + 1) && dropped++ < 4) proxy.dropReplies(1);
      await pause(10);
    }
    expect([await one!.ended, await two!.ended]).toEqual([
      [0, null],
      [0, null],
    ]);
    await expect.poll(() => killed!.acknowledged.length).toBeGreaterThan(100);
    killed!.child.kill("SIGKILL");
    await killed!.ended;
    expect([one!.acknowledged.length, two!.acknowledged.length]).toEqual([1500, 1500]);
    ledger.acknowledged.push(...one!.acknowledged, ...two!.acknowledged, ...killed!.acknowledged);
    const fresh = await open(server.url).values();
    ledger.expectKept(fresh);
    expect(await reader.values()).toEqual(fresh);
    await closeAll();
  });
});
