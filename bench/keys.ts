import { Redis } from "ioredis";
import { redisStore, Series } from "../src/entries/index.ts";
import { type Load, median, operationsPerSecond, runSlice } from "./runner/measure.ts";
import type { Report } from "./runner/report.ts";

export interface KeysOptions {
  keys: number;
  callers: number;
  slices: number;
  sliceMs: number;
}

export const FULL_KEYS: KeysOptions = { keys: 10_000, callers: 1_000, slices: 7, sliceMs: 500 };
export const SMALL_KEYS: KeysOptions = { keys: 20, callers: 10, slices: 1, sliceMs: 20 };

/** The size of a frame with one f32 value. The plain APPEND appends the same number of bytes. */
const FRAME = Buffer.alloc(20, 1);

/** `record` on many series against plain APPEND by the same client, key after key, as fast as the callers can. */
export async function benchKeys(redisUrl: string, options: KeysOptions): Promise<Report> {
  const { keys, callers, slices, sliceMs } = options;
  const redis = new Redis(redisUrl);
  const store = redisStore(redisUrl, { deadline: 10_000 });
  const names = Array.from({ length: keys }, (_, i) => `bench keys ${i}`);
  const series = names.map((name) => new Series(store, name, { retention: "1h" }));
  const calls = [0, 0];
  const append = async () => (await redis.append(`plain ${names[calls[0]!++ % keys]}`, FRAME)) > 0;
  const record = async () => {
    await series[calls[1]!++ % keys]!.record(12.5);
    return true;
  };
  const load: Load = { callers, sliceMs, minOperations: keys };
  const rates: [number[], number[]] = [[], []];
  let recorded = 0;
  let scripts = 0;
  for (let turn = 0; turn <= slices; turn++) {
    const plain = await runSlice(load, append);
    await redis.config("RESETSTAT");
    const ours = await runSlice(load, record);
    recorded += ours.operations;
    if (turn === 0) continue; // the first turn warms up
    scripts = ours.operations / Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info("commandstats"))?.[1]);
    rates[0].push(operationsPerSecond(plain));
    rates[1].push(operationsPerSecond(ours));
  }
  let counted = 0;
  for (const one of series) counted += (await one.stats()).count;
  if (counted !== recorded) throw new Error(`the series hold ${counted} events; right is ${recorded}`);
  // Not `delete`, which looks for closed chunks of each series. No chunk had time to close.
  await redis.unlink(...names.flatMap((name) => [`plain ${name}`, store.keyOf(name)]));
  await Promise.all(series.map((one) => one.close()));
  await store.close();
  await redis.quit();
  const timesFaster = median(rates[1].map((rate, turn) => rate / rates[0][turn]!));
  return {
    bench: "keys",
    title: `Record on ${keys} keys, ${callers} callers, against plain APPEND of as many bytes (same client, same Redis)`,
    rows: [
      { what: "APPEND", keys, callers, opsPerSecond: median(rates[0]), timesFaster: 1, callsPerScript: "" },
      { what: "record", keys, callers, opsPerSecond: median(rates[1]), timesFaster, callsPerScript: scripts },
    ],
    notes: [
      "Calls of one turn share one script call over many keys. All events were counted at the end.",
      "timesFaster: median over slices taken in turn.",
    ],
  };
}
