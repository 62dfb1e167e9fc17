import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { read } from "../../../src/engine/journal/steps/read.ts";
import { closedKey } from "../../../src/engine/journal/steps/rotate.ts";
import { OrielError, Series } from "../../../src/entries/index.ts";
import { until } from "../../harness/until.ts";
import { storeWith } from "../contract/changed-store.ts";

const { minSealedBytes, rotateBytes, sealedRotateBytes, sealAfterMs, sealSpreadMs } = constants;

afterEach(() => {
  Object.assign(constants, { minSealedBytes, rotateBytes, sealedRotateBytes, sealAfterMs, sealSpreadMs });
});

/** Records until several chunks are closed. Their sealing begins at once. */
async function close(series: Series): Promise<number> {
  const bounds = { minSealedBytes: 64, rotateBytes: 4000, sealedRotateBytes: 4000 };
  Object.assign(constants, bounds, { sealAfterMs: 0, sealSpreadMs: 0 });
  for (let i = 0; i < 8; i++) await series.recordMany(Float32Array.from({ length: 1500 }, (_, k) => (i * k) % 97));
  return 8 * 1500;
}

test("a store that fails for a while delays the sealing of a chunk, and it is not forgotten", async () => {
  const outcomes: string[] = [];
  let failures = 3;
  const { store } = storeWith(async (name, _key, run) => {
    if (name !== "journal/seal") return run();
    if (failures-- > 0) throw new OrielError("UNAVAILABLE", "away", { transient: true, applied: "no" });
    const status = await run();
    outcomes.push(String(status));
    return status;
  });
  const series = new Series(store, "s", { retention: "1h" });
  const count = await close(series);
  await until("all closed chunks are sealed", () => outcomes.length >= 7);
  expect(failures).toBeLessThan(0);
  expect(new Set(outcomes)).toEqual(new Set(["0"]));
  expect((await series.stats()).count).toBe(count);
  await series.close();
});

test("a series that begins again is not searched for the chunks between its old numbers and the new ones", async () => {
  let reads = 0;
  let seals = 0;
  const { store, clock } = storeWith(async (name, _key, run) => {
    if (name === "journal/read") reads++;
    if (name === "journal/seal") seals++;
    return run();
  });
  const series = new Series(store, "s", { retention: "1h" });
  await close(series);
  await until("the chunks are sealed", () => seals >= 7);
  clock.nowMs += 60_000;
  await series.delete();
  [reads, seals] = [0, 0];
  clock.nowMs += 60_000;
  await close(series);
  await until("the new chunks are sealed", () => seals >= 7);
  expect(reads).toBeLessThan(150);
  await series.close();
});

test("a chunk is sealed in slices, between which the process does other work", async () => {
  const { store } = storeWith();
  const series = new Series(store, "s", { retention: "1h" });
  let turns = 0;
  let isSealed = false;
  const counting = {
    ...store,
    monotonic: store.monotonic,
    run: ((operation, ...call) => {
      if (operation.name === "journal/seal") isSealed = true;
      return store.run(operation, ...call);
    }) as typeof store.run,
  };
  const other = new Series(counting, "s", { retention: "1h" });
  Object.assign(constants, { rotateBytes: 400_000, sealedRotateBytes: 400_000, sealAfterMs: 0, sealSpreadMs: 0 });
  await series.close();
  for (let i = 0; i < 5; i++) await other.recordMany(Float32Array.from({ length: 50_000 }, (_, k) => k % 1009));
  const turn = () => {
    if (isSealed) return;
    turns++;
    setImmediate(turn);
  };
  turn();
  await until("a chunk is sealed", () => isSealed);
  expect(turns).toBeGreaterThan(10);
  await other.close();
});

test("of many processes one seals all chunks, as long as it is there, and then another one does; the others ask little", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  Object.assign(constants, { minSealedBytes: 64, sealedRotateBytes: 4000 });
  const { store, clock } = storeWith();
  const sealers: number[] = [];
  const looks = new Array<number>(5).fill(0);
  let [seed, sealedMs] = [1, 0];
  const entropy = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed;
  };
  const processes = Array.from({ length: 5 }, (_, i) => {
    const run = async (...[operation, ...call]: Parameters<typeof store.run>) => {
      const answer = await store.run(operation, ...call);
      if (operation.name === "journal/read") looks[i]!++;
      if (operation.name === "journal/seal") {
        sealers.push(i);
        sealedMs ||= clock.nowMs;
      }
      return answer;
    };
    const own = { ...store, monotonic: store.monotonic, run: run as typeof store.run };
    return new Series(own, "s", { retention: "1h", entropy });
  });
  const play = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      for (const one of processes) await one.recordMany(Float32Array.from({ length: 300 }, (_, k) => k % 97));
      for (let step = 0; step < 20; step++) {
        clock.nowMs += 50;
        await vi.advanceTimersByTimeAsync(50);
        // A chunk is sealed in turns of the event loop.
        for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
    }
    return sealers.splice(0);
  };
  await play(60);
  looks.fill(0);
  const [first = -1, ...others] = await play(70);
  expect(others.length).toBeGreaterThan(20);
  expect(new Set(others)).toEqual(new Set([first]));
  // Each of the others looks once in 18 to 24 s.
  for (const [i, count] of looks.entries()) if (i !== first) expect(count).toBeLessThanOrEqual(4);
  await processes.splice(first, 1)[0]!.close();
  const closedMs = clock.nowMs;
  sealedMs = 0;
  await play(60);
  expect(sealedMs - closedMs).toBeLessThan(24_000);
  const next = await play(20);
  expect(next.length).toBeGreaterThan(5);
  expect(new Set(next).size).toBe(1);
  expect(next).not.toContain(first);
  for (const one of processes) await one.close();
});

test.each([
  { rate: "a slow stream", stepMs: 144, values: 32, bytesEach: 30_400 },
  { rate: "a middle one", stepMs: 32, values: 32, bytesEach: 64_000 },
  { rate: "a fast one", stepMs: 50, values: 4000, bytesEach: 321_000 },
])("of $rate, a chunk is closed when its length times its age is due, and not within a second", async (stream) => {
  const { stepMs, values, bytesEach } = stream;
  Object.assign(constants, { sealAfterMs: 1e8 });
  const { store, plain, clock } = storeWith();
  const series = new Series(store, "s", { retention: "1h" });
  for (let steps = 0; steps < (5 * bytesEach) / (16 + 4 * values); steps++) {
    await series.recordMany(new Float32Array(values));
    clock.nowMs += stepMs;
  }
  const key = plain.keyOf("s");
  let next = (await plain.run(read, key, "header")).header!;
  const closed: number[] = [];
  while (next.birthBefore !== 0) {
    const { header, length } = await plain.run(read, closedKey(key, next.number - 1), "header");
    const ageMs = next.createdMs - header!.createdMs;
    expect(ageMs).toBeGreaterThanOrEqual(constants.minChunkMs);
    // Another batch may be written before the chunk is closed.
    if (ageMs > 2000) {
      expect(length * ageMs).toBeGreaterThanOrEqual(constants.minIdleBytes * header!.chunkMs);
      expect((length - 300) * (ageMs - 2 * stepMs)).toBeLessThan(constants.minIdleBytes * header!.chunkMs);
    }
    closed.push(length);
    next = header!;
  }
  expect(closed.length).toBeGreaterThan(2);
  for (const length of closed) expect(Math.abs(length / bytesEach - 1)).toBeLessThan(0.05);
  await series.close();
});
