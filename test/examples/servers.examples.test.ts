// Each server runs as its user starts it, on a real Redis: it limits, it records, and it ends by itself.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { calendarWindow, concurrency, Limiter, redisStore, slidingWindow } from "../../src/entries/index.ts";
import { freePort, type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { node, placed, run, type Started } from "./placed.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ tcp: true });
});
afterAll(() => redis?.stop());

interface Server extends Started {
  url: string;
}

async function started(name: string, env: Record<string, string> = {}): Promise<Server> {
  const port = String(await freePort());
  const server = run(placed(name), "start", { REDIS_URL: redis.url, PORT: port, ...env });
  const url = `http://127.0.0.1:${port}`;
  await until(`${name} listens`, async () => {
    expect(server.child.exitCode, server.printed()).toBe(null);
    return (await fetch(`${url}/nothing`)).status > 0;
  });
  return { ...server, url };
}

async function stopped({ child, ended, printed }: Server): Promise<void> {
  child.kill("SIGTERM");
  expect([0, null], printed()).toContain(await ended); // NestJS ends itself by the signal, after its hooks
  expect(printed()).not.toMatch(/error/i);
}

// biome-ignore lint/suspicious/noExplicitAny: the tests state the form of each answer.
const json = async (url: string, init: RequestInit = {}): Promise<any> => (await fetch(url, init)).json();

/** The statuses of requests from one client, one after the other. */
async function statuses(url: string, count: number, headers: Record<string, string> = {}): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i++) {
    const response = await fetch(url, { headers });
    await response.arrayBuffer();
    found.push(response.status);
  }
  return found;
}

describe.skipIf(node === undefined)("the servers", () => {
  test("two processes of the Express shop share limits, sales, mails, the circuit and the dashboard", async () => {
    let isDown = false;
    const payments = createServer((_request, response) => response.writeHead(isDown ? 500 : 200).end());
    await new Promise<void>((resolve) => payments.listen(0, "127.0.0.1", resolve));
    const env = { PAYMENTS_URL: `http://127.0.0.1:${(payments.address() as AddressInfo).port}`, MAIL_DELAY: "100ms" };
    const [one, two] = await Promise.all([started("express", env), started("express", env)]);
    const order = (server: Server, product: string, address: string) =>
      fetch(`${server.url}/orders/${product}`, { method: "POST", headers: { "x-forwarded-for": address } });
    try {
      for (const [server, product] of [
        [one, "tea"],
        [two, "tea"],
        [two, "coffee"],
      ] as const)
        expect((await order(server, product, "203.0.113.1")).status).toBe(201);
      expect(await json(`${one.url}/report`)).toEqual(
        expect.arrayContaining([
          { product: "tea", count: 2 },
          { product: "coffee", count: 1 },
        ]),
      );
      await until("the mails are sent", () => {
        const mails = (one.printed() + two.printed()).match(/mail: thank you for the (tea|coffee)/g);
        return mails?.length === 3;
      });
      expect(await json(`${two.url}/latency`)).toMatchObject({ percentiles: { 50: expect.any(Number) } });

      const headers = { "x-forwarded-for": "203.0.113.2" };
      const found = [
        ...(await statuses(`${one.url}/latency`, 60, headers)),
        ...(await statuses(`${two.url}/latency`, 60, headers)),
      ];
      expect(found).toEqual([...Array(100).fill(200), ...Array(20).fill(429)]);

      isDown = true;
      await until("the circuit is open in both processes", async () => {
        const answers = [await order(one, "tea", "203.0.113.3"), await order(two, "tea", "203.0.113.4")];
        return answers.every(({ status, headers }) => status === 503 && Number(headers.get("retry-after")) > 0);
      });

      const metrics = await (await fetch(`${one.url}/metrics`)).text();
      expect(metrics).toContain('oriel_breaker_state{name="payments"');
      let structures: { kind: string; name: string }[] = [];
      await until("both processes are on the dashboard", async () => {
        const overview = await json(`${two.url}/oriel/api/overview`);
        structures = overview.structures;
        return overview.processes.length === 2 && structures.length === 7;
      });
      const listed = structures.map(({ kind, name }) => `${kind} ${name}`);
      const kinds = ["Limiter shop", "Series shop:latency", "Counters sales", "DelayQueue mails", "Breaker payments"];
      expect(listed).toEqual(expect.arrayContaining([...kinds, "FleetMetrics shop", "Lock report"]));
    } finally {
      payments.close();
      payments.closeAllConnections();
    }
    await Promise.all([stopped(one), stopped(two)]);
  });

  test("the Fastify server refuses unknown keys, limits known ones and reports their latencies", async () => {
    const server = await started("fastify", { API_KEYS: "mine,yours" });
    expect(await statuses(`${server.url}/hello`, 1, { "x-api-key": "invented" })).toEqual([401]);
    expect(await statuses(`${server.url}/hello`, 101, { "x-api-key": "mine" })).toEqual([...Array(100).fill(200), 429]);
    expect(await json(`${server.url}/latency`, { headers: { "x-api-key": "yours" } })).toEqual({
      count: 102,
      percentiles: { 50: expect.any(Number), 99: expect.any(Number) },
    });
    const page = await fetch(`${server.url}/oriel/`);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(await page.text()).toContain("<html");
    await stopped(server);
  });

  test("the token budget pays streamed answers from three budgets, and settles those that are cut", async () => {
    const prompts: string[] = [];
    /** Streams as many pieces as the prompt says, then the usage. With "cut" the stream breaks before its end. */
    const model = createServer(async (request, response) => {
      const { prompt } = JSON.parse(await text(request)) as { prompt: string };
      prompts.push(prompt);
      const [pieces, end] = prompt.split(" ");
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let i = 0; i < Number(pieces); i++) response.write(`data: ${JSON.stringify({ text: `${i} ` })}\n\n`);
      if (end === "cut") return void response.write(": nothing more", () => response.destroy());
      const usage = { input: 3, output: Number(pieces) };
      response.end(`data: ${JSON.stringify({ usage })}\n\ndata: [DONE]\n\n`);
    });
    await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
    const MODEL_URL = `http://127.0.0.1:${(model.address() as AddressInfo).port}/`;
    const servers = await Promise.all([started("token-budget", { MODEL_URL }), started("token-budget", { MODEL_URL })]);
    const [one, two] = servers as [Server, Server];
    const asked = (server: Server, prompt: string, user = "ada") =>
      fetch(server.url, { method: "POST", body: prompt, headers: { "x-user": user, "x-team": "search" } });
    const store = redisStore(redis.url, { registry: false });
    const policies = [
      slidingWindow({ limit: 1000, span: "1m", name: "requests" }),
      slidingWindow({ limit: 1000, span: "1m", name: "input" }),
      slidingWindow({ limit: 1000, span: "1m", name: "output" }),
      calendarWindow({ limit: 1000, every: "day", name: "money" }),
      concurrency({ limit: 1000, lease: "1m", name: "running" }),
    ];
    const used = async (name: string, id: string) => {
      const limiter = new Limiter(store, policies, { name });
      return 1000 - (await limiter.peek(id, { cost: 0, tag: "acme" })).policies[2]!.remaining;
    };
    try {
      const answer = await asked(one, "120 all");
      expect([answer.status, (await answer.text()).split(" ").length]).toEqual([200, 121]);
      await until("the answer is settled", async () => (await used("user", "ada")) === 120);
      // Above the reserved tokens.
      expect((await (await asked(two, "600 all")).text()).split(" ")).toHaveLength(601);
      await until("the overrun is charged", async () => (await used("user", "ada")) === 720);
      expect(two.printed()).toContain("ada used 100 tokens more than reserved");
      const denied = await asked(one, "1 all");
      expect(denied.status).toBe(429);
      expect(Number(denied.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await denied.json()).toMatchObject({ policy: "user:output", retryAfterMs: expect.any(Number) });
      expect(prompts).toEqual(["120 all", "600 all"]);
      await asked(one, "70 cut", "bob")
        .then((cut) => cut.text())
        .catch(() => {});
      await until("the tokens of the cut answer are charged", async () => (await used("user", "bob")) === 70);
      expect(await used("team", "search")).toBe(790);
      expect(await used("organisation", "acme")).toBe(790);
    } finally {
      await store.close();
      model.close();
      model.closeAllConnections();
    }
    for (const server of servers) {
      server.child.kill("SIGTERM");
      expect(await server.ended, server.printed()).toBe(0);
    }
  });

  test("NestJS's guard limits and its interceptor records", async () => {
    const server = await started("nestjs");
    const found = await statuses(`${server.url}/orders`, 21);
    expect(found).toEqual([...Array(20).fill(200), 429]);
    const denied = await fetch(`${server.url}/orders`);
    expect(denied.headers.get("ratelimit")).toMatch(/r=0/);
    expect(await denied.json()).toMatchObject({ status: 429 });
    expect(await json(`${server.url}/latency`)).toEqual({
      count: 20, // a denied request has no handler
      percentiles: { 50: expect.any(Number), 99: expect.any(Number) },
    });
    await stopped(server);
  });
});
