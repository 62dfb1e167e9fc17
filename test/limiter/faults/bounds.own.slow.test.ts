import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { fixedWindow, gcra, Limiter, memoryStore, type Policy } from "../../../src/entries/index.ts";
import { ExpiringCache, MAX_CACHE_BYTES } from "../../../src/limits/limiter/client/expiring-cache.ts";
import type { DecideRequest } from "../../../src/limits/limiter/steps/decide.ts";
import type { Store } from "../../../src/store/contract.ts";
import { Random } from "../../simulator/world/random.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
async function heapBytes(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve));
    collect();
  }
  return process.memoryUsage().heapUsed;
}

const clock = { nowMs: Date.UTC(2100, 0, 1) };
const MAX_HEAP_BYTES = 1.5 * MAX_CACHE_BYTES;
/** An id of its own, as long as its client likes, not in one piece with any other. */
const idOf = (i: number, length: number, wide: string) =>
  Buffer.from(`${i} ${wide}${"x".repeat(length)}`, "utf8").toString("utf8");

const several = (id: string): Policy[] => [
  fixedWindow({ limit: id.length > 1e9 ? 1 : 0, span: "1h" }),
  ...Array.from({ length: 7 }, (_, i) => gcra({ limit: 1, span: "1h", name: `p${i}` })),
];
const ATTACKS: [what: string, length: number, wide: string, policies: Policy[] | typeof several, count: number][] = [
  ["short ids", 1, "", [fixedWindow({ limit: 0, span: "1h" })], 40_000],
  ["ids of 9 kB", 9_000, "", [fixedWindow({ limit: 0, span: "1h" })], 4_000],
  ["ids of two bytes a character", 3_000, "\u0431", [fixedWindow({ limit: 0, span: "1h" })], 4_000],
  ["eight policies of each id's own", 10, "", several, 8_000],
];

describe.each(ATTACKS)("under an attack with %s", (_what, length, wide, policies, count) => {
  /** The memory of a limiter after calls on many ids, with an empty store. */
  async function held(options: object, policiesOf: Policy[] | typeof several): Promise<number> {
    const store = memoryStore({ clock: () => clock.nowMs, maxBytes: 2 ** 30 });
    const limiter = new Limiter(store, policiesOf, { name: "api", ...options });
    await limiter.take("warm");
    const before = await heapBytes();
    for (let i = 0; i < count; i += 500)
      await Promise.all(Array.from({ length: 500 }, (_, j) => limiter.take(idOf(i + j, length, wide))));
    store.clear();
    for (const id of ["one", "other"]) await limiter.take(id); // the store's iterator gives the old entries up
    const after = await heapBytes();
    expect(limiter.name).toBe("api"); // it is held until here
    console.info(`${(after - before) >> 10} KiB held`);
    return after - before;
  }

  test("a deny cache stays within 1.5 times its bound", async () => {
    expect(await held({ denyCache: "100ms" }, policies)).toBeLessThan(MAX_HEAP_BYTES);
  });

  test("leases stay within 1.5 times their bound", async () => {
    const granting = (one: Policy) => ({ ...one, limit: 100 });
    const all = typeof policies === "function" ? (id: string) => policies(id).map(granting) : policies.map(granting);
    expect(await held({ lease: { permits: 20, for: "1s" } }, all)).toBeLessThan(MAX_HEAP_BYTES);
  });
});

test("while the store is silent, leases fetch ahead for a bounded number of ids, and take single permits for the others", async () => {
  const asked = { ahead: 0, one: 0 };
  const silent: Store = {
    ...memoryStore({ clock: () => clock.nowMs }),
    run(_operation, _key, input) {
      asked[(input as unknown as DecideRequest).isPartial ? "ahead" : "one"]++;
      return new Promise(() => {});
    },
  };
  const lease = { permits: 20, for: "1s" } as const;
  const limiter = new Limiter(silent, [fixedWindow({ limit: 100, span: "1h" })], { name: "api", lease });
  for (let i = 0; i < 20_000; i++) void limiter.take(`id ${i}`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(asked.ahead).toBeLessThan(MAX_CACHE_BYTES / 750 + 1);
  expect(asked.ahead).toBeGreaterThan(MAX_CACHE_BYTES / 2000);
  expect(asked.ahead + asked.one).toBe(20_000);
});

describe("the cache of short-lived entries", () => {
  test("drops entries after their time, and the oldest ones above its bound", () => {
    const recent = new ExpiringCache<number>(() => clock.nowMs);
    for (let i = 0; i < 9; i++) recent.set(`a${i}`, i, clock.nowMs + 100, 100);
    expect([recent.get("a0"), recent.sizeBytes]).toEqual([0, 900]);
    clock.nowMs += 100;
    expect([recent.get("a0"), recent.size]).toEqual([undefined, 8]);
    for (let i = 0; i < 5; i++) recent.set(`b${i}`, i, clock.nowMs + 100, 100);
    expect([recent.size, recent.sizeBytes]).toEqual([5, 500]);
    for (let i = 0; i < 4; i++) recent.set(`c${i}`, i, clock.nowMs + 100, MAX_CACHE_BYTES / 4);
    expect([recent.get("b4"), recent.get("c0"), recent.size]).toEqual([undefined, 0, 4]);
    recent.set("too large", 1, clock.nowMs + 100, MAX_CACHE_BYTES + 1);
    expect([recent.get("too large"), recent.size]).toEqual([undefined, 4]);
  });

  test("counts its entries correctly after any changes", () => {
    const random = new Random(Number(process.env.ORIEL_SEED ?? 7));
    const recent = new ExpiringCache<number>(() => clock.nowMs);
    const sizes = new Map<string, number>();
    for (let i = 0; i < 5000; i++) {
      clock.nowMs += random.int(0, 2);
      const id = `id ${random.int(0, 200)}`;
      const sizeBytes = random.int(1, MAX_CACHE_BYTES / 50);
      if (random.chance(0.7)) {
        recent.set(id, i, clock.nowMs + random.int(0, 100), sizeBytes);
        sizes.set(id, sizeBytes);
      } else if (random.chance(0.5)) recent.delete(id);
      else recent.get(id);
      expect(recent.sizeBytes).toBeLessThanOrEqual(MAX_CACHE_BYTES);
    }
    for (const id of sizes.keys()) recent.delete(id);
    expect([recent.sizeBytes, recent.size]).toEqual([0, 0]);
  });
});
