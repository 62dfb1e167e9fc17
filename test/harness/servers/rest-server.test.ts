import { afterAll, beforeAll, expect, test } from "vitest";
import { type RedisServer, startRedis } from "./redis-server.ts";
import { type RestServer, startRest } from "./rest-server.ts";

let redis: RedisServer;
let rest: RestServer;
beforeAll(async () => {
  redis = await startRedis();
  rest = await startRest(redis.url);
});
afterAll(async () => {
  await rest.stop();
  await redis.stop();
});

interface Answer {
  result?: unknown;
  error?: string;
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${rest.url}${path}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${rest.token}`, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer & Answer[] };
}
const base64 = { "Upstash-Encoding": "base64" };

test("one command gets its result, or 400 if Redis refuses it", async () => {
  expect(await post("/", ["SET", "k", "ä"])).toEqual({ status: 200, body: { result: "OK" } });
  expect(await post("/", ["GET", "k"])).toEqual({ status: 200, body: { result: "ä" } });
  expect(await post("/", ["GET", "nobody"])).toEqual({ status: 200, body: { result: null } });
  expect(await post("/", ["INCRBY", "n", 7])).toEqual({ status: 200, body: { result: 7 } });
  expect(await post("/", ["EVAL", "return { 1, 'a', { 'b', false } }", "0"])).toEqual({
    status: 200,
    body: { result: [1, "a", ["b", null]] },
  });
  const refused = await post("/", ["INCR", "k"]);
  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatch(/^ERR value is not an integer/);
});

test("strings are base64 on request, except OK and errors", async () => {
  const script = "return { string.char(0, 255), 'OK', redis.status_reply('OK'), 5 }";
  expect((await post("/", ["EVAL", script, "0"], base64)).body).toEqual({ result: ["AP8=", "T0s=", "OK", 5] });
  expect((await post("/", ["SET", "k", "v"], base64)).body).toEqual({ result: "OK" });
  expect((await post("/", ["NONSENSE"], base64)).body.error).toMatch(/^ERR unknown command/);
});

test("a pipeline answers each command; a transaction runs all or none", async () => {
  const commands = [
    ["SET", "p", "1"],
    ["LPUSH", "p", "x"],
    ["INCR", "p"],
  ];
  const { status, body } = await post("/pipeline", commands);
  expect(status).toBe(200);
  expect([body[0], body[2]]).toEqual([{ result: "OK" }, { result: 2 }]);
  expect(body[1]!.error).toMatch(/^WRONGTYPE/);
  expect(
    (
      await post("/multi-exec", [
        ["INCR", "p"],
        ["INCR", "p"],
      ])
    ).body,
  ).toEqual([{ result: 3 }, { result: 4 }]);
  expect((await post("/multi-exec", [["INCR", "p"], ["NONSENSE"]])).status).toBe(400);
  expect((await post("/", ["GET", "p"])).body).toEqual({ result: "4" });
});

test("a request without token or command, or with another path, is refused", async () => {
  expect((await post("/", ["PING"], { Authorization: "Bearer wrong" })).status).toBe(401);
  for (const wrong of ["{", "[]", '["GET", {}]', '[["GET", "k"]]']) expect((await post("/", wrong)).status).toBe(400);
  expect((await post("/get/k", [])).status).toBe(404);
});

test("faults affect only the requests that they are set for", async () => {
  const faults = [
    { status: 429, headers: { "Retry-After": "1" }, body: "{}" },
    { cut: "before it is run" as const },
    { cut: "after it was run" as const },
    { answer: '"garbage"' },
  ];
  rest.faultOf = () => faults.shift();
  expect((await post("/", ["INCR", "f"])).status).toBe(429);
  await expect(post("/", ["INCR", "f"])).rejects.toThrow();
  await expect(post("/", ["INCR", "f"])).rejects.toThrow();
  expect((await post("/", ["INCR", "f"])).body).toBe("garbage");
  rest.faultOf = undefined;
  expect((await post("/", ["GET", "f"])).body).toEqual({ result: "2" });
});
