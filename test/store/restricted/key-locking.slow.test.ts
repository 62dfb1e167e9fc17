import { beforeAll, describe, expect, test } from "vitest";
import { readWindow } from "../../../src/engine/journal/steps/read-window.ts";
import { fixedWindow, httpStore, Limiter, memoryStore, redisStore, Series } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import type { Fetch } from "../../../src/store/http/http-request.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { RespConnection } from "../../harness/network/resp-connection.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { startRest } from "../../harness/servers/rest-server.ts";
import { driveAll } from "./drive.ts";

const redis = oncePerFile(() => startRedis());

const started = async (isUpstash: boolean) => {
  const { url } = await redis();
  const raw = new RespConnection(url);
  await raw.send([["FLUSHALL"], ["SCRIPT", "FLUSH"]]);
  const rest = await startRest(url, "token", 0, isUpstash);
  atEnd(async () => {
    raw.close();
    await rest.stop();
  });
  /** A process of its own: another `fetch` knows nothing of the server. `host`: as its name is elsewhere. */
  const open = (host = rest.url) => {
    const fetch: Fetch = (url, init) => globalThis.fetch(url.replace(host, rest.url), init);
    const store = httpStore({ url: host, token: rest.token, fetch, deadline: 5000, registry: false });
    atEnd(() => store.close());
    return store;
  };
  /** Names of the commands since the last look, and whether their texts have the flag. */
  const sent = () =>
    rest.requests
      .splice(0)
      .map(({ commands }) =>
        commands
          .map(([name, text = ""]) => name + (/^#!lua flags=\S*allow-key-locking\n/.test(text) ? " with flag" : ""))
          .join(),
      );
  return { rest, raw, open, sent };
};
const OF_UPSTASH = "https://usw1-x.upstash.io";
const limiterOn = (store: ReturnType<typeof httpStore>) =>
  new Limiter(store, [fixedWindow({ limit: 100, span: "1h" })], { name: "l" });

describe("the servers of these tests", () => {
  const text = (flags: string, body: string) => `#!lua${flags}\n${body}`;
  const eachFlag = [
    " flags=allow-key-locking",
    " flags=allow-oom,allow-key-locking",
    " flags=allow-key-locking,allow-oom",
  ];

  test.each(eachFlag)("Upstash's own runs%s, on declared keys", async (flags) => {
    const { rest } = await started(true);
    const run = async (...words: string[]) => {
      const headers = { Authorization: `Bearer ${rest.token}` };
      return (await fetch(rest.url, { method: "POST", headers, body: JSON.stringify(words) })).json();
    };
    expect(await run("EVAL", text(flags, "return redis.call('SET', KEYS[1], 'a')"), "1", "k")).toEqual({
      result: "OK",
    });
    const refused = await run("EVAL", text(flags, "return redis.call('SET', 'other', 'a')"), "1", "k");
    expect(refused).toEqual({ error: expect.stringContaining("undeclared key") });
    expect(rest.locked).toEqual({ keys: 2, all: 0 });
    expect(await run("EVAL", text("", "return redis.call('SET', 'other', 'a')"), "1", "k")).toEqual({ result: "OK" });
    expect(rest.locked).toEqual({ keys: 2, all: 1 });
  });

  test.each(eachFlag)("a plain Redis refuses%s", async (flags) => {
    const { raw } = await started(false);
    const [reply] = await raw.send([["EVAL", text(flags, "return 1"), "1", "k"]]);
    expect(reply).toEqual({ error: expect.stringContaining("Unexpected flag in script shebang: allow-key-locking") });
  });
});

let expected: Awaited<ReturnType<typeof driveAll>>;
beforeAll(async () => {
  const store = memoryStore();
  expected = await driveAll(store);
  await store.close();
});

const TEXT = ["EVALSHA", "EVAL with flag"];
const REFUSED = [...TEXT, "EVAL"];

describe.each([
  { server: "Upstash's own, by its name", isUpstash: true, host: OF_UPSTASH, first: TEXT, next: ["EVALSHA"] },
  { server: "Upstash's own, by another name", isUpstash: true, host: undefined, first: TEXT, next: TEXT },
  { server: "a plain Redis", isUpstash: false, host: undefined, first: REFUSED, next: ["EVALSHA"] },
  { server: "a plain Redis with Upstash's name", isUpstash: false, host: OF_UPSTASH, first: REFUSED, next: REFUSED },
])("$server", ({ isUpstash, host, first, next }) => {
  test.runIf(host)("each call of every structure ends as in memory, and locks its keys only", async () => {
    const { rest, open } = await started(isUpstash);
    expect(await driveAll(open(host))).toEqual(expected);
    expect(rest.locked).toEqual({ keys: isUpstash ? expect.any(Number) : 0, all: 0 });
    expect(rest.locked.keys > 100).toBe(isUpstash);
  });

  test("the first call finds out what the server takes, and later ones know it", async () => {
    const { open, sent } = await started(isUpstash);
    for (const [i, expectedFirst] of [first, next].entries()) {
      const store = open(host);
      const limiter = limiterOn(store);
      expect(await limiter.take("a")).toMatchObject({ remaining: 99 - 2 * i });
      expect(sent()).toEqual(expectedFirst);
      expect(await limiter.take("a")).toMatchObject({ remaining: 98 - 2 * i });
      expect(sent()).toEqual(["EVALSHA"]);
    }
  });
});

test("with the flag a series does not look for chunks by undeclared keys", async () => {
  const { rest, open } = await started(true);
  const own = redisStore((await redis()).url);
  atEnd(() => own.close());
  const series = new Series(own, "chunks", { retention: "1h" });
  // 8 bytes each: more than one chunk of 1 MiB.
  for (let part = 0; part < 4; part++)
    await series.recordMany(Array.from({ length: 100_000 }, (_, i) => part * 100_000 + i));
  const found = async (store: Store) => {
    const answer = await store.run(readWindow, store.keyOf("chunks"), { spanMs: 6e4, fromMs: 0, maxBytes: 1e7 });
    return answer.closedChunks?.chunks.length;
  };
  expect(await found(own)).toBe(1);
  /** A server that takes the flag, and lets scripts read any key. */
  const lenient: Fetch = async (url, init) => {
    const body = (await new Response(init.body as string).text()).replace(
      / flags=allow-key-locking|,allow-key-locking/,
      "",
    );
    expect(/^\["EVALSHA"|ARGV\[0]=1/.test(body)).toBe(true);
    return fetch(url.replace(OF_UPSTASH, rest.url), { ...init, body });
  };
  const store = httpStore({ url: OF_UPSTASH, token: rest.token, fetch: lenient, deadline: 5000 });
  atEnd(() => store.close());
  expect(await found(store)).toBe(0);

  // By its name it is read all the same.
  const cold = new Series(open(OF_UPSTASH), "chunks", { retention: "1h" });
  expect(await cold.stats({ span: "1h" })).toMatchObject({ count: 400_000, max: 399_999, degraded: false });
  expect(rest.locked.keys).toBeGreaterThan(1);
});
