import { afterEach, describe, expect, test, vi } from "vitest";
import { fetchLimiter } from "../../src/entries/http.ts";
import {
  concurrency,
  gcra,
  Limiter,
  type LimiterOptions,
  memoryStore,
  type PoliciesCall,
  type Policy,
  slidingWindow,
} from "../../src/entries/index.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A table of plans, and a limiter that loads from it. */
function planned(options: Partial<LimiterOptions> = {}) {
  const clock = { nowMs: Date.UTC(2100, 0, 1) };
  const memory = memoryStore({ registry: false, clock: () => clock.nowMs });
  const limits = new Map([["ada", 3]]);
  const state = { loads: 0, failure: undefined as Error | undefined, steps: 0 };
  const run: typeof memory.run = (...call) => {
    state.steps++;
    return memory.run(...call);
  };
  const calls: PoliciesCall[] = [];
  const policies = async (id: string, call: PoliciesCall): Promise<Policy[]> => {
    state.loads++;
    calls.push(call);
    if (state.failure) throw state.failure;
    return [slidingWindow({ limit: limits.get(id) ?? 1, span: "1m" })];
  };
  const store = { ...memory, run, monotonic: () => clock.nowMs };
  const limiter = new Limiter(store, policies, { name: "api", cacheFor: "10s", ...options });
  return { clock, store, limits, state, calls, limiter };
}

describe("policies that are loaded", () => {
  test("are loaded once for all calls of an id at one time, and each id has its own", async () => {
    const { limiter, state } = planned();
    const ids = ["ada", "bob"];
    const decisions = await Promise.all(Array.from({ length: 40 }, (_, i) => limiter.take(ids[i % 2]!)));
    expect(decisions.filter(({ allowed }) => allowed).length).toBe(4);
    expect([state.loads, state.steps]).toEqual([2, 2]);
    expect((await limiter.take("ada")).allowed).toBe(false);
    expect(state.loads).toBe(2);
  });

  test("change within `cacheFor`, and what was used still counts", async () => {
    const { limiter, limits, clock, state } = planned();
    for (let i = 0; i < 3; i++) await limiter.take("ada");
    limits.set("ada", 5);
    clock.nowMs += 9_999;
    expect((await limiter.take("ada")).allowed).toBe(false);
    clock.nowMs += 1;
    expect(await limiter.take("ada")).toMatchObject({ allowed: true, limit: 5, remaining: 1 });
    limits.set("ada", 2);
    clock.nowMs += 10_000;
    expect(await limiter.take("ada")).toMatchObject({ allowed: false, limit: 2, remaining: 0 });
    expect(state.loads).toBe(3);
  });

  test("a list that the function changes and returns again is a change", async () => {
    const { store, clock } = planned();
    const list: Policy[] = [slidingWindow({ limit: 1, span: "1m" })];
    const limiter = new Limiter(store, async () => list, { name: "l", cacheFor: "10s", denyCache: "100ms" });
    const take = () => limiter.take("ada").then(({ allowed }) => allowed);
    expect([await take(), await take()]).toEqual([true, false]);
    list[0] = slidingWindow({ limit: 3, span: "1m" });
    expect(await take()).toBe(false);
    clock.nowMs += 10_000;
    expect([await take(), await take(), await take()]).toEqual([true, true, false]);
    list[0] = gcra({ limit: 3, span: "1m" });
    clock.nowMs += 10_000;
    await expect(take()).rejects.toMatchObject({ code: "ARGUMENT" });
  });

  test("are loaded for each call with a `cacheFor` of 0", async () => {
    const { limiter, state } = planned({ cacheFor: 0 });
    for (let i = 0; i < 3; i++) await limiter.take("ada");
    expect(state.loads).toBe(3);
  });

  test("hold on while the function fails. It is asked again after a second, and a warning says so once", async () => {
    const { limiter, limits, clock, state } = planned();
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    await limiter.take("ada");
    state.failure = new Error("the table is away");
    limits.set("ada", 7);
    clock.nowMs += 10_000;
    expect((await Promise.all([limiter.take("ada"), limiter.peek("ada")])).map(({ limit }) => limit)).toEqual([3, 3]);
    clock.nowMs += 999;
    await limiter.peek("ada");
    expect(state.loads).toBe(2);
    clock.nowMs += 1;
    await limiter.peek("ada");
    expect(state.loads).toBe(3);
    expect(warned.mock.calls.map(([text]) => String(text))).toEqual([
      'Limiter "api" goes on with the policies that it knows, because its function of policies failed: Error: the table is away',
    ]);
    state.failure = undefined;
    clock.nowMs += 1000;
    // The call does not wait for a function that failed last, and the next one has its answer.
    expect((await limiter.peek("ada")).limit).toBe(3);
    expect((await limiter.peek("ada")).limit).toBe(7);
  });

  test("while the function hangs, only the first calls of a known id wait for it", async () => {
    const { store, clock } = planned();
    vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    let [limit, isHanging] = [3, false];
    const policies = async () => {
      if (isHanging) await new Promise(() => {});
      return [slidingWindow({ limit, span: "1m" })];
    };
    const limiter = new Limiter(store, policies, { name: "l", cacheFor: "10s" });
    await limiter.peek("ada");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    [limit, isHanging] = [7, true];
    clock.nowMs += 10_000;
    let isAnswered = false;
    const first = limiter.peek("ada").finally(() => {
      isAnswered = true;
    });
    await vi.advanceTimersByTimeAsync(4999);
    expect(isAnswered).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect((await first).limit).toBe(3);
    for (let i = 0; i < 20; i++) {
      clock.nowMs += 700;
      await vi.advanceTimersByTimeAsync(700);
      expect((await limiter.peek("ada")).limit).toBe(3); // no timer ends meanwhile
    }
    isHanging = false;
    clock.nowMs += 6000;
    await vi.advanceTimersByTimeAsync(6000);
    clock.nowMs += 1000;
    await limiter.peek("ada");
    expect((await limiter.peek("ada")).limit).toBe(7);
  });

  test("a wrong answer after a failure rejects the next call", async () => {
    const { store, clock } = planned();
    vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    let answer: () => Policy[] = () => [slidingWindow({ limit: 3, span: "1m" })];
    const limiter = new Limiter(store, async () => answer(), { name: "l", cacheFor: "10s" });
    await limiter.peek("ada");
    answer = () => {
      throw new Error("away");
    };
    clock.nowMs += 10_000;
    expect((await limiter.peek("ada")).limit).toBe(3);
    answer = () => [];
    clock.nowMs += 1000;
    expect((await limiter.peek("ada")).limit).toBe(3);
    await expect(limiter.peek("ada")).rejects.toMatchObject({ code: "ARGUMENT" });
  });

  test("one warning says that they fail for an id, though others are loaded meanwhile, and one of the next outage", async () => {
    const { store, clock } = planned();
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const broken = new Set<string>();
    const policies = async (id: string) => {
      if (broken.has(id)) throw new Error("no such plan");
      return [slidingWindow({ limit: 3, span: "1m" })];
    };
    const limiter = new Limiter(store, policies, { name: "l", cacheFor: "1s" });
    await limiter.take("ada");
    broken.add("ada");
    for (let i = 0; i < 5; i++) {
      clock.nowMs += 30_000;
      await limiter.peek("ada");
      await limiter.peek("bob");
    }
    expect(warned).toHaveBeenCalledTimes(1);
    clock.nowMs += 60_000;
    await limiter.peek("ada");
    expect(warned).toHaveBeenCalledTimes(2);
  });

  test("hold on while a function throws before it promises", async () => {
    const { store, clock } = planned();
    vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const state = { isClosed: false, loads: 0 };
    const policies = () => {
      state.loads++;
      if (state.isClosed) throw new Error("the pool is closed");
      return Promise.resolve([slidingWindow({ limit: 3, span: "1m" })]);
    };
    const limiter = new Limiter(store, policies, { name: "l", cacheFor: "10s" });
    await limiter.take("ada");
    state.isClosed = true;
    clock.nowMs += 10_000;
    for (let i = 0; i < 2; i++) expect((await limiter.peek("ada")).limit).toBe(3);
    expect(state.loads).toBe(2);
    await expect(limiter.peek("bob")).rejects.toThrow("the pool is closed");
  });

  test("without any, a call rejects with the function's error, and nothing is written. The next one asks again", async () => {
    const { limiter, state } = planned({ onStoreError: "allow" });
    state.failure = new TypeError("no such table");
    for (let i = 1; i <= 2; i++) {
      await expect(limiter.take("ada")).rejects.toBe(state.failure);
      expect([state.loads, state.steps]).toEqual([i, 0]);
    }
    state.failure = undefined;
    expect((await limiter.take("ada")).allowed).toBe(true);
  });

  test("a function that does not answer is late after 5 s, and its signal aborts", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const clock = { nowMs: 1e12 };
    const store = memoryStore({ registry: false, clock: () => clock.nowMs });
    let signal: AbortSignal | undefined;
    const limiter = new Limiter(store, (_, call) => new Promise(() => ({ signal } = call)), { name: "l" });
    const late = [limiter.take("a"), limiter.take("a", { cost: 2 })].map((call) => call.catch((error) => error));
    await vi.advanceTimersByTimeAsync(4999);
    expect(signal!.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    for (const error of await Promise.all(late)) {
      expect(error).toMatchObject({ name: "OrielError", code: "DEADLINE", transient: true, applied: "no" });
      expect(error.message).toBe('Limiter "l": policies("a") did not answer within 5000 ms');
      expect(signal!.reason).toBe(error);
    }
  });

  test("a signal that a late function looks at afterwards has aborted", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const signals: AbortSignal[] = [];
    const policies = async (_: string, call: PoliciesCall) => {
      await new Promise((resolve) => setTimeout(resolve, 6000)); // a free connection
      signals.push(call.signal);
      return [slidingWindow({ limit: 1, span: "1m" })];
    };
    const limiter = new Limiter(memoryStore({ registry: false }), policies, { name: "l" });
    const late = limiter.take("a").catch((error) => error);
    await vi.advanceTimersByTimeAsync(6000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(signals[0]!.reason).toBe(await late);
  });

  test.each(["take", "peek", "acquire"] as const)(
    "a signal ends the wait of %s, and not that of others",
    async (call) => {
      let answer = (_: Policy[]) => {};
      const store = memoryStore({ registry: false });
      const limiter = new Limiter(store, () => new Promise<Policy[]>((resolve) => (answer = resolve)), { name: "l" });
      const abort = new AbortController();
      const ended: unknown[] = [];
      limiter[call]("a", { signal: abort.signal }).catch((reason) => ended.push(reason));
      const other = limiter.take("a");
      abort.abort("enough");
      await new Promise((resolve) => setImmediate(resolve));
      expect(ended).toEqual(["enough"]);
      answer([slidingWindow({ limit: 1, span: "1m" })]);
      expect((await other).allowed).toBe(true);
    },
  );

  test("are loaded once for a change, so that no failure after it hides it", async () => {
    const { limiter, state } = planned({ cacheFor: 0 });
    for (const change of [
      () => limiter.penalty("ada", 2),
      () => limiter.reward("ada", 1),
      () => limiter.block("ada", 0),
    ]) {
      state.loads = 0;
      await change();
      expect(state.loads).toBe(1);
    }
    expect((await limiter.peek("ada")).remaining).toBe(2);
  });

  test("every call waits for them", async () => {
    const store = memoryStore({ registry: false });
    const policies = async () => [
      slidingWindow({ limit: 10, span: "1m", name: "calls" }),
      concurrency({ limit: 2, lease: "1m" }),
    ];
    const limiter = new Limiter(store, policies, { name: "l", cacheFor: 0 });
    const { permit } = await limiter.take("a", { cost: 2 });
    expect((await limiter.acquire("a", { wait: 0 })).policy).toBe("concurrency");
    await limiter.release("a", permit!);
    expect((await limiter.penalty("a", 3)).policies[0]!.remaining).toBe(5);
    expect((await limiter.reward("a", 1)).policies[0]!.remaining).toBe(6);
    const windows = new Limiter(store, async () => [slidingWindow({ limit: 9, span: "1m" })], {
      name: "w",
      cacheFor: 0,
    });
    const reservation = await windows.reserve("a", { cost: 4, lease: "1m" });
    await reservation.settle(2);
    expect((await windows.peek("a")).remaining).toBe(7);
    const both = [
      { limiter: windows, id: "a", cost: 8 },
      { limiter, id: "a" },
    ];
    expect((await Limiter.takeAll(both, { tag: "t" })).allowed).toBe(true);
    expect((await Limiter.takeAll(both, { tag: "t" })).policy).toBe("w:sliding-window");
    await windows.block("a", "1m");
    expect((await windows.take("a")).allowed).toBe(false);
    await windows.reset("a");
    expect((await windows.take("a")).remaining).toBe(8);
  });
});

test("a failing load of a `takeAll` whose next request is refused is no unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const hear = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", hear);
  try {
    const { limiter, state } = planned();
    state.failure = new Error("the table is away");
    const requests = [
      { limiter, id: "ada" },
      { limiter, id: "bob", cost: -1 },
    ];
    await expect(Limiter.takeAll(requests, { tag: "t" })).rejects.toMatchObject({ code: "ARGUMENT", applied: "no" });
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
    expect([state.loads, state.steps, unhandled]).toEqual([1, 0, []]);
  } finally {
    process.off("unhandledRejection", hear);
  }
});

describe("a function of policies", () => {
  const one = () => [slidingWindow({ limit: 1, span: "1m" })];
  const wrong: [what: string, answer: unknown, message: RegExp][] = [
    ["nothing", undefined, /policies\("second"\) is undefined; it must be an array of 1 to 16 policies/],
    ["no policy", [{}], /policies\("second"\) is .* a result of slidingWindow/],
    ["another kind", [gcra({ limit: 1, span: "1m" })], /policies\("second"\) is "gcra"; it must be sliding-window/],
    [
      "another kind of the same name",
      [gcra({ limit: 1, span: "1m", name: "sliding-window" })],
      /"sliding-window \(gcra\)"; it must be sliding-window$/,
    ],
    ["another name", [slidingWindow({ limit: 1, span: "1m", name: "x" })], /"x \(sliding-window\)"/],
    ["one more", [...one(), gcra({ limit: 1, span: "1m" })], /"sliding-window, gcra"; it must be sliding-window$/],
  ];
  const forms: [string, (answer: unknown) => unknown][] = [
    ["at once", (answer) => answer],
    ["as a promise", async (answer) => answer],
  ];
  describe.each(forms)("%s", (_, given) => {
    test.each(wrong)(
      "that answers %s is refused in that call, and nothing is written",
      async (_what, answer, message) => {
        const memory = memoryStore({ registry: false });
        let steps = 0;
        const run: typeof memory.run = (...call) => {
          steps++;
          return memory.run(...call);
        };
        const policies = (id: string) => given(id === "second" ? answer : one()) as Policy[];
        const limiter = new Limiter({ ...memory, run }, policies, { name: "l" });
        await limiter.take("first");
        for (const call of [() => limiter.take("second"), () => limiter.take("second", { cost: 0 })]) {
          await expect(call()).rejects.toMatchObject({ code: "ARGUMENT", structure: "Limiter", applied: "no" });
          await expect(call()).rejects.toThrow(message);
        }
        expect(steps).toBe(1);
        expect((await limiter.take("third")).allowed).toBe(true);
      },
    );
  });

  test("sees the key and the request of a call", async () => {
    const { limiter, calls } = planned({ cacheFor: 0 });
    await limiter.take("ada");
    await limiter.peek("ada", { key: 7, request: "r" });
    expect(calls.map(({ key, request }) => [key, request])).toEqual([
      ["ada", undefined],
      [7, "r"],
    ]);
  });

  test("sees those of a middleware, so that plan, cost and key come from the request", async () => {
    const seen: unknown[] = [];
    const store = memoryStore({ registry: false });
    const policies = async (id: string, { key, request }: PoliciesCall) => {
      seen.push([id.slice(0, 6), key]);
      const limit = (request as Request).headers.get("plan") === "pro" ? 10 : 2;
      return [slidingWindow({ limit, span: "1m" })];
    };
    const handle = fetchLimiter(new Limiter(store, policies, { name: "l" }), () => new Response("ok"), {
      key: (request) => request.headers.get("user")!,
      cost: (request) => Number(request.headers.get("cost")),
    });
    const long = "x".repeat(300);
    const ask = (user: string, plan: string) =>
      handle(new Request("http://a/", { headers: { user, plan, cost: "2" } })).then(({ status }) => status);
    expect([await ask("a", "free"), await ask("a", "free"), await ask(long, "pro"), await ask(long, "pro")]).toEqual([
      200, 429, 200, 200,
    ]);
    expect(seen).toEqual([
      ["a", "a"],
      ["sha256", long],
    ]);
  });
});
