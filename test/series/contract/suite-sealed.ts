import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { ChunkSealer, type SealOutcome } from "../../../src/engine/journal/sealed/sealer.ts";
import { read } from "../../../src/engine/journal/steps/read.ts";
import { wasmBlocks } from "../../../src/engine/kernel/blocks/choose.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../../src/engine/kernel/choose.ts";
import { expectError, expectExpiries, expectGuardOnly, NAME, type Stage } from "./stage.ts";

/** Chunks that are sealed while series are written and read. */
export function sealedSuite(stage: () => Stage): void {
  const { minSealedBytes, minIdleBytes, sealAfterMs, sealSpreadMs, idleMs } = constants;
  const formats = async () => Promise.all((await closedKeys()).map(async (key) => (await stage().bytesOf(key))![0]));
  const closedKeys = async () => (await stage().keys()).filter((key) => key.includes("}:"));

  /** Seals the closed chunks, oldest first. Returns what became of them. */
  async function sealAll(): Promise<SealOutcome[]> {
    const { other } = stage();
    const key = other.keyOf(NAME);
    const sealer = new ChunkSealer(other, key, () => ({ codec: wasmBlocks() ?? jsCodec, kernel: activeKernel() }));
    const { header } = await other.run(read, key, "header");
    const outcomes: SealOutcome[] = [];
    for (let number = header!.number - (await closedKeys()).length; number < header!.number; number++)
      outcomes.push(await sealer.seal(number));
    return outcomes;
  }

  /** Records a second of events, a third of them with times of their own. The writer then closes the chunk. */
  async function putSecond(second: number): Promise<void> {
    const { put, series, clock, events } = stage();
    for (let i = 0; i < 10; i++) {
      await put(...Array.from({ length: 12 }, (_, k) => Math.round(1000 * Math.sin(second + i * k) ** 2) / 8));
      const ats = [-700, -1, 0].map((ms) => clock.nowMs + ms);
      await series.recordMany(
        ats.map((_, k) => second + k),
        { at: ats },
      );
      events.push(...ats.map((t, k) => ({ t, value: second + k })));
      clock.nowMs += 130;
    }
  }

  describe("sealed chunks", () => {
    beforeEach(() => {
      // Series seal in the background only where a test says so, however long it takes.
      Object.assign(constants, { minSealedBytes: 0, sealAfterMs: 1e9 });
    });
    afterEach(() => {
      Object.assign(constants, { minSealedBytes, minIdleBytes, sealAfterMs, sealSpreadMs, idleMs });
    });

    test("answer every query as before, for readers with a copy, without one, and with a part", async () => {
      const { open, reader, check, bytesOf, clock, store } = stage();
      const series = open();
      const resident = reader();
      const spans = [1, 900, 4000, 20_000];
      for (let second = 0; second < 9; second++) {
        await putSecond(second);
        // This copy ends inside a chunk that is closed, and sealed, before it is read again.
        if (second % 3 === 1) await check({ span: 3000 }, resident);
        if (second % 2 === 1)
          expect(new Set(await sealAll())).toEqual(new Set(second === 1 ? ["sealed"] : ["sealed", "already sealed"]));
        for (const span of spans) await check({ span, percentiles: [0, 50, 99, 100] });
      }
      const firstBytes = await Promise.all((await closedKeys()).map(async (key) => (await bytesOf(key))![0]));
      expect(firstBytes.filter((format) => format === constants.sealedFormat).length).toBeGreaterThan(5);
      for (const each of [series, resident, reader()]) {
        for (const span of spans) await check({ span, closed: "both" }, each);
        await check({ span: 3000, at: clock.nowMs - 4000 }, each);
        expect(await each.values({ span: 20_000 })).toEqual(await series.values({ span: 20_000 }));
      }
      await expectExpiries(stage(), 60_000);
      await resident.close();
      expect(store).toBeDefined();
    });

    test("answer statistics of windows that have no room in a copy, as often as they are asked", async () => {
      const { open, reader, check } = stage();
      const series = open();
      // A process that had room for the copy until now.
      const grown = reader({ maxResidentBytes: 12_000, onStoreError: "throw" });
      for (let second = 0; second < 9; second++) {
        await putSecond(second);
        if (second < 3) expect(await grown.values()).toEqual(await series.values());
        await sealAll();
      }
      const small = reader({ maxResidentBytes: 6000, onStoreError: "throw" });
      for (const one of [small, grown]) {
        for (let times = 0; times < 8; times++) await check({ span: 20_000 }, one);
        expect(one.explain({ span: 20_000 }).plan).toBe("outlines");
        await expectError(one.values({ span: 20_000 }), "TOO_LARGE");
        await check({ span: 20_000 }, one);
        expect((await one.recordAndGet(1e6, { span: 20_000, percentiles: [100] })).max).toBe(1e6);
        stage().events.push({ t: stage().clock.nowMs, value: 1e6 });
        await one.close();
      }
      await series.close();
    });

    test("lose no copy of a frame", async () => {
      const { open, check } = stage();
      open();
      await putSecond(0);
      await putSecond(1);
      await sealAll();
      await putSecond(2);
      await sealAll();
      await check({ span: 20_000 });
    });

    test("are deleted with the series", async () => {
      const { open } = stage();
      const series = open();
      await putSecond(0);
      await putSecond(1);
      await sealAll();
      await series.delete();
      await expectGuardOnly(stage());
      expect((await series.stats()).count).toBe(0);
    });

    test("are made by every series, in the background", async () => {
      const { open, check } = stage();
      Object.assign(constants, { sealAfterMs: 0, sealSpreadMs: 0 });
      const series = open();
      for (let second = 0; second < 6; second++) await putSecond(second);
      await expect.poll(formats).not.toContain(constants.format);
      expect((await closedKeys()).length).toBeGreaterThan(3);
      await check({ span: 20_000 });
      await series.close();
    });

    test("are made by a process that only reads, also of chunks that others left", async () => {
      const { open, reader, check } = stage();
      const series = open();
      for (let second = 0; second < 6; second++) await putSecond(second);
      await series.close();
      expect(new Set(await formats())).toEqual(new Set([constants.format]));
      Object.assign(constants, { sealAfterMs: 0, sealSpreadMs: 0 });
      const other = reader();
      await check({ span: 20_000 }, other);
      await expect.poll(formats).not.toContain(constants.format);
      await check({ span: 20_000 }, other);
    });

    test("are made of the open chunk too when the series has been idle", async () => {
      const { open, check, clock } = stage();
      Object.assign(constants, { sealAfterMs: 0, sealSpreadMs: 0, idleMs: 20, minIdleBytes: 64 });
      // So long that the chunk is not due by its age and length before.
      open({ retention: "24h" });
      for (let second = 0; second < 4; second++) await putSecond(second);
      clock.nowMs += constants.idleMs;
      await expect.poll(formats).toEqual([constants.sealedFormat]);
      await check({ span: 20_000 });
    });

    test("take values that were rounded when they were recorded", async () => {
      const { open, clock } = stage();
      const series = open({ resolution: "10us", nan: "propagate", values: "float64" });
      await series.record(1.23456);
      await series.record(-0.001);
      await series.record(9.87654, { at: clock.nowMs });
      await series.recordMany([1 / 3, 1e300, Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 53 + 2]);
      const values = await series.values();
      expect([...values]).toEqual([1.23, 0, 9.88, 0.33, 1e300, Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 53 + 2]);
      const { percentiles } = await series.recordAndGet(5.5555, { percentiles: [50] });
      expect(percentiles[50]).toBeNaN();
      expect((await series.values()).at(-1)).toBe(5.56);
    });
  });
}
