import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { fixedWindow, httpStore, Limiter, localDecisions, OrielError } from "../../../src/entries/index.ts";
import { memoryStore } from "../../../src/entries/memory-store.ts";
import { Fallback } from "../../../src/limits/limiter/client/decision-client.ts";
import { textWithin } from "../../../src/store/http/http-request.ts";
import { Entries } from "../../../src/store/memory/entries.ts";
import { storeFull } from "../../../src/store/memory/full.ts";
import { packStrings, readStrings } from "../../../src/store/message-pack.ts";

test("an array or string with an impossible length is refused before memory is reserved", () => {
  expect(() => readStrings(Uint8Array.from([0xdd, 0x10, 0, 0, 0]))).toThrow(RangeError);
  expect(() => readStrings(Uint8Array.from([0xdc, 0xff, 0xff, 0xa0]))).toThrow(RangeError);
  expect(() => readStrings(Uint8Array.from([0x91, 0xdb, 0xff, 0xff, 0xff, 0xff]))).toThrow(RangeError);
  const whole = packStrings(["a", "b".repeat(40), "c".repeat(300), "d".repeat(70_000)]);
  expect(readStrings(whole).map(({ length }) => length)).toEqual([1, 40, 300, 70_000]);
  for (const length of [0, 1, 4, 5, 6, 7, 50, whole.length - 1])
    expect(() => readStrings(whole.subarray(0, length))).toThrow(RangeError);
});

test("an answer above the bound is given up, with or without a content length", async () => {
  const blanks = () => new Uint8Array(1000).fill(0x20);
  let given = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      given++;
      controller.enqueue(blanks());
    },
  });
  await expect(textWithin(new Response(endless), 10_000)).rejects.toThrow(/more than 10000 bytes/);
  expect(given).toBeLessThan(20);
  const reported = new Response(blanks(), { headers: { "Content-Length": "1000" } });
  await expect(textWithin(reported, 999)).rejects.toThrow(/has 1000 bytes/);
  const parts = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of new TextEncoder().encode("äöü 中")) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  expect(await textWithin(new Response(parts), 100)).toBe("äöü 中");
});

test("an answer that never ends fails its call, and takes bounded memory", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "Content-Length": `${2 ** 40}` });
    response.write("[");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const store = httpStore({ url: `http://127.0.0.1:${port}`, token: "t", deadline: "1m" });
  const limiter = new Limiter(store, [fixedWindow({ limit: 5, span: "1m" })], { name: "api" });
  await expect(limiter.take("a")).rejects.toMatchObject({ code: "UNAVAILABLE", applied: "unknown" });
  await store.close();
  server.closeAllConnections();
  server.close();
});

test("if entries may be evicted, the recently used ones stay, and no call is refused", () => {
  const one = new Entries(Number.MAX_SAFE_INTEGER, () => {}, true);
  one.step(["key0"], 0, (keys) => keys.set("key0", "key0", 90, 1e9));
  const maxBytes = one.sizeBytes * 10.5;
  const entries = new Entries(maxBytes, () => {}, true);
  const put = (key: string) => entries.step([key], 0, (keys) => keys.set(key, key, 90, 1e9));
  for (let i = 0; i < 10; i++) put(`key${i}`);
  put("key0");
  for (let i = 10; i < 18; i++) put(`key${i}`);
  expect(entries.peek("key0")).toBeDefined();
  expect(entries.peek("key1")).toBeUndefined();
  expect(entries.sizeBytes).toBeLessThanOrEqual(maxBytes);
});

test("a full store is a failure of the store; a step's own refusal is none", async () => {
  const fallback = (mode: "allow" | "deny" | "local") =>
    new Fallback(memoryStore(), "l", mode === "local" ? localDecisions() : mode);
  const policies = [fixedWindow({ limit: 5, span: "1m" })];
  for (const mode of ["allow", "deny", "local"] as const) {
    const reported = await fallback(mode).decideTake("keyPrefix", policies, 1, storeFull("no room"));
    expect(reported).toMatchObject({ allowed: mode !== "deny", degraded: true, degradedBy: mode });
    const oom = new OrielError("OVERLOADED", "Redis is out of memory", { cause: new Error("OOM command not allowed") });
    expect(await fallback(mode).decideTake("keyPrefix", policies, 1, oom)).toMatchObject({ degradedBy: mode });
    const own = new OrielError("OVERLOADED", "the id has 1024 open reservations, its maximum", { transient: true });
    await expect(fallback(mode).decideTake("keyPrefix", policies, 1, own)).rejects.toBe(own);
  }
});
