import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Store } from "../../../src/store/contract.ts";
import { holdingTimers } from "../../harness/clock/held-timers.ts";
import { type Fault, startRest } from "../../harness/servers/rest-server.ts";
import { until } from "../../harness/until.ts";
import { HttpStage } from "../contract/http-stage.ts";
import { input } from "../contract/redis-stage.ts";
import { append, tally } from "../ops/operations.ts";

const stage = new HttpStage();
let store: Store;
let key: string;
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});
beforeEach(async () => {
  store = stage.open({ deadline: "5m" });
  key = store.keyOf("k");
  await Promise.all([store.run(append, store.keyOf("warm"), input("x")), store.run(tally, store.keyOf("t"), "warm")]);
  stage.rest.requests.length = 0;
});
const faults = (...each: Fault[]) => {
  stage.rest.faultOf = () => each.shift();
};
/** A fault that lasts until the test ends it. */
const held = () => {
  let release = () => {};
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  ends.push(release);
  return { fault: { hold }, release };
};

/** Starts a call whose time for an answer, the deadline or a part of it, is over when these commands have come to the server. */
const unansweredAfter = async <T>(
  commands: readonly string[],
  start: () => Promise<T>,
): Promise<{ run: Promise<T> }> => {
  const arrive = async () => {
    const run = start();
    run.catch(() => {});
    await until(`${commands} have come`, () => commands.every((name) => stage.asked.join(" ").includes(name)));
    return { run };
  };
  return holdingTimers(30_000, arrive, true);
};

const LOST: Record<string, Fault> = {
  "a cut connection": { cut: "after it was run" },
  "no JSON": { answer: "<html>" },
  "another form": { answer: "null" },
  "no result": { answer: "{}" },
  "no base64": { answer: '{"result":["*"]}' },
};

describe.each(Object.entries(LOST))("a reply that is lost: %s", (_name, fault) => {
  test("a repeatable call is sent again and counts once", async () => {
    faults(fault);
    expect(await store.run(tally, key, "0001")).toBe(1);
    expect(stage.asked).toEqual(["EVALSHA", "EVALSHA"]);
    expect(await stage.raw.get(key)).toBe("0001");
  });

  test("any other call is not sent again, and may have been applied", async () => {
    faults(fault);
    const run = store.run(append, key, input("x"));
    await expect(run).rejects.toMatchObject({ code: "UNAVAILABLE", transient: true, applied: "unknown" });
    expect(stage.asked).toEqual(["EVALSHA"]);
    expect(await stage.raw.get(key)).toBe("x");
  });
});

test("a lost request: nothing is applied, and a repeatable call succeeds", async () => {
  faults({ cut: "before it is run" }, { cut: "before it is run" });
  await expect(store.run(append, key, input("x"))).rejects.toMatchObject({ applied: "unknown" });
  expect(await store.run(tally, key, "0001")).toBe(1);
  expect(stage.asked).toEqual(["EVALSHA", "EVALSHA", "EVALSHA"]);
});

test.each([500, 502, 503, 504, 408])("HTTP %s counts as no answer", async (status) => {
  faults({ status });
  await expect(store.run(append, key, input("x"))).rejects.toMatchObject({ code: "UNAVAILABLE", applied: "unknown" });
  faults({ status }, { status });
  expect(await store.run(tally, key, "0001")).toBe(1);
});

test.each([302, 403, 404, 405, 413])("HTTP %s is a refusal: nothing ran, and nothing is sent again", async (status) => {
  faults({ status, headers: { Location: stage.rest.url } });
  const run = store.run(tally, key, "0001");
  await expect(run).rejects.toMatchObject({ code: "UNAVAILABLE", transient: false, applied: "no" });
  await expect(run).rejects.toThrow(String(status));
  expect(stage.asked).toHaveLength(1);
});

test("a server whose scripts were flushed gets them once, with the next call", async () => {
  await stage.raw.script("FLUSH");
  const runs = [1, 2, 3].map((i) => store.run(append, store.keyOf(`${i}`), input("x")));
  const counted = store.run(tally, key, "0001");
  expect((await Promise.all(runs)).map(({ length }) => length)).toEqual([1, 1, 1]);
  expect(await counted).toBe(1);
  // The second time without Upstash's flag, which this server refuses.
  expect(stage.asked).toEqual(["EVALSHA EVALSHA", "EVAL EVAL", "EVAL EVAL"]);
  await store.run(append, key, input("x"));
  expect(stage.asked.at(-1)).toBe("EVALSHA");
});

test("HTTP 429: the store waits as long as the server asks for", async () => {
  const beganMs = performance.now();
  faults({ status: 429, headers: { "Retry-After": "1" } });
  await store.run(append, key, input("x"));
  expect(performance.now() - beganMs).toBeGreaterThan(999);
  faults({ status: 429 }, { status: 429, headers: { "Retry-After": "soon" } });
  await store.run(append, key, input("x"));
  expect(await stage.raw.get(key)).toBe("xx");
  expect(stage.asked).toHaveLength(5);
});

test("HTTP 429 beyond the deadline: UNAVAILABLE and not applied", async () => {
  stage.rest.faultOf = () => ({ status: 429, headers: { "Retry-After": "3600" } });
  const resting = stage.open({ deadline: "10s" });
  const { now } = performance;
  let aheadMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + aheadMs);
  ends.push(() => vi.restoreAllMocks());
  for (let i = 0; i < 2; i++) {
    const run = resting.run(append, key, input("x"));
    run.catch(() => {});
    await until("the first has come", () => stage.asked.length === 1);
    aheadMs += 10_000;
    await expect(run).rejects.toMatchObject({ code: "UNAVAILABLE", transient: true, applied: "no" });
  }
  expect(stage.asked).toHaveLength(1);
});

test("a refused token is not transient", async () => {
  const stranger = stage.open({ token: "wrong" });
  const run = stranger.run(tally, key, "0001");
  await expect(run).rejects.toMatchObject({ code: "UNAVAILABLE", transient: false, applied: "no" });
  await expect(run).rejects.toThrow(/token was refused: HTTP 401: WRONGPASS/);
});

test("a slow server: a repeatable call is sent again, and a request without waiting callers is aborted", async () => {
  faults(held().fault);
  const { run } = await unansweredAfter(["EVALSHA"], () => store.run(tally, key, "0001"));
  expect(await run).toBe(1);
  expect(stage.asked).toHaveLength(2);
  await until("the first is aborted", () => stage.rest.requests[0]!.isAborted());
});

test("a slow server: a check of dangerous settings is given up with the calls beside it", async () => {
  stage.rest.faultOf = () => held().fault;
  const start = () => stage.open({ deadline: "5m", onWarning: () => {} }).run(append, key, input("x"));
  const { run } = await unansweredAfter(["EVALSHA", "INFO"], start);
  await expect(run).rejects.toMatchObject({ code: "DEADLINE" });
  await until("the requests are aborted", () => stage.rest.requests.every(({ isAborted }) => isAborted()));
});

test("a slow server: any other call is DEADLINE, and may be applied later", async () => {
  const { fault, release } = held();
  faults(fault);
  const { run } = await unansweredAfter(["EVALSHA"], () => store.run(append, key, input("x")));
  await expect(run).rejects.toMatchObject({ code: "DEADLINE", applied: "unknown" });
  await until("the request is aborted", () => stage.rest.requests[0]!.isAborted());
  release();
  await until("it was run", async () => (await stage.raw.get(key)) === "x");
  expect(stage.asked).toHaveLength(1);
});

test("a request continues for callers that still wait for a part of it", async () => {
  const { fault, release } = held();
  faults(fault);
  let appended!: Promise<{ length: number }>;
  // Only the time of the first call is over: it is a third of the deadline, and that of the other is all of it.
  const start = () => {
    const tallied = store.run(tally, key, "0001");
    appended = store.run(append, store.keyOf("a"), input("x"));
    return tallied;
  };
  const { run } = await holdingTimers(200_000, () => unansweredAfter(["EVALSHA EVALSHA"], start));
  expect(await run).toBe(1);
  expect(stage.asked).toEqual(["EVALSHA EVALSHA", "EVALSHA"]);
  expect(stage.rest.requests[0]!.isAborted()).toBe(false);
  release();
  expect((await appended).length).toBe(1);
  expect(await stage.raw.get(key)).toBe("0001");
});

test("an abort rejects its call with the reason, and no other", async () => {
  const { fault, release } = held();
  faults(fault);
  const giveUp = new AbortController();
  const runs = [
    store.run(append, key, input("x"), { signal: giveUp.signal }),
    store.run(append, store.keyOf("other"), input("y")),
  ];
  await until("it was sent", () => stage.asked.length === 1);
  giveUp.abort(new RangeError("enough"));
  await expect(runs[0]).rejects.toThrow("enough");
  release();
  expect(await runs[1]).toMatchObject({ length: 1 });
});

test("a server that is away is UNAVAILABLE and nothing is applied; calls succeed when it is back", async () => {
  const first = await startRest(stage.server.url);
  const traveller = stage.open({ url: first.url, token: first.token, deadline: 300 }); // It ends calls that nobody answers.
  await stage.open({ url: first.url, token: first.token, deadline: "5m" }).run(append, key, input("x"));
  await first.stop();
  // A call may still go to a connection that the runtime kept, or end while it is being refused: then nobody can know.
  let reported: unknown;
  await until("a call is refused in time", async () => {
    reported = await traveller.run(append, key, input("?")).catch((error) => error);
    return (reported as { applied: string }).applied === "no";
  });
  expect(reported).toMatchObject({ code: "UNAVAILABLE", transient: true });
  const second = await startRest(stage.server.url, first.token, Number(new URL(first.url).port));
  await until("it is reached", async () => (await traveller.run(append, key, input("x"))).length > 1);
  expect(await stage.raw.get(key)).toMatch(/^x+$/);
  await second.stop();
});

test("a closed store sends nothing", async () => {
  await store.close();
  stage.rest.requests.length = 0;
  await expect(store.run(append, key, input("x"))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(stage.asked).toEqual([]);
});
