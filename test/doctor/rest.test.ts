import { afterAll, beforeAll, expect, test } from "vitest";
import { command } from "../cli/command.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { type RestServer, startRest } from "../harness/servers/rest-server.ts";
import { reportOf } from "./report-of.ts";

let server: RedisServer;
let rest: RestServer;
let before: string | undefined;
beforeAll(async () => {
  before = process.env.UPSTASH_REDIS_REST_TOKEN;
  server = await startRedis({ args: ["--appendonly", "yes", "--appendfsync", "no"] });
  rest = await startRest(server.url);
});
afterAll(async () => {
  if (before === undefined) delete process.env.UPSTASH_REDIS_REST_TOKEN;
  else process.env.UPSTASH_REDIS_REST_TOKEN = before;
  await rest?.stop();
  await server?.stop();
});

const doctor = () => command(["doctor", "--url", rest.url]);

test("a REST server is examined with the same checks, except for subscriptions", async () => {
  process.env.UPSTASH_REDIS_REST_TOKEN = rest.token;
  const { status, report } = await reportOf(rest.url);
  const { checks, address } = report;
  expect({ status, address }).toEqual({ status: 0, address: rest.url });
  expect(checks.filter(({ verdict }) => verdict !== "good")).toEqual([
    { name: "messages", verdict: "note", text: expect.stringMatching(/^no subscriptions over HTTP/) },
  ]);
  expect(checks.slice(-2).map(({ name }) => name)).toEqual(["steps", "kernel"]);
});

test("a refused token, another HTTP server and a missing token are one clear sentence each", async () => {
  process.env.UPSTASH_REDIS_REST_TOKEN = "another-token";
  const refused = await doctor();
  expect(refused.status).toBe(2);
  expect(refused.stdout).toMatch(/^unusable {2}connection {3}the token was refused: HTTP 401/m);
  expect(refused.stdout + refused.stderr).not.toContain("another-token");
  const other = await command(["doctor", "--url", `${rest.url}/elsewhere`]);
  expect(other.stdout).toMatch(/^unusable {2}connection {3}the URL is not that of a Redis REST server \(HTTP 404/m);
  delete process.env.UPSTASH_REDIS_REST_TOKEN;
  expect((await doctor()).stderr).toContain("UPSTASH_REDIS_REST_TOKEN");
});
