import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GroupNames } from "../../src/engine/groups/group-names.ts";
import { OwnGroups } from "../../src/engine/groups/labels.ts";
import { NumberedAppends } from "../../src/engine/groups/numbered-appends.ts";
import { encodeFrame } from "../../src/engine/journal/format/frames.ts";
import { pairOf } from "../../src/engine/kernel/blocks/pairs.ts";
import { memoryStore, SeriesGroup } from "../../src/entries/index.ts";
import type { MemoryStore } from "../../src/store/memory/memory.ts";

describe("labels of any form", () => {
  let store: MemoryStore;
  beforeAll(() => {
    store = memoryStore();
  });
  afterAll(() => store.close());

  test("a label may have the name of what each object inherits", async () => {
    const group = new SeriesGroup(store, "inherited", { labels: ["constructor", "toString"] });
    await group.record(1, { constructor: "a", toString: "b" });
    for (const match of [undefined, {}, { constructor: "a" }, Object.create(null)])
      expect((await group.stats({ match: match as never })).rows).toMatchObject([
        { labels: { constructor: "a", toString: "b" } },
      ]);
    expect((await group.stats({ match: { toString: "a" } as never })).rows).toEqual([]);
    await expect(group.record(1, { constructor: "a" } as never)).rejects.toThrow(/labels\.toString is a function/);
    await group.close();
  });

  test("options that are no options, and holes in lists, are refused with one clear error", async () => {
    const group = new SeriesGroup(store, "refused", { labels: ["a", "b"] });
    for (const options of [null, 5, "p99"])
      await expect(group.top(1, options as never)).rejects.toMatchObject({ code: "ARGUMENT", applied: "no" });
    await expect(group.top(1, null as never)).rejects.toThrow(/options is null; it must be an object with span, .*by/);
    // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
    await expect(group.stats({ by: [, "a"] as never })).rejects.toThrow(/by\[0\] is undefined; it must be one of/);
    await group.close();
  });

  test("labels that a loop does not find count as their group, even when there are as many groups as may be", async () => {
    class Path {
      get route() {
        return "/a";
      }
    }
    const group = new SeriesGroup(store, "found", { labels: ["route"], maxGroups: 1 });
    await group.record(1, { route: "/a" });
    await group.record(2, new Path());
    expect(await group.stats()).toMatchObject({ others: 0, rows: [{ labels: { route: "/a" }, count: 2 }] });
    await group.close();
  });

  test("the group _other may be the first one, and takes no number", async () => {
    const [one, other] = [1, 2].map(() => new SeriesGroup(store, "others", { labels: ["a"], maxGroups: 1 }));
    await one!.record(1, { a: "_other" });
    await other!.record(2, { a: "x" });
    for (const group of [one!, other!])
      expect(await group.stats()).toMatchObject({ others: 1, degraded: false, rows: [{ count: 1 }, { count: 1 }] });
    await one!.close();
    await other!.close();
  });

  test("130 000 groups get their numbers in one append", async () => {
    const total = 130_000;
    const key = store.keyOf("many");
    const halfOf = (half: number) =>
      Float64Array.from({ length: total / 2 }, (_, i) => pairOf(1 + i + (half * total) / 2, 1));
    const own = new OwnGroups(
      ["a"],
      total,
      () => false,
      () => {},
    );
    for (let i = 0; i < total; i++) own.numberOf({ a: `${i}` });
    let drawn = 0;
    const names = new GroupNames(store, key, {
      ...{ labels: ["a"], maxGroups: total, retentionMs: 60_000, entropy: () => ++drawn, onFull: () => {} },
    });
    await new NumberedAppends(store, key, names, own).send(
      {
        ...{ valueType: 5, clock: 0, retentionMs: 60_000, voidAfterMs: Date.now(), birth: 1, known: "none" },
        frames: [0, 1].map((half) => encodeFrame(1, half, halfOf(half))),
      },
      {},
    );
    expect(names.numberOf([`${total - 1}`])).toBe(total);
  });
});
