// Every form in which a client's address arrives, before each framework on a real server.
import http from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import { rateLimit } from "express-rate-limit";
import fastify from "fastify";
import { Hono } from "hono";
import { afterEach, describe, expect, it } from "vitest";
import {
  clientKey,
  expressLimiter,
  expressRateLimitStore,
  fastifyLimiter,
  fetchLimiter,
  honoLimiter,
} from "../../src/entries/http.ts";
import { Limiter, memoryStore, slidingWindow } from "../../src/entries/index.ts";
import { atEnd } from "../harness/ends.ts";
import { until } from "../harness/until.ts";
import { temporaryFolder } from "../runtimes/bundles/bundle.ts";

const express4 = createRequire(import.meta.url)("express4") as typeof express;
const LIMIT = 2;
const limiterOf = (name = "l") => new Limiter(memoryStore(), [slidingWindow({ limit: LIMIT, span: "1m" })], { name });

const warned: string[] = [];
const earlier: string[] = [];
process.on("warning", ({ message }: Error) => void warned.push(message));
afterEach(() => void earlier.push(...warned.splice(0)));

interface Listens {
  listen(where: { path: string } | { port: number; host: string }, ready: () => void): unknown;
  close(): unknown;
  address(): unknown;
}

/** Servers that believe the header X-Forwarded-For, and take the connection's address without it. */
const servers: Record<string, () => Listens | Promise<Listens>> = {
  "Express 5": () => {
    const app = express();
    app.set("trust proxy", true);
    app.use(expressLimiter(limiterOf()));
    app.get("/", (_request, response) => void response.send("x"));
    return http.createServer(app);
  },
  "Express 4": () => {
    const app = express4();
    app.set("trust proxy", true);
    app.use(expressLimiter(limiterOf()));
    app.get("/", (_request, response) => void response.send("x"));
    return http.createServer(app);
  },
  "express-rate-limit": () => {
    const app = express();
    const store = expressRateLimitStore(limiterOf());
    const keyGenerator = (request: express.Request) => clientKey(request.ip);
    app.set("trust proxy", true);
    app.use(rateLimit({ limit: LIMIT, store, validate: false, keyGenerator }));
    app.get("/", (_request, response) => void response.send("x"));
    return http.createServer(app);
  },
  Fastify: async () => {
    const app = fastify({ trustProxy: true });
    app.addHook("onRequest", fastifyLimiter(limiterOf()));
    app.get("/", () => "x");
    await app.ready();
    return app.server;
  },
  Hono: () => {
    const app = new Hono();
    app.use(
      honoLimiter(limiterOf(), {
        key: (c) => clientKey(c.req.header("x-forwarded-for") ?? c.env.incoming.socket.remoteAddress),
      }),
    );
    app.get("/", (c) => c.text("x"));
    return createAdaptorServer({ fetch: app.fetch });
  },
  "a fetch handler": () => {
    const key = (request: Request) => clientKey(request.headers.get("x-forwarded-for"));
    return createAdaptorServer({ fetch: fetchLimiter(limiterOf(), () => new Response("x"), { key }) });
  },
  "plain Node": () => {
    const limit = expressLimiter(limiterOf());
    return http.createServer((request, response) => {
      const ip = request.headers["x-forwarded-for"]?.toString() ?? request.socket.remoteAddress;
      Object.assign(request, { ip });
      void limit(request, response, (error) => response.writeHead(error ? 500 : 200).end());
    });
  },
};

/** The status of a request from a client with such an address; without one, the connection has none either. */
function ask(socketPath: string, address?: string): Promise<number> {
  const headers = address === undefined ? {} : { "x-forwarded-for": address };
  return new Promise((resolve, reject) => {
    http.get({ socketPath, headers }, (answer) => resolve(answer.resume().statusCode!)).on("error", reject);
  });
}

/** Spellings of one client's address, and another client's. */
const SPELLINGS: Record<string, [one: string[], other: string]> = {
  "a port": [["203.0.113.7", "203.0.113.7:4711", "203.0.113.7:80"], "203.0.113.8:80"],
  brackets: [["2001:db8::7", "[2001:db8::7]", "[2001:db8::8]:443"], "[2001:db8:1::7]:443"],
  "a zone": [["fe80::7%eth0", "fe80::7", "[fe80::7%25eth1]:80"], "fe80:1::7%eth0"],
  "IPv4 mapped to IPv6": [["203.0.113.9", "::ffff:203.0.113.9", "::FFFF:cb00:7109"], "::ffff:203.0.113.10"],
  "IPv4 mapped to IPv6, with a port": [
    ["203.0.113.9", "[::ffff:203.0.113.9]:80", "::ffff:203.0.113.9:80"],
    "::ffff:203.0.113.10:80",
  ],
};

const folder = temporaryFolder();
let sockets = 0;

describe.each(Object.entries(servers))("%s", (name, make) => {
  const start = async () => {
    const server = await make();
    const path = join(folder, `s${sockets++}`);
    await new Promise<void>((resolve) => void server.listen({ path }, resolve));
    atEnd(() => server.close());
    return path;
  };

  it.each(Object.entries(SPELLINGS))("%s: one client in each spelling, and no other", async (_form, [one, other]) => {
    const path = await start();
    const statuses: number[] = [];
    for (const address of one) statuses.push(await ask(path, address));
    expect(statuses).toEqual([200, 200, 429]);
    expect(await ask(path, other)).toBe(200);
    expect(warned).toEqual([]);
  });

  it("no address (a local socket): all count as one client, and the process is warned", async () => {
    const path = await start();
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push(await ask(path));
    expect(statuses).toEqual([200, 200, 429]);
    expect(await ask(path, "203.0.113.7")).toBe(200);
    expect(warned.filter((text) => !text.includes("no client address"))).toEqual([]);
  });

  it("what is no address: all count as one client, and the process is warned", async () => {
    const path = await start();
    const statuses: number[] = [];
    // Express and Fastify split a list themselves, and take its first item as the client.
    for (const address of ["unknown", "1.2.3", "[2001:db8::1::2]:80", "[]:80", "2001:db8::1::2", ".1:1", "_hidden, x"])
      statuses.push(await ask(path, address));
    expect(statuses).toEqual([200, 200, 429, 429, 429, 429, 429]);
    expect(await ask(path, "203.0.113.7")).toBe(200);
    expect(warned.filter((text) => !text.includes("is no client address"))).toEqual([]);
  });

  if (name === "Hono" || name === "a fetch handler")
    it("a list of addresses, in which none is the client's for sure, counts with what is no address", async () => {
      const path = await start();
      const statuses: number[] = [];
      for (const end of [1, 2, 3]) statuses.push(await ask(path, `203.0.113.${end}, 10.0.0.1`));
      expect(statuses).toEqual([200, 200, 429]);
    });
});

describe("the warning", () => {
  it("came once in the process for each middleware and reason, from all these servers", () => {
    const reasons = ["a request has no client address", '"unknown" is no client address'];
    const names = ["expressLimiter", "clientKey", "fastifyLimiter"];
    const end = "all such requests count as one client; pass a key of each client";
    expect(earlier.sort()).toEqual(names.flatMap((name) => reasons.map((why) => `${name}: ${why}; ${end}`)).sort());
  });

  it.each([undefined, null, "", []])("comes for a key that says nothing: %j", async (key) => {
    const limited = fetchLimiter(limiterOf(), () => new Response("x"), { key: () => key as string });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await limited(new Request("https://a.test/"))).status);
    expect(statuses).toEqual([200, 200, 429]);
    if (key === undefined) await until("the warning", () => warned.length > 0);
    expect(warned.every((text) => text.startsWith("fetchLimiter: key returned nothing for a request; "))).toBe(true);
  });
});

describe("express-rate-limit's own key", () => {
  it("is undefined without an address: such requests count together, and the process is warned", async () => {
    const app = express();
    app.use(rateLimit({ limit: LIMIT, store: expressRateLimitStore(limiterOf()), validate: false }));
    app.get("/", (_request, response) => void response.send("x"));
    const server = http.createServer(app);
    const path = join(folder, "own-key");
    await new Promise<void>((resolve) => void server.listen({ path }, resolve));
    atEnd(() => server.close());
    expect([await ask(path), await ask(path), await ask(path)]).toEqual([200, 200, 429]);
    await until("the warning", () => warned.length > 0);
    expect(warned).toEqual([expect.stringMatching(/^expressRateLimitStore: a request has no key; all such requests/)]);
  });
});
