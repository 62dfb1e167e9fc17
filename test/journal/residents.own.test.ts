import { describe, expect, onTestFinished, test, vi } from "vitest";
import { externalBytes } from "../../bench/external-bytes.ts";
import type { ChunkHeader } from "../../src/engine/journal/format/chunk.ts";
import { encodeFrame } from "../../src/engine/journal/format/frames.ts";
import { JournalCopy } from "../../src/engine/journal/replica/journal-copy.ts";
import { Residents } from "../../src/engine/journal/replica/residents.ts";
import { LocalSeries, memoryStore, Series } from "../../src/entries/index.ts";
import { storeWith } from "../series/contract/changed-store.ts";
import { expectAlike } from "../stats/oracle.ts";

const PER_EVENT = 14;
const PER_CHUNK = 1800;
/** The first slots for names of frames. */
const PER_NAMES = 16 * 16;
/** Room for the copies of a number of series of 1000 events, each in one chunk and one frame. */
const roomFor = (series: number) => Math.round(series * (1000 * PER_EVENT + PER_CHUNK + PER_NAMES));

describe("the copies of a store's series", () => {
  const filled = async (count: number) => {
    let readBytes = 0;
    const { store, plain } = storeWith(async (name, _key, run) => {
      const answer = (await run()) as { bytes?: Uint8Array };
      if (/^journal\/read(-window|-outlines)?$/.test(name)) readBytes += answer.bytes?.length ?? 0;
      return answer;
    });
    for (let i = 0; i < count; i++) await new Series(plain, `s${i}`).recordMany(new Float32Array(1000).fill(i));
    const read = () => {
      const bytes = readBytes;
      readBytes = 0;
      return bytes;
    };
    return { store, read };
  };

  test("stay within the bound: the least recently queried one is evicted, and read again on the next query", async () => {
    const { store, read } = await filled(4);
    const options = { maxResidentBytes: roomFor(3) };
    const series = [0, 1, 2, 3].map((i) => new Series(store, `s${i}`, options));
    const ask = async (i: number) => {
      read();
      const { count, mean } = await series[i]!.stats();
      expect([count, mean]).toEqual([1000, i]);
      return read() > 4000;
    };
    expect([await ask(0), await ask(1), await ask(2)]).toEqual([true, true, true]);
    expect(Residents.of(store).totalBytes).toBe(roomFor(3));
    expect([await ask(0), await ask(1), await ask(2)]).toEqual([false, false, false]);
    expect(await ask(0)).toBe(false);
    expect(await ask(3)).toBe(true);
    expect(Residents.of(store).totalBytes).toBe(roomFor(3));
    expect([await ask(0), await ask(2)]).toEqual([false, false]);
    expect(await ask(1)).toBe(true);
    for (const one of series) await one.close();
    expect(Residents.of(store).totalBytes).toBe(0);
  });

  test("all answer concurrent queries, whichever is evicted", async () => {
    const { store } = await filled(8);
    const series = Array.from({ length: 8 }, (_, i) => new Series(store, `s${i}`, { maxResidentBytes: roomFor(1.1) }));
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(series.map((one, i) => (round % 2 ? one.stats() : one.recordAndGet(i))));
      expect(answers.map(({ mean }) => mean)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      expect(Residents.of(store).totalBytes).toBeLessThanOrEqual(roomFor(1.1));
    }
  });

  test("that cannot be packed stay as they are, with a warning", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    onTestFinished(() => warned.mockRestore());
    const { store, clock } = storeWith();
    const series = new Series(store, "s");
    await series.recordMany(Array.from({ length: 40_000 }, (_, i) => i));
    const before = await series.stats({ span: "10s" });
    const packing = vi.spyOn(JournalCopy.prototype, "packNext").mockImplementation(() => {
      throw new RangeError("no memory");
    });
    onTestFinished(() => packing.mockRestore());
    clock.nowMs += 6000;
    await vi.advanceTimersByTimeAsync(7000);
    expect(String(warned.mock.calls[0]?.[0])).toContain("a copy is not packed: RangeError: no memory");
    expect(await series.stats({ span: "10s", at: before.to })).toEqual(before);
    await series.close();
  });

  test.each(["float32", "float64"] as const)("are packed once they are not queried for 5 s: %s", async (values) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { store, clock } = storeWith();
    const series = new Series(store, "s", { values });
    const column = Array.from({ length: 40_000 }, (_, i) => (i * 7919) % 10_007);
    for (let from = 0; from < 40_000; from += 1000) {
      await series.recordMany(column.slice(from, from + 1000));
      clock.nowMs += 10;
    }
    const asked = { span: 350, percentiles: [1, 50, 99.9] } as const;
    const before = await series.stats(asked);
    const all = await series.values();
    await new Promise((resolve) => setImmediate(resolve));
    const plainBytes = Residents.of(store).totalBytes;
    await vi.advanceTimersByTimeAsync(4000);
    expect(Residents.of(store).totalBytes).toBe(plainBytes);
    clock.nowMs += 6000;
    await vi.advanceTimersByTimeAsync(2000);
    const packedBytes = Residents.of(store).totalBytes;
    expect(packedBytes / plainBytes).toBeLessThan(values === "float32" ? 0.6 : 0.75);
    expectAlike(await series.stats({ ...asked, at: before.to }), before);
    expect(await series.values()).toEqual(all);
    await new Promise((resolve) => setImmediate(resolve));
    // New events are as they come, and the others stay packed.
    expect(Residents.of(store).totalBytes).toBeLessThan(1.1 * packedBytes);
    await series.close();
    expect(Residents.of(store).totalBytes).toBe(0);
  });

  test("with a small bound evict none of those with larger ones", async () => {
    const { store, read } = await filled(2);
    const [large, small] = [
      new Series(store, "s0"),
      new Series(store, "s1", { maxResidentBytes: 1000 * PER_EVENT }),
    ] as const;
    await large.stats();
    await small.stats();
    read();
    expect((await large.stats()).count).toBe(1000);
    expect(read()).toBeLessThan(1000);
  });

  test("count their chunks, which take room for few events too", async () => {
    let nowMs = 1_700_000_000_000;
    const store = memoryStore({ clock: () => nowMs });
    const writer = new Series(store, "s", { retention: "20s" });
    for (let i = 0; i < 50; i++, nowMs += 1500) await writer.record(i);
    await writer.stats();
    await new Promise((resolve) => setImmediate(resolve)); // accounts are settled once the waiting queries are answered
    expect(Residents.of(store).totalBytes).toBeGreaterThan(40 * PER_CHUNK);
    await writer.close();
    expect(Residents.of(store).totalBytes).toBe(0);
  });

  test("count the names of their frames, and are not cached if these take more than half of the bound", async () => {
    const PRODUCERS = 400;
    const NAME_BYTES = 1024 * 16;
    for (const [maxResidentBytes, nameBytes] of [
      [2 * NAME_BYTES, NAME_BYTES],
      [2 * NAME_BYTES - 1, 0],
    ] as const) {
      const store = memoryStore();
      const producers = Array.from({ length: PRODUCERS }, () => new Series(store, "s"));
      for (const each of producers) await each.record(1);
      const reader = new Series(store, "s", { maxResidentBytes });
      for (let i = 0; i < 2; i++) expect((await reader.stats()).count).toBe(PRODUCERS);
      await new Promise((resolve) => setImmediate(resolve));
      const expected = nameBytes && nameBytes + PRODUCERS * PER_EVENT + PER_CHUNK;
      expect(Residents.of(store).totalBytes).toBe(expected);
      for (const each of [reader, ...producers]) await each.close();
    }
  });

  test("are refused for too many names of frames, even if their events have room", async () => {
    const PRODUCERS = 1500;
    const store = memoryStore();
    const options = { retention: "1h" } as const;
    // 24 bytes or more of each name beside 14 of each event.
    const reader = new Series(store, "s", { ...options, maxResidentBytes: PRODUCERS * 20 });
    const roomy = new Series(store, "s", { ...options, maxResidentBytes: PRODUCERS * PER_EVENT * 5 });
    for (let i = 0; i < PRODUCERS; i++) {
      const one = new Series(store, "s", options);
      await one.record(1);
      await one.close();
    }
    for (let i = 0; i < 2; i++)
      await expect(reader.stats({ span: "10m" })).rejects.toMatchObject({
        code: "TOO_LARGE",
        message: /names of their frames/,
      });
    expect((await roomy.stats({ span: "10m" })).count).toBe(PRODUCERS);
  });

  test("are freed by eviction, even without another query", async () => {
    const copy = new JournalCopy();
    copy.begin({ valueType: 0, createdMs: 0 } as ChunkHeader);
    copy.take(encodeFrame(1, 1, Float32Array.of(1, 2, 3)).bytes);
    const segment = (() => new WeakRef(copy.segments.list[0]!))();
    copy.clear();
    await externalBytes(); // collects garbage
    expect(segment.deref()).toBeUndefined();
  });

  test("of another store are independent", () => {
    expect(Residents.of(memoryStore())).not.toBe(Residents.of(memoryStore()));
  });
});

describe("a local series", () => {
  test("has room for maxBytes only; a call is recorded as a whole or not at all", () => {
    let nowMs = 0;
    const series = new LocalSeries({ retention: 1000, maxBytes: 100 * PER_EVENT, clock: () => nowMs });
    series.recordMany(new Float32Array(99));
    expect(() => series.recordMany([1, 2])).toThrow(
      /OVERLOADED|maxBytes, 1400, has room for 100 events; the series has 99/,
    );
    expect(series.stats().count).toBe(99);
    series.record(1);
    for (let i = 0; i < 3; i++) expect(() => series.record(1)).toThrow(/maxBytes/);
    expect(series.values().length).toBe(100);
    nowMs += 1001;
    series.recordMany(new Float32Array(100));
    expect(series.stats().count).toBe(100);
  });
});
