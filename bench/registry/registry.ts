import { Redis } from "ioredis";
import { Limiter, memoryStore, redisStore, Series, slidingWindow } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { readRegistry } from "../../src/store/registry/read-registry.ts";
import { median, operationsPerSecond, runSlice } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";

export interface RegistryOptions {
  /** Structures on the store that announces them. */
  structures: number;
  slices: number;
  sliceMs: number;
}

export const FULL_REGISTRY: RegistryOptions = { structures: 100, slices: 9, sliceMs: 500 };
export const SMALL_REGISTRY: RegistryOptions = { structures: 3, slices: 1, sliceMs: 20 };

const LIMIT = 2 ** 40;
/** More than the time to the first announcement. */
const STEP_MS = 10_000;

/** Calls on a store whose structures announce themselves, against the same calls with `registry: false`. */
export async function benchRegistry(redisUrl: string, options: RegistryOptions): Promise<Report> {
  const rows: Row[] = [];
  for (const callers of [1, 64]) {
    rows.push(...(await pair("Redis", callers, options, (registry) => redisStore(redisUrl, { registry }))));
    rows.push(...(await pair("memory", callers, options, (registry) => memoryStore({ registry }))));
  }
  rows.push(await announcement(redisUrl, options.structures));
  return {
    bench: "registry",
    title: `Limiter.take beside ${options.structures} structures that announce themselves, against registry: false`,
    rows,
    notes: [
      "ratio: median over slices taken in turn, announcing to silent.",
      "An announcement goes out once a minute. Its row has the server's time for all structures, by commandstats.",
    ],
  };
}

async function pair(
  where: string,
  callers: number,
  { structures, slices, sliceMs }: RegistryOptions,
  open: (registry: boolean) => Store,
): Promise<Row[]> {
  const sides = [true, false].map((registry) => {
    const store = open(registry);
    for (let i = 0; i < structures; i++) new Series(store, `bench registry ${i}`);
    const name = `bench registry ${registry}`;
    return { store, taken: 0, limiter: new Limiter(store, [slidingWindow({ limit: LIMIT, span: "1h" })], { name }) };
  });
  const rates: number[][] = [[], []];
  for (let turn = 0; turn <= slices; turn++)
    for (const [i, side] of sides.entries()) {
      const slice = await runSlice({ callers, sliceMs, minOperations: 1 }, async (_signal, caller) => {
        await side.limiter.take(`caller ${caller}`);
        side.taken++;
        return true;
      });
      if (turn > 0) rates[i]!.push(operationsPerSecond(slice));
    }
  for (const { store, limiter, taken } of sides) {
    const ids = Array.from({ length: callers }, (_, caller) => `caller ${caller}`);
    const peeked = await Promise.all(ids.map((id) => limiter.peek(id)));
    const left = peeked.reduce((sum, { remaining }) => sum + remaining, 0);
    if (LIMIT * callers - left !== taken) throw new Error(`${LIMIT * callers - left} permits were taken, not ${taken}`);
    await Promise.all(ids.map((id) => limiter.reset(id)));
    await store.close();
  }
  const ratio = median(rates[0]!.map((rate, turn) => rate / rates[1]![turn]!));
  return ["announced", "registry: false"].map((what, i) => ({
    what: `take, ${what}`,
    store: where,
    callers,
    opsPerSecond: median(rates[i]!),
    ratio: i === 0 ? ratio : 1,
    serverMicros: "",
  }));
}

/** The server's time for one announcement of all structures. */
async function announcement(redisUrl: string, structures: number): Promise<Row> {
  const clock = { nowMs: 0 };
  const redis = new Redis(redisUrl);
  const store = redisStore(redisUrl, { monotonic: () => clock.nowMs });
  const all = Array.from({ length: structures }, (_, i) => new Series(store, `bench registry ${i}`));
  const limiter = new Limiter(store, [slidingWindow({ limit: 1, span: 1000 })], { name: "bench registry" });
  await limiter.peek("warm");
  const micros: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    clock.nowMs += 60_000 + STEP_MS;
    await redis.config("RESETSTAT");
    await limiter.peek("one");
    await limiter.peek("one");
    micros.push(Number(/cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(await redis.info("commandstats"))?.[1]));
  }
  const listed = (await readRegistry(store)).structures.filter(({ kind }) => kind === "Series").length;
  if (listed < Math.min(structures, 100) - 1) throw new Error(`${listed} series are listed; right is ${all.length}`);
  await redis.unlink(...(await redis.keys("oriel:{registry}*")));
  await store.close();
  await redis.quit();
  const serverMicros = median(micros);
  return { what: "announcement", store: "Redis", callers: 1, opsPerSecond: "", ratio: "", serverMicros };
}
