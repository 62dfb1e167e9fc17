import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { append, breakOff, count, move, remove, tally } from "../ops/operations.ts";
import { bytesOf, textOf } from "./latin1.ts";
import type { OpenStore } from "./on-servers.ts";

const roomy = { maxBytes: 1e6, lifetimeMs: 0 };

/** What every store promises. Operations are those of ops/; the clock is stepped. */
export function storeSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(name, () => {
    let opened: OpenStore;
    let key: string;
    beforeAll(async () => {
      opened = await open();
      key = opened.store.keyOf("k");
    });
    beforeEach(() => opened.clear());
    afterAll(() => opened?.close());

    test("a step gets its key, its input and the store's clock", async () => {
      const { store, clock } = opened;
      expect(await store.run(append, key, { bytes: bytesOf("ab"), ...roomy })).toEqual({
        length: 2,
        nowMs: clock.nowMs,
      });
      clock.nowMs += 1234;
      expect(await store.run(append, key, { bytes: bytesOf("cde"), ...roomy })).toEqual({
        length: 5,
        nowMs: clock.nowMs,
      });
      expect(await opened.state(key)).toEqual({ bytes: bytesOf("abcde"), expireAtMs: Number.POSITIVE_INFINITY });
    });

    test("all 256 byte values and empty arguments pass both ways unchanged", async () => {
      const { store } = opened;
      const bytes = Uint8Array.from({ length: 4096 }, (_, i) => (i * 7) & 255);
      const within = new Uint8Array(5000).fill(9);
      within.set(bytes, 123);
      await store.run(append, key, { bytes: within.subarray(123, 123 + 4096), ...roomy });
      await store.run(append, key, { bytes: new Uint8Array(0), ...roomy });
      expect(new Uint8Array(await store.run(remove, key, undefined))).toEqual(bytes);
      expect(await store.run(remove, key, undefined)).toHaveLength(0);
      expect(await opened.state(key)).toBeUndefined();
    });

    test("names of any kind have keys of their own", async () => {
      const names = ["", "%", "{", "}", "{}", "a{b}c", "%7B", "ä€𝄞", "*?[x]", "\u0000\r\n", "x".repeat(10_240)];
      const keys = names.map((text) => opened.store.keyOf(text));
      await Promise.all(keys.map((each, i) => opened.store.run(append, each, { bytes: bytesOf(`${i}`), ...roomy })));
      const read = await Promise.all(keys.map((each) => opened.store.run(remove, each, undefined)));
      expect(read.map(textOf)).toEqual(names.map((_, i) => `${i}`));
    });

    test("an entry lives exactly until its expiry", async () => {
      const { store, clock } = opened;
      await store.run(append, key, { bytes: bytesOf("x"), maxBytes: 9, lifetimeMs: 1000 });
      expect((await opened.state(key))?.expireAtMs).toBe(clock.nowMs + 1000);
      clock.nowMs += 1000;
      expect((await store.run(append, key, { bytes: bytesOf("y"), maxBytes: 9, lifetimeMs: 10 })).length).toBe(2);
      clock.nowMs += 11;
      expect(await opened.state(key)).toBeUndefined();
      expect((await store.run(append, key, { bytes: bytesOf("z"), ...roomy })).length).toBe(1);
    });

    test("a refusal rejects with the step's code and changes nothing", async () => {
      const { store } = opened;
      await store.run(append, key, { bytes: bytesOf("abc"), maxBytes: 5, lifetimeMs: 5000 });
      const before = await opened.state(key);
      await expect(
        store.run(append, key, { bytes: bytesOf("def"), maxBytes: 5, lifetimeMs: 9000 }),
      ).rejects.toMatchObject({
        name: "OrielError",
        code: "TOO_LARGE",
        message: "more than 5 bytes",
        applied: "no",
        transient: false,
      });
      expect(await opened.state(key)).toEqual(before);
    });

    test("a step that fails halfway is CORRUPT, and others in the same turn are unaffected", async () => {
      const { store } = opened;
      const keys = ["a", "b", "c"].map((text) => store.keyOf(text));
      const results = await Promise.allSettled(keys.map((each, i) => store.run(breakOff, each, i === 1)));
      expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(results[1]).toMatchObject({ reason: { name: "OrielError", code: "CORRUPT" } });
    });

    test("steps of fixed sizes are sent together, and each is answered, refused or CORRUPT by itself", async () => {
      const { store, clock } = opened;
      const keys = Array.from({ length: 300 }, (_, i) => store.keyOf(`${i}`));
      const amountOf = (i: number) => (i === 7 || i === 270 ? 13 : i === 9 ? 101 : i % 10);
      const runs = keys.map((each, i) => store.run(count, each, { amount: amountOf(i), most: 100 }));
      const results = await Promise.allSettled(runs);
      for (const [i, result] of results.entries())
        if (amountOf(i) === 13) expect(result).toMatchObject({ reason: { code: "CORRUPT" } });
        else if (i === 9)
          expect(result).toMatchObject({
            reason: { code: "TOO_LARGE", message: "more than 100", applied: "no", transient: false },
          });
        else expect(result).toEqual({ status: "fulfilled", value: { total: i % 10, nowMs: clock.nowMs } });
      expect((await opened.state(keys[5]!))?.bytes).toEqual(bytesOf("5"));
      expect(await opened.state(keys[9]!)).toBeUndefined();
    });

    test("steps of one turn that share an input all get it, and those of the next turn do not", async () => {
      const { store } = opened;
      const keys = Array.from({ length: 300 }, (_, i) => store.keyOf(`${i}`));
      for (const [turn, shared] of [
        { amount: 2, most: 100 },
        { amount: 5, most: 100 },
      ].entries()) {
        const runs = keys.map((each) => store.run(count, each, shared));
        expect(new Set((await Promise.all(runs)).map(({ total }) => total))).toEqual(new Set([turn === 0 ? 2 : 7]));
      }
      const refused = keys.map((each) => store.run(count, each, { amount: 99, most: 100 }));
      expect(new Set((await Promise.allSettled(refused)).map(({ status }) => status))).toEqual(new Set(["rejected"]));
    });

    test("calls of one turn on one key run in order", async () => {
      const runs = Array.from({ length: 600 }, (_, i) =>
        opened.store.run(append, key, { bytes: bytesOf(String(i % 10)), ...roomy }),
      );
      expect((await Promise.all(runs)).map(({ length }) => length)).toEqual(runs.map((_, i) => i + 1));
      const expected = Array.from(runs, (_, i) => i % 10).join("");
      expect((await opened.state(key))?.bytes).toEqual(bytesOf(expected));
    });

    test("a step on two keys moves a value as a whole", async () => {
      const { store } = opened;
      await store.run(append, key, { bytes: bytesOf("abc"), maxBytes: 9, lifetimeMs: 9000 });
      expect(await store.run(move, key, undefined)).toBe(3);
      expect(await opened.state(key)).toBeUndefined();
      expect(await opened.state(`${key}:1`)).toEqual({ bytes: bytesOf("abc"), expireAtMs: Number.POSITIVE_INFINITY });
      await expect(store.run(move, key, undefined)).rejects.toMatchObject({ code: "LOST" });
    });

    test("a repeatable step counts the same call once", async () => {
      expect(await opened.store.run(tally, key, "id01")).toBe(1);
      expect(await opened.store.run(tally, key, "id01")).toBe(1);
      expect(await opened.store.run(tally, key, "id02")).toBe(2);
    });

    test("an aborted signal rejects with its reason, and nothing runs", async () => {
      const reason = new RangeError("enough");
      const run = opened.store.run(
        append,
        key,
        { bytes: bytesOf("x"), ...roomy },
        { signal: AbortSignal.abort(reason) },
      );
      await expect(run).rejects.toBe(reason);
      expect(await opened.state(key)).toBeUndefined();
    });

    test("a wrong name throws at once", () => {
      for (const wrong of ["\ud800", "x".repeat(10_241), 7 as never, undefined as never])
        expect(() => opened.store.keyOf(wrong)).toThrowError(expect.objectContaining({ code: "ARGUMENT" }));
    });
  });
}
