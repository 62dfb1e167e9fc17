import { beforeEach, describe, expect, test } from "vitest";
import type { Operation, Store } from "../../../src/store/contract.ts";
import { HttpStage } from "../contract/http-stage.ts";
import { input } from "../contract/redis-stage.ts";
import { append, count, remove, tally } from "../ops/operations.ts";

// Ways in which a call over HTTP could be lost, doubled or changed on its way.
const stage = new HttpStage();
let store: Store;
let key: string;
beforeEach(() => {
  store = stage.open({ deadline: 10_000 });
  key = store.keyOf("k");
});
const bytesOf = (text: string) => Buffer.from(text, "latin1");

/** As it comes back from a step, and as Redis has it. */
async function kept(bytes: Uint8Array) {
  await store.run(append, key, { bytes, maxBytes: 1e9, lifetimeMs: 0 });
  const there = await stage.raw.getBuffer(key);
  expect(Buffer.compare(await store.run(remove, key, undefined), there!)).toBe(0);
  return there!;
}

describe("bytes that resemble protocol text", () => {
  test.each([
    "OK", // what the protocol leaves plain
    "T0s=",
    "b",
    "btt", // the list of what the arguments are
    "ttb",
    "\u0000",
    "\u0000\u0000\u0000\u0000\u0000\u0000",
    '"\\\n\u007f', // what JSON escapes
    "\u00ff".repeat(6),
    "lllllll\\\\\\", // the one character of 64 that JSON escapes
    "NOSCRIPT No matching script",
    '{"error":"ERR"}',
  ])("%j", async (text) => {
    expect((await kept(bytesOf(text))).toString("latin1")).toBe(text);
  });
});

test("answers that are OK, empty or like errors are bytes", async () => {
  for (const text of ["OK", "", "ERR no", "NOSCRIPT"]) {
    await stage.raw.set(key, text);
    expect(Buffer.from(await store.run(remove, key, undefined)).toString()).toBe(text);
  }
});

test("every length around the blocks of six and of 48 works", async () => {
  for (const length of [0, 1, 5, 6, 7, 47, 48, 49, 53, 54, 55, 95, 96, 97, 4096, 65_537]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 151 + length) & 255);
    await store.run(append, key, { bytes, maxBytes: 1e9, lifetimeMs: 0 });
    expect(Buffer.compare(await store.run(remove, key, undefined), bytes), `${length}`).toBe(0);
  }
});

test("256 keys and more in one turn are one request, and each key has its own answer", async () => {
  await stage.raw.script("FLUSH");
  const runs = Array.from({ length: 600 }, (_, i) => store.run(append, store.keyOf(`${i}`), input("x".repeat(i % 7))));
  expect((await Promise.all(runs)).map(({ length }) => length)).toEqual(runs.map((_, i) => i % 7));
  // The second time without Upstash's flag, which this server refuses.
  const whole = "EVAL EVALSHA EVALSHA";
  expect(stage.asked).toEqual(["EVALSHA EVALSHA EVALSHA", whole, whole]);
});

test("packed steps have an input each, or share one", async () => {
  const keys = Array.from({ length: 300 }, (_, i) => store.keyOf(`${i}`));
  const own = await Promise.all(keys.map((each, i) => store.run(count, each, { amount: i % 10, most: 1e9 })));
  expect(own.map(({ total }) => total)).toEqual(keys.map((_, i) => i % 10));
  const shared = { amount: 1, most: 1e9 };
  const totals = await Promise.all(keys.map((each) => store.run(count, each, shared)));
  expect(totals.map(({ total }) => total)).toEqual(keys.map((_, i) => (i % 10) + 1));
});

test("calls of one turn that exceed one request are sent in several below 1 MB, in order", async () => {
  const piece = 300_000;
  const runs = Array.from({ length: 8 }, (_, i) =>
    store.run(append, key, { bytes: new Uint8Array(piece).fill(48 + i), maxBytes: 1e9, lifetimeMs: 0 }),
  );
  expect((await Promise.all(runs)).map(({ length }) => length)).toEqual(runs.map((_, i) => (i + 1) * piece));
  const text = (await stage.raw.getBuffer(key))!.toString("latin1");
  expect(text).toBe(Array.from(runs, (_, i) => String(i).repeat(piece)).join(""));
  expect(stage.rest.requests.length).toBeGreaterThan(3);
  for (const { bytes } of stage.rest.requests) expect(bytes).toBeLessThan(1e6);
});

test("a call above the size of a request is sent alone, as a whole", async () => {
  const bytes = Uint8Array.from({ length: 1_500_001 }, (_, i) => (i * i) & 255);
  await store.run(append, key, { bytes, maxBytes: 1e9, lifetimeMs: 0 });
  expect((await stage.raw.getBuffer(key))!.equals(bytes)).toBe(true);
});

test("numbers are decimal text of any size, not JSON numbers", async () => {
  const numbers = [0, -0, 1e21, 2 ** 53, 0.1, -1.5e-7, Number.POSITIVE_INFINITY, Number.NaN];
  for (const lifetimeMs of numbers) await store.run(append, key, { ...input("x"), lifetimeMs }).catch(() => {});
  const sent = stage.rest.requests.map(({ commands }) => commands[0]!.at(-2));
  expect(new Set(sent)).toEqual(new Set(numbers.map(String)));
});

test("texts are the same as over TCP: empty, NUL, a byte order mark, half a surrogate pair", async () => {
  const ids = ["", "\u0000abc", "\ufeffa", "ä€", "𝄞"];
  const one: Operation<string, number> = { ...tally, encode: (id) => [id] };
  for (const id of [...ids, "a\ud800"]) await store.run(one, store.keyOf(`id ${id.length} ${ids.indexOf(id)}`), id);
  for (const [i, id] of ids.entries())
    expect(await stage.raw.get(store.keyOf(`id ${id.length} ${i}`)), JSON.stringify(id)).toBe(id);
  expect(await stage.raw.get(store.keyOf("id 2 -1"))).toBe("a\ufffd");
});

test("an injected fetch receives one POST, with the token only in its header", async () => {
  const seen: [string, RequestInit][] = [];
  const watched = stage.open({
    url: `${stage.rest.url}//`,
    fetch: (url, init) => {
      seen.push([url, init]);
      return fetch(url, init);
    },
  });
  await Promise.all([watched.run(append, key, input("x")), watched.run(tally, store.keyOf("t"), "0001")]);
  expect(seen[0]![0]).toBe(`${stage.rest.url}/pipeline`);
  expect(seen[0]![1]).toMatchObject({
    method: "POST",
    headers: { Authorization: `Bearer ${stage.rest.token}`, "Upstash-Encoding": "base64" },
  });
  for (const [url, { body }] of seen)
    expect(url + (await new Response(body as string).text())).not.toContain(stage.rest.token);
});

test("if fetch throws, rejects with undefined or never answers, every call is settled by its deadline", async () => {
  const throwing = () => {
    throw new TypeError("no network");
  };
  for (const fetch of [throwing, () => Promise.reject(undefined), () => new Promise<Response>(() => {})]) {
    const away = stage.open({ fetch, deadline: 100 });
    await expect(away.run(tally, key, "0001")).rejects.toMatchObject({ name: "OrielError", transient: true });
  }
});
