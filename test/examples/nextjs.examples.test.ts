import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { watch } from "../harness/watchdog.ts";
import { node, placed } from "./placed.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ tcp: true });
});
afterAll(() => redis?.stop());

/** Calls the exported functions as Next.js does, with a Request and the context of the route. */
const MAIN = `import { GET, POST } from "./app/api/orders/route.ts";
const url = "http://localhost/api/orders";
const context = { params: Promise.resolve({}) };
const order = (address) =>
  POST(new Request(url, { method: "POST", body: '{"product":"tea"}', headers: { "x-real-ip": address } }), context);
const before = await (await GET()).json();
const answers = [];
for (let i = 0; i < 6; i++) answers.push(await order("203.0.113.7"));
answers.push(await order("203.0.113.8"));
console.log(JSON.stringify({
  before,
  statuses: answers.map(({ status }) => status),
  body: await answers[0].json(),
  retryAfter: answers[5].headers.get("retry-after"),
  after: await (await GET()).json(),
}));
await globalThis.oriel.store.close();
`;

describe.skipIf(node === undefined)("the route handler of Next.js", () => {
  test("takes five orders in ten seconds from one address and reports how long they took", async () => {
    const folder = placed("nextjs");
    writeFileSync(join(folder, "main.mjs"), MAIN);
    const child = spawn(node!, ["main.mjs"], {
      cwd: folder,
      env: { ...process.env, REDIS_URL: redis.url },
      stdio: ["ignore", "pipe", "inherit"],
    });
    watch(child);
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
    });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
    const { before, statuses, body, retryAfter, after } = JSON.parse(text);
    expect(before).toEqual({ count: 0, percentiles: null });
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 201]);
    expect(body).toEqual({ product: "tea" });
    expect(Number(retryAfter)).toBeGreaterThan(0);
    expect(after).toEqual({ count: 6, percentiles: { 50: expect.any(Number), 99: expect.any(Number) } });
  });
});
