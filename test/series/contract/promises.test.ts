import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { JournalAnswer } from "../../../src/engine/journal/format/answer.ts";
import { LocalSeries, OrielError, Series } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { isWrite, type Run, storeWith } from "./changed-store.ts";
import { START_MS } from "./stores.ts";

const unreachable = () => new OrielError("UNAVAILABLE", "Redis is out of reach", { transient: true });

describe("every query is settled", () => {
  test("although every append fails and recording continues", async () => {
    const { store } = storeWith(async (name, _key, run) => {
      await turn();
      if (isWrite(name)) throw unreachable();
      return run();
    });
    const series = new Series(store, "busy");
    let isOver = false;
    const recording = (async () => {
      for (let i = 0; i < 300 && !isOver; i++) {
        series.record(i).catch(() => {});
        await turn();
      }
    })();
    await turn();
    const settled = series.stats().then(
      () => "answered",
      () => "failed",
    );
    settled.then(() => {
      isOver = true;
    });
    await recording;
    expect(isOver).toBe(true);
    await series.close();
  });

  test("independently: a window that is too large does not fail other queries", async () => {
    const { store, clock } = storeWith();
    const writer = new Series(store, "s", { retention: "1m" });
    for (let i = 0; i < 50; i++) {
      await writer.recordMany(new Float64Array(4000).fill(i));
      clock.nowMs += 5000;
    }
    await writer.record(1);
    const reader = new Series(store, "s", { retention: "1m", maxResidentBytes: 1_300_000 });
    expect((await reader.stats({ span: 1 })).count).toBe(1);
    const [small, large] = await Promise.allSettled([
      reader.stats({ span: 1 }),
      reader.stats({ span: "1m", at: START_MS + 120_000 }),
    ]);
    expect(large).toMatchObject({ status: "rejected", reason: { code: "TOO_LARGE" } });
    expect(small).toMatchObject({ status: "fulfilled", value: { count: 1 } });
  });

  test("without an unhandled rejection if one of several series is closed", async () => {
    const unheard: unknown[] = [];
    const hear = (reason: unknown) => unheard.push(reason);
    const others = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    process.on("unhandledRejection", hear);
    try {
      const { store } = storeWith(() => Promise.reject(unreachable()));
      const [open, closed] = [new Series(store, "a"), new Series(store, "b")];
      await closed.close();
      await expect(Series.stats([open, closed])).rejects.toMatchObject({ code: "UNAVAILABLE" });
      for (let i = 0; i < 20; i++) await turn();
    } finally {
      process.removeListener("unhandledRejection", hear);
      for (const other of others) process.on("unhandledRejection", other);
    }
    expect(unheard).toEqual([]);
  });
});

describe("the bound on the copy", () => {
  const filled = async (change?: Parameters<typeof storeWith>[0]) => {
    const opened = storeWith(change);
    const writer = new Series(opened.plain, "s", { retention: "10m" });
    for (let i = 0; i < 40; i++) {
      await writer.recordMany(Float32Array.from({ length: 4000 }, (_, j) => j));
      opened.clock.nowMs += 10_000;
    }
    return opened;
  };

  test("has the same result for the same query, however often it is repeated", async () => {
    const { store } = await filled();
    for (let maxResidentBytes = 1 << 20; maxResidentBytes < 4 << 20; maxResidentBytes += 1 << 18) {
      const reader = new Series(store, "s", { retention: "10m", maxResidentBytes });
      const verdicts: unknown[] = [];
      for (let i = 0; i < 4; i++)
        verdicts.push(
          await reader.stats().then(
            ({ count }) => count,
            (error: OrielError) => error.code,
          ),
        );
      expect(new Set(verdicts).size, `${maxResidentBytes} bytes: ${verdicts}`).toBe(1);
    }
  });

  test("holds during the read of a window, not only after it", async () => {
    let readBytes = 0;
    const { store } = await filled(async (_name, _key, run) => {
      const answer = (await run()) as JournalAnswer;
      readBytes += answer.bytes?.length ?? 0;
      return answer;
    });
    const reader = new Series(store, "s", { retention: "10m", maxResidentBytes: 50_000 });
    await expect(reader.stats()).rejects.toMatchObject({ code: "TOO_LARGE" });
    // A group of chunks is asked for at once; all 40 hold 640 000 bytes.
    expect(readBytes).toBeLessThan(400_000);
  });
});

describe("errors and flags are correct", () => {
  test("a window on the event clock is degraded by its own missing events, not by those of an earlier query", async () => {
    const { store, plain, clock } = storeWith();
    const keys = new Set<string>();
    const watched: Store = {
      ...plain,
      run: ((operation, key, input) => {
        for (const each of operation.keysOf?.(key, input) ?? [key]) keys.add(each);
        return plain.run(operation, key, input);
      }) as Run,
    };
    const options = { retention: "64s", clock: "event" } as const;
    const writer = new Series(watched, "s", options);
    for (let i = 0; i < 40; i++) {
      await writer.record(i, { at: clock.nowMs });
      clock.nowMs += 1100;
    }
    const [first] = [...keys].filter((key) => key.includes("{s}:")).sort();
    await plain.run<void, void>(
      {
        name: "x",
        script: { text: "" },
        arity: 0,
        keyCount: 1,
        repeatable: true,
        encode: () => [],
        decode: () => {},
        local: (space, key) => space.delete(key),
      },
      first!,
      undefined,
    );
    const reader = new Series(store, "s", options);
    expect(await reader.stats()).toMatchObject({ degraded: true, degradedBy: "lost" });
    const fresh = await new Series(store, "s", options).stats({ span: "5s" });
    expect(fresh.degraded).toBe(false);
    expect(await reader.stats({ span: "5s" })).toEqual(fresh);
  });

  test("a local series is not degraded when its clock ticks during an answer", () => {
    let nowMs = START_MS;
    const local = new LocalSeries({ retention: "1s", clock: () => nowMs++ });
    local.record(1);
    expect(local.stats()).toMatchObject({ count: 1, degraded: false });
    expect(local.stats({ span: "1s" })).toMatchObject({ count: 1, degraded: false });
  });

  test("the error of a split call says how many of its events were written", async () => {
    const { store, clock } = storeWith();
    const series = new Series(store, "s", { retention: "1m" });
    const at = new Float64Array(200_000).fill(clock.nowMs);
    at[0] = clock.nowMs - 3_600_000;
    const error = await series.recordMany(new Float32Array(at.length), { at }).catch((reason: OrielError) => reason);
    const { count } = await series.stats();
    expect(error).toMatchObject({ code: "LATE" });
    expect((error as OrielError).message).toMatch(new RegExp(`${count} of 200000 events were written`));
  });

  test("a call that can never fit is not called transient", async () => {
    const { store } = storeWith();
    const series = new Series(store, "s", { maxPendingBytes: 1024 });
    await expect(series.recordMany(new Float32Array(1000))).rejects.toMatchObject({
      code: "OVERLOADED",
      transient: false,
    });
  });

  test("a call with an aborted signal is not sent", async () => {
    let sent = 0;
    const { store } = storeWith((_name, _key, run) => {
      sent++;
      return run();
    });
    const series = new Series(store, "s");
    const options = { signal: AbortSignal.abort(new RangeError("enough")) };
    await expect(series.record(1, options)).rejects.toThrow("enough");
    await expect(series.recordMany([1, 2], options)).rejects.toThrow("enough");
    await expect(series.recordAndGet(3, options)).rejects.toThrow("enough");
    expect((await series.stats()).count).toBe(0);
    sent = 0;
    const line = { every: "1h" } as const;
    for (const wrong of [options, { signal: {} as AbortSignal }])
      for (const call of [
        series.stats(wrong),
        series.timeline({ ...line, ...wrong }),
        series.values(wrong),
        series.fractionBelow(1, wrong),
        series.ranks([1], wrong),
        series.histogram({ bounds: [1], ...wrong }),
        series.compare({ span: 1, before: 1, ...wrong }),
        Series.stats([series], wrong),
        Series.timeline([series], { ...line, ...wrong }),
      ])
        await expect(call).rejects.toThrow(/enough|an AbortSignal/);
    await series.close();
    expect(sent).toBe(0);
  });

  test("a journal works with any random births", async () => {
    const { store, clock } = storeWith();
    const writer = new Series(store, "s", { retention: "1m", entropy: () => 0 });
    for (let i = 0; i < 20; i++) {
      await writer.record(i);
      clock.nowMs += 1000;
    }
    expect((await new Series(store, "s", { retention: "1m" }).stats()).count).toBe(20);
  });
});

test("a chunk that was closed late is not reported missing before its expiry", async () => {
  let lateMs = 0;
  const { store, clock } = storeWith((name, _key, run) => {
    if (name === "journal/rotate") clock.nowMs += lateMs;
    return run();
  });
  const writer = new Series(store, "s", { retention: "10s" });
  await writer.record(1);
  clock.nowMs += 2000;
  lateMs = 8000;
  await writer.record(2);
  await new Promise((resolve) => setTimeout(resolve, 1));
  lateMs = 0;
  await writer.record(3);
  const startMs = clock.nowMs;
  for (let seconds = 0; seconds < 100; seconds++) {
    clock.nowMs = startMs + seconds * 1000;
    const { degraded } = await new Series(store, "s", { retention: "10s" }).stats();
    expect(degraded, `after ${seconds} s`).toBe(false);
  }
});
