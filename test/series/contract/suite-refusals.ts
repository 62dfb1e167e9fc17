import { describe, expect, test } from "vitest";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { Series } from "../../../src/entries/index.ts";
import { expectError, NAME, type Stage } from "./stage.ts";

/** Refusals of a series. A refusal changes nothing. */
export function refusalSuite(stage: () => Stage): void {
  describe("refusals", () => {
    test("another value type or clock is a mismatch, and nothing is written", async () => {
      const { open, reader, put, check, bytesOf, keys, expiryOf } = stage();
      open({ values: "float32" });
      await put(1, 2);
      const [key] = await keys();
      const before = [await bytesOf(key!), await expiryOf(key!)];
      for (const [options, at] of [
        [{ values: "float64" }, undefined],
        [{ clock: "event" }, stage().clock.nowMs],
      ] as const) {
        const other = reader(options);
        const error = await expectError(other.record(3, at ? { at } : {}), "MISMATCH", /stored with float32/);
        expect(error).toMatchObject({ applied: "no", transient: false });
        await expectError(other.stats(), "MISMATCH");
        await expectError(other.values(), "MISMATCH");
      }
      expect([await bytesOf(key!), await expiryOf(key!)]).toEqual(before);
      await check({});
    });

    test("events too late or too early are refused, and the others of the same commit are written", async () => {
      const { open, reader, check, clock, events } = stage();
      const series = open({ retention: "10s" });
      const now = clock.nowMs;
      const ats = [now, now - 10_000, now - 10_001, now + constants.earlyMs, now + constants.earlyMs + 1, undefined];
      const results = await Promise.allSettled(ats.map((at, i) => series.record(i, at === undefined ? {} : { at })));
      expect(results.map((result) => (result.status === "fulfilled" ? "" : result.reason.code))).toEqual([
        "",
        "",
        "LATE",
        "",
        "EARLY",
        "",
      ]);
      for (const [i, at] of ats.entries()) if (i !== 2 && i !== 4) events.push({ t: at ?? now, value: i });
      await check({ closed: "both" });
      clock.nowMs += constants.earlyMs;
      await check({ closed: "both" }, reader());
    });

    test("the error of a call with refused events says how many were written", async () => {
      const { open, clock } = stage();
      const series = open({ retention: "10s", values: "float32" });
      const at = [clock.nowMs, clock.nowMs - 20_000, clock.nowMs];
      await expectError(series.recordMany([1, 2, 3], { at }), "LATE", /0 of 3 events were written/);
      // 2^32 ms and more apart: two frames, of which one is refused.
      const far = [clock.nowMs, clock.nowMs, clock.nowMs - 2 ** 32 - 1];
      const part = await expectError(series.recordMany([4, 5, 6], { at: far }), "LATE", /2 of 3 events were written/);
      expect(part.applied).toBe("unknown");
      expect(await series.values()).toEqual(Float32Array.of(4, 5));
    });

    test("waiting events are bounded in bytes", async () => {
      const { open } = stage();
      const series = open({ maxPendingBytes: 1024 });
      const calls = Array.from({ length: 400 }, (_, i) => series.record(i));
      const results = await Promise.allSettled(calls);
      const refused = results.filter((result) => result.status === "rejected");
      expect(refused.length).toBeGreaterThan(100);
      for (const { reason } of refused)
        expect(reason).toMatchObject({ code: "OVERLOADED", transient: true, applied: "no" });
      expect((await series.stats()).count).toBe(400 - refused.length);
      await series.record(1);
      await expectError(series.recordMany(new Float32Array(1000)), "OVERLOADED", /maxPendingBytes, 1024/);
    });

    test("a window larger than the bound of the copy is refused, a smaller one is answered", async () => {
      const { open, reader, clock } = stage();
      const series = open();
      for (let i = 0; i < 4; i++) {
        // Values that packing makes no smaller than usual.
        await series.recordMany(Float64Array.from({ length: 20_000 }, (_, j) => Math.sin(20_000 * i + j)));
        clock.nowMs += 14_000;
      }
      const small = reader({ maxResidentBytes: 300_000 });
      await expectError(small.stats(), "TOO_LARGE", /maxResidentBytes, 300000/);
      await series.record(9);
      await expectError(small.stats(), "TOO_LARGE");
      expect((await series.stats()).count).toBe(80_001);
      clock.nowMs += 150_000;
      await series.record(10);
      expect((await small.stats({ span: "1s" })).count).toBe(1);
    });

    test("after close every call is refused, and earlier events are written", async () => {
      const { open, reader } = stage();
      const series = open({ values: "float32" });
      const last = series.record(5);
      await series.close();
      await last;
      for (const call of [
        () => series.record(1),
        () => series.recordMany([1]),
        () => series.recordAndGet(1),
        () => series.stats(),
        () => series.values(),
        () => series.fractionBelow(1),
        () => series.ranks([1]),
        () => series.histogram({ bounds: [1] }),
        () => series.compare({ span: 1, before: 1 }),
        () => series.delete(),
        () => Series.stats([series]),
      ])
        await expectError(call(), "UNAVAILABLE", /the series is closed/);
      await series.close();
      expect(await reader().values()).toEqual(Float32Array.of(5));
    });

    test("a signal ends only its own wait, with its reason", async () => {
      const { open } = stage();
      const series = open();
      const reason = new RangeError("enough");
      const abort = new AbortController();
      const { signal } = abort;
      const calls = [
        series.record(1, { signal }),
        series.recordMany([2], { signal }),
        series.recordAndGet(3, { signal }),
        series.stats({ signal }),
        series.values({ signal }),
        series.fractionBelow(1, { signal }),
        series.ranks([1], { signal }),
        series.histogram({ bounds: [1], signal }),
        series.compare({ span: 1, before: 1, signal }),
        Series.stats([series], { signal }),
        series.timeline({ every: "1s", signal }),
        Series.timeline([series], { every: "1s", signal }),
      ];
      const free = series.recordAndGet(4);
      abort.abort(reason);
      for (const call of calls) await expect(call).rejects.toBe(reason);
      expect((await free).count).toBe(4);
      expect((await series.stats()).count).toBe(4);
    });

    test("foreign data under the key is not changed", async () => {
      const { open, store, keys, bytesOf } = stage();
      await open({ values: "float32" }).record(1);
      const [key] = await keys();
      expect(key).toBe(store.keyOf(NAME));
      const header = (await bytesOf(key!))!;
      expect(header.subarray(0, 4)).toEqual(Buffer.of(1, 0, 0, 0));
    });
  });
}
