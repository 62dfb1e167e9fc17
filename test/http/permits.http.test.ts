import { createServer, ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Hono } from "hono";
import { etag } from "hono/etag";
import { afterEach, describe, expect, it } from "vitest";
import { expressLimiter, fetchLimiter, honoLimiter } from "../../src/entries/http.ts";
import { concurrency, Limiter, memoryStore } from "../../src/entries/index.ts";
import { until } from "../harness/until.ts";
import { frameworks, listen, type Served } from "./servers.ts";

const LIMIT = 4;
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** A client's request, and whether the response ends by itself or because the client disconnects. */
const WAYS: Record<string, { text: string; leaves?: true }> = {
  GET: { text: request("GET", "/") },
  HEAD: { text: request("HEAD", "/") },
  OPTIONS: { text: request("OPTIONS", "/") },
  "an unknown path's HEAD": { text: request("HEAD", "/nothing/of/that/name") },
  "a 204": { text: request("GET", "/empty") },
  "a 304": { text: request("GET", "/unchanged") },
  "a HEAD whose body never ends": { text: request("HEAD", "/long"), leaves: true },
  "a handler that fails": { text: request("GET", "/throws") },
  "a body that is read": { text: `${request("POST", "/body", 3)}abc` },
  "a body that nobody reads": { text: `${request("POST", "/", 3)}abc` },
  "a body that breaks off": { text: `${request("POST", "/body", 300)}abc`, leaves: true },
  "an answer that never comes": { text: request("GET", "/never"), leaves: true },
  "an answer that never ends": { text: request("GET", "/long"), leaves: true },
  "three at once, on one connection": { text: request("GET", "/").repeat(3) },
  "three at once, behind one that never ends": {
    text: request("GET", "/long") + request("GET", "/").repeat(3),
    leaves: true,
  },
  "three at once, behind one that never comes": {
    text: request("GET", "/never") + request("GET", "/").repeat(3),
    leaves: true,
  },
};

function request(method: string, path: string, length?: number): string {
  const type = "Content-Type: application/octet-stream\r\n";
  const body = length === undefined ? "" : `${type}Content-Length: ${length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: a\r\n${body}\r\n`;
}

const lending = () => new Limiter(memoryStore(), [concurrency({ limit: LIMIT, lease: "1h" })], { name: "pool" });
const remaining = async (limiter: Limiter) => (await limiter.peek("127.0.0.1")).remaining;

describe.each(frameworks)("permits of a limiter before %s return after", (_name, framework) => {
  let served: Served | undefined;
  afterEach(async () => {
    await served?.close();
    served = undefined;
  });

  it.each(Object.entries(WAYS))("%s", async (_way, { text, leaves }) => {
    const limiter = lending();
    let taken = 0;
    const counting = {
      take: (...given: Parameters<Limiter["take"]>) => {
        taken++;
        return limiter.take(...given);
      },
      release: limiter.release.bind(limiter),
    };
    served = await framework([counting], {});
    const socket = connect(Number(new URL(served.url).port), "127.0.0.1", () => socket.write(text));
    socket.on("error", () => {}).resume();
    await until("the limiter is asked", () => taken > 0);
    if (leaves) {
      await new Promise((resolve) => setTimeout(resolve, 30)); // a handler that waits shows nothing of it
      socket.destroy();
    }
    await until("all permits are back", async () => (await remaining(limiter)) === LIMIT);
    socket.destroy();
    const again = await fetch(served.url);
    expect([again.status, await again.text()]).toEqual([200, "through"]);
  });
});

it("permits of a Response that is never read return when it is collected", async () => {
  const limiter = lending();
  const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(9)) });
  const handler = fetchLimiter(limiter, () => new Response(endless()), { key: () => "127.0.0.1" });
  for (let i = 0; i < LIMIT; i++) await handler(new Request("http://home.example/"));
  expect(await remaining(limiter)).toBe(0);
  await until("all permits are back", async () => {
    collect();
    return (await remaining(limiter)) === LIMIT;
  });
});

it("permits of a Response whose client has left return by the request's signal", async () => {
  const limiter = lending();
  const leaving = new AbortController();
  const held: Response[] = [];
  const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(9)) });
  const handler = fetchLimiter(limiter, () => new Response(endless()), { key: () => "127.0.0.1" });
  held.push(await handler(new Request("http://home.example/", { signal: leaving.signal })));
  expect(await remaining(limiter)).toBe(LIMIT - 1);
  leaving.abort();
  await until("all permits are back", async () => (await remaining(limiter)) === LIMIT);
  held.push(await handler(new Request("http://home.example/", { signal: leaving.signal })));
  await until("all permits are back", async () => (await remaining(limiter)) === LIMIT);
  expect(held).toHaveLength(2);
});

it("permits return if other middleware answers: Hono's etag, a 304", async () => {
  const limiter = lending();
  const app = new Hono();
  app.use(etag());
  app.use(honoLimiter(limiter, { key: () => "127.0.0.1" }));
  app.get("/", (c) => c.text("through"));
  const first = await app.request("/");
  const tag = first.headers.get("etag") ?? "";
  expect(await first.text()).toBe("through");
  expect((await app.request("/", { headers: { "If-None-Match": tag } })).status).toBe(304);
  await until("all permits are back", async () => (await remaining(limiter)) === LIMIT);
});

it("permits of an upgraded connection return when it ends", async () => {
  const limiter = lending();
  const before = expressLimiter(limiter);
  const server = createServer();
  server.on("upgrade", (incoming, socket) => {
    socket
      .on("error", () => {})
      .on("end", () => socket.end())
      .resume();
    void before(incoming, new ServerResponse(incoming), () => socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1", () =>
    client.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: any\r\n\r\n"),
  );
  await new Promise((resolve) => client.once("data", resolve));
  expect(await remaining(limiter)).toBe(LIMIT - 1);
  client.destroy();
  await until("all permits are back", async () => (await remaining(limiter)) === LIMIT);
  await new Promise((resolve) => server.close(resolve));
});

it("one connection with many requests has one listener", async () => {
  const limiter = lending();
  const before = expressLimiter(limiter);
  let listeners = 0;
  const { url, close } = await listen((incoming, response) => {
    listeners = Math.max(listeners, incoming.socket.listenerCount("close"));
    void before(incoming, response, () => response.end("through"));
  });
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let answers = 0;
  socket.on("data", (data) => {
    answers += data.toString().split("HTTP/1.1 200").length - 1;
  });
  for (let sent = 1; sent <= 50; sent++) {
    socket.write(request("GET", "/"));
    await until("it is answered", () => answers === sent);
  }
  const first = listeners;
  expect(first).toBeLessThan(8);
  expect(await remaining(limiter)).toBe(LIMIT);
  socket.destroy();
  await close();
});
