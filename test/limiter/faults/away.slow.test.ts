import { beforeEach, describe, expect, test } from "vitest";
import {
  calendarWindow,
  concurrency,
  fixedWindow,
  Limiter,
  localDecisions,
  OrielError,
} from "../../../src/entries/index.ts";
import type { LimiterOptions } from "../../../src/limits/limiter/options.ts";
import type { Store } from "../../../src/store/contract.ts";
import { until } from "../../harness/until.ts";
import { type AwayStore, awayStore } from "./away-store.ts";

let opened: AwayStore;
let store: Store;
beforeEach(() => {
  opened = awayStore();
  store = opened.store;
});
const limiterOf = (
  name: string,
  options: Partial<LimiterOptions> = {},
  policy = fixedWindow({ limit: 6, span: "1h" }),
) => new Limiter(store, [policy], { name, ...options });
const wish = (mode: "throw" | "allow" | "deny" | "local") => (mode === "local" ? localDecisions() : mode);
const away = { transient: true, code: "DEADLINE" };

describe("takeAll", () => {
  const wanted = (...limiters: Limiter[]) => limiters.map((limiter) => ({ limiter, id: "a", cost: 2 }));
  const tag = "t";

  test.each([
    [["throw", "allow", "deny", "local"], "throw"],
    [["allow", "deny", "local"], "deny"],
    [["allow", "local"], "local"],
    [["allow", "allow"], "allow"],
  ] as const)("of limiters with onStoreError %o: %s", async (wishes, decides) => {
    const limiters = wishes.map((wished, i) => limiterOf(`l${i}`, { onStoreError: wish(wished) }));
    opened.isStoreFailure = true;
    const taking = Limiter.takeAll(wanted(...limiters), { tag });
    if (decides === "throw") return expect(taking).rejects.toMatchObject(away);
    const allowed = decides !== "deny";
    const decision = await taking;
    expect(decision).toMatchObject({ allowed, granted: allowed ? 2 : 0, degraded: true, degradedBy: decides });
    expect(decision.retryAfterMs).toBe(allowed ? 0 : 1000);
    expect(decision.policies.map(({ name }) => name)).toEqual(limiters.map(({ name }) => `${name}:fixed-window`));
    // A step notes the process for each limiter that shares its limits.
    expect(opened.asked).toBe(1 + wishes.filter((wished) => wished === "local").length);
  });

  test("local: from all shares or from none, including earlier takes with the same tag", async () => {
    const wide = limiterOf("wide", { onStoreError: localDecisions() });
    const half = limiterOf("half", { onStoreError: localDecisions({ share: 0.5 }) });
    opened.isStoreFailure = true;
    expect(await half.take("a", { tag })).toMatchObject({ allowed: true, degraded: true, remaining: 2 });
    const both = () => Limiter.takeAll(wanted(wide, half), { tag });
    expect(await both()).toMatchObject({ allowed: true, policy: "half:fixed-window", limit: 3, remaining: 0 });
    expect(await both()).toMatchObject({ allowed: false, policy: "half:fixed-window", degradedBy: "local" });
    expect(await wide.peek("a", { tag })).toMatchObject({ degraded: true, remaining: 4 });
    opened.isStoreFailure = false;
    expect(await both()).toMatchObject({ allowed: true, degraded: false });
    expect(await wide.peek("a", { tag })).toMatchObject({ degraded: false, remaining: 4 });
  });

  test("a wrong argument always throws", async () => {
    const [one, other] = [limiterOf("one", { onStoreError: "allow" }), limiterOf("one", { onStoreError: "allow" })];
    opened.isStoreFailure = true;
    await expect(Limiter.takeAll(wanted(one, other), { tag })).rejects.toMatchObject({ code: "ARGUMENT" });
    expect(opened.asked).toBe(0);
  });
});

describe("reserve", () => {
  const terms = { cost: 4, lease: "1m" } as const;

  test("throw: rejects", async () => {
    opened.isStoreFailure = true;
    await expect(limiterOf("r").reserve("a", terms)).rejects.toMatchObject(away);
  });

  test("deny: denies, and nothing is reserved", async () => {
    opened.isStoreFailure = true;
    const denied = await limiterOf("r", { onStoreError: "deny" }).reserve("a", terms);
    expect(denied).toMatchObject({ allowed: false, degraded: true, degradedBy: "deny", retryAfterMs: 1000 });
    expect(await denied.cancel()).toBe(false);
    await expect(denied.settle(1)).rejects.toMatchObject({ code: "ARGUMENT", applied: "no" });
  });

  test("allow: always reserves; settle and cancel then send and charge nothing, even when the store is back", async () => {
    const limiter = limiterOf("r", { onStoreError: "allow" });
    opened.isStoreFailure = true;
    const both = [await limiter.reserve("a", terms), await limiter.reserve("a", terms)];
    expect(both).toMatchObject([
      { degraded: true, degradedBy: "allow", allowed: true, granted: 4 },
      { degraded: true, degradedBy: "allow", allowed: true, granted: 4 },
    ]);
    expect(await both[0]!.charge(1)).toBe(false);
    expect(await both[0]!.settle(3)).toBe(false);
    opened.isStoreFailure = false;
    expect(await both[1]!.cancel()).toBe(false);
    await expect(both[1]!.settle(-1)).rejects.toMatchObject({ code: "ARGUMENT" });
    expect(opened.asked).toBe(2);
    expect(await limiter.peek("a")).toMatchObject({ remaining: 6, degraded: false });
    expect(await limiter.reserve("a", terms)).toMatchObject({ degraded: false });
  });

  test("local: reserves from this process's share; settled there once, and never charged to the store", async () => {
    const limiter = limiterOf("r", { onStoreError: localDecisions({ share: 0.9 }) });
    opened.isStoreFailure = true;
    expect(await limiter.reserve("a", { ...terms, cost: 6 })).toMatchObject({ allowed: false, degradedBy: "local" });
    const reserved = await limiter.reserve("a", terms);
    expect(reserved).toMatchObject({ allowed: true, degraded: true, degradedBy: "local", granted: 4, limit: 5 });
    expect(await limiter.reserve("a", terms)).toMatchObject({ allowed: false });
    expect(await limiter.take("a", { cost: 2 })).toMatchObject({ allowed: false, degradedBy: "local" });
    opened.isStoreFailure = false;
    expect(await reserved.charge(1)).toMatchObject({ policies: [{ charged: 1 }] });
    expect(await reserved.settle(1)).toMatchObject({ policies: [{ charged: 1, debt: 0 }] });
    expect(await reserved.settle(1)).toBe(false);
    expect(await limiter.peek("a")).toMatchObject({ remaining: 6, degraded: false });
    opened.isStoreFailure = true;
    expect(await limiter.peek("a")).toMatchObject({ remaining: 4, degraded: true });
  });

  test("a settlement with lost answers is charged once, and answered on a retry", async () => {
    const limiter = limiterOf("r", { onStoreError: "allow" });
    const reserved = await limiter.reserve("a", terms);
    const run = store.run;
    store.run = async (...args) => {
      await run(...args);
      throw new OrielError("DEADLINE", "lost", { transient: true, applied: "unknown" });
    };
    await expect(reserved.settle(3)).rejects.toMatchObject(away);
    store.run = run;
    expect(await reserved.settle(3)).toMatchObject({ policies: [{ charged: 3 }] });
    expect(await reserved.settle(3)).toBe(false);
    expect(await limiter.peek("a")).toMatchObject({ remaining: 3 });
  });
});

describe("local", () => {
  test("a decision by a share of a limit has the policy's own span", async () => {
    const limiter = limiterOf("l", { onStoreError: localDecisions({ share: 0.5 }) });
    opened.isStoreFailure = true;
    const { policies } = await limiter.take("a");
    expect(policies).toMatchObject([{ limit: 3, spanMs: 3_600_000 }]);
  });

  test("a calendar window is that of this process's clock, and the result says that it decided alone", async () => {
    const month = calendarWindow({ limit: 6, every: "month", timeZone: "Pacific/Kiritimati" });
    const limiter = limiterOf("l", { onStoreError: localDecisions({ share: 0.5 }) }, month);
    expect(await limiter.take("a", { cost: 6 })).toMatchObject({ allowed: true, degraded: false });
    opened.isStoreFailure = true;
    const alone = await limiter.take("a", { cost: 3 });
    expect(alone).toMatchObject({ allowed: true, remaining: 0, degraded: true, degradedBy: "local" });
    const { resetAtMs, spanMs } = alone.policies[0]!;
    const nowMs = Date.now();
    expect(resetAtMs! > nowMs && resetAtMs! - spanMs! <= nowMs).toBe(true);
    expect(new Date(resetAtMs! + 14 * 3_600_000).getUTCDate()).toBe(1);
    expect(await limiter.take("a")).toMatchObject({ allowed: false, degradedBy: "local" });
    opened.isStoreFailure = false;
    expect(await limiter.take("a")).toMatchObject({ allowed: false, degraded: false });
  });

  test("atLeast takes fewer permits than the cost", async () => {
    const limiter = limiterOf("l", { onStoreError: localDecisions() });
    opened.isStoreFailure = true;
    expect(await limiter.take("a", { cost: 4 })).toMatchObject({ allowed: true, granted: 4 });
    expect(await limiter.take("a", { cost: 4, atLeast: 3 })).toMatchObject({ allowed: false, granted: 0 });
    expect(await limiter.take("a", { cost: 4, atLeast: 1 })).toMatchObject({ allowed: true, granted: 2, remaining: 0 });
  });

  test("a cost above the share is tried again, and passes when the store is back", async () => {
    const limiter = limiterOf("l", { onStoreError: localDecisions({ share: 0.5 }) });
    opened.isStoreFailure = true;
    const denied = { allowed: false, retryAfterMs: 1000, degradedBy: "local" };
    expect(await limiter.take("a", { cost: 4 })).toMatchObject({ ...denied, policies: [{ retryAfterMs: 1000 }] });
    const waiting = limiter.acquire("a", { cost: 4, wait: "10s" });
    await until("it was denied once", () => opened.asked === 2);
    opened.isStoreFailure = false;
    expect(await waiting).toMatchObject({ allowed: true, degraded: false, remaining: 2 });
  });

  test("a request counts once, and keeps its permit", async () => {
    const limiter = limiterOf("l", { onStoreError: localDecisions() }, concurrency({ limit: 2, lease: "1h" }));
    opened.isStoreFailure = true;
    const [one, again] = [await limiter.take("a", { requestId: "r" }), await limiter.take("a", { requestId: "r" })];
    expect(again).toEqual(one);
    expect(one).toMatchObject({ allowed: true, remaining: 1, permit: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(await limiter.take("a", { requestId: "s" })).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.take("a", { requestId: "t" })).toMatchObject({ allowed: false });
  });

  test("permits return to their lender, store or process, during and after the outage", async () => {
    const pool = limiterOf("l", { onStoreError: localDecisions() }, concurrency({ limit: 3, lease: "1h" }));
    const other = limiterOf("l", { onStoreError: localDecisions() }, concurrency({ limit: 3, lease: "1h" }));
    const { permit: stored } = await pool.take("a");
    opened.isStoreFailure = true;
    const lent = await Promise.all([pool.take("a"), pool.take("a"), pool.take("a"), pool.take("a")]);
    expect(lent.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
    expect(new Set(lent.slice(0, 3).map(({ permit }) => permit)).size).toBe(3);
    const before = opened.asked;
    await pool.release("a", lent[0]!.permit!);
    await pool.release("a", lent[0]!.permit!);
    expect(opened.asked).toBe(before);
    expect(await other.peek("a")).toMatchObject({ remaining: 1, degraded: true });
    await expect(pool.release("a", stored!)).rejects.toMatchObject(away);
    opened.isStoreFailure = false;
    await pool.release("a", lent[1]!.permit!);
    expect(await pool.peek("a")).toMatchObject({ remaining: 2, degraded: false });
    await pool.release("a", stored!);
    expect(await pool.peek("a")).toMatchObject({ remaining: 3, degraded: false });
    opened.isStoreFailure = true;
    expect(await pool.peek("a")).toMatchObject({ remaining: 2, degraded: true });
  });

  test("takeAll lends permits too", async () => {
    const pool = limiterOf("l", { onStoreError: localDecisions() }, concurrency({ limit: 1, lease: "1h" }));
    const [wanted, tag] = [[{ limiter: pool, id: "a" }], "t"];
    opened.isStoreFailure = true;
    const { permit } = await Limiter.takeAll(wanted, { tag });
    expect(await Limiter.takeAll(wanted, { tag })).toMatchObject({ allowed: false });
    await pool.release("a", permit!, { tag });
    expect(await Limiter.takeAll(wanted, { tag })).toMatchObject({ allowed: true });
  });
});

describe("calls that change a state always reject", () => {
  const verbs: Record<string, (limiter: Limiter) => Promise<unknown>> = {
    penalty: (limiter) => limiter.penalty("a"),
    reward: (limiter) => limiter.reward("a"),
    block: (limiter) => limiter.block("a", "1h"),
    reset: (limiter) => limiter.reset("a"),
    release: (limiter) => limiter.release("a", "0".repeat(32)),
  };
  test.each(Object.keys(verbs))("%s", async (verb) => {
    for (const wished of ["throw", "allow", "deny", "local"] as const) {
      const limiter = limiterOf("c", { onStoreError: wish(wished) });
      opened.isStoreFailure = true;
      await expect(verbs[verb]!(limiter)).rejects.toMatchObject({ ...away, message: `Limiter "c" ${verb}: no answer` });
      opened.isStoreFailure = false;
      await verbs[verb]!(limiter);
    }
  });

  test("a change that was applied, but whose state could not be read, may be applied", async () => {
    const run = store.run;
    const failing = { code: "UNAVAILABLE", transient: true, applied: "unknown" };
    for (const verb of ["penalty", "reward", "block"]) {
      const limiter = limiterOf("p");
      let steps = 0;
      store.run = (...args) =>
        ++steps === 1
          ? run(...args)
          : Promise.reject(new OrielError("UNAVAILABLE", "out of reach", { transient: true, applied: "no" }));
      await expect(verbs[verb]!(limiter)).rejects.toMatchObject(failing);
      store.run = run;
    }
  });
});
