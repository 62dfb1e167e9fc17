import { expect, test } from "vitest";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { startLua54 } from "../../harness/lua54/server.ts";
import { type Reply, RespConnection } from "../../harness/network/resp-connection.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

const started = async (integers: boolean) => {
  const server = await startLua54((await redis()).url, { integers });
  const raw = new RespConnection(server.url);
  const real = new RespConnection((await redis()).url);
  atEnd(async () => {
    raw.close();
    real.close();
    await server.stop();
  });
  return { raw, real };
};

const shown = (reply: Reply): unknown => {
  if (Array.isArray(reply)) return reply.map(shown);
  if (reply !== null && typeof reply === "object")
    return "bulk" in reply ? reply.bulk.toString("latin1") : "error" in reply ? `-${reply.error}` : reply.status;
  return reply;
};

/** Expressions, and what they give in Lua 5.1 and in Lua 5.4. */
const DIFFERENCES: [expression: string, in51: unknown, in54: unknown][] = [
  ["tostring(10 / 2)", "5", "5.0"],
  ["10 / 2 .. ''", "5", "5.0"],
  ["tostring(2 ^ 31)", "2147483648", "2147483648.0"],
  ["tostring(1e15)", "1e+15", "1e+15"],
  ["tostring(2 ^ 53)", "9.007199254741e+15", "9.007199254741e+15"],
  ["tostring(tonumber('10.0'))", "10", "10.0"],
  ["tostring('10' + 1)", "11", "11"],
  ["tostring('10.0' + 1)", "11", "11.0"],
  ["tostring(9007199254740993)", "9.007199254741e+15", "9007199254740993"],
  ["tostring(struct.unpack('<I4', '\\7\\0\\0\\0'))", "7", "7.0"],
  ["tostring(math.floor(3.7))", "3", "3"],
  ["tostring(math.max(1, 2.0))", "2", "2.0"],
  ["tostring(-0.0)", "-0", "-0.0"],
  ["tostring(tonumber('0x10'))", "16", "16"],
  ["tostring(pcall(string.rep, 'a', 1.5))", "true", "false"],
  ["tostring(pcall(string.format, '%d', 1.5))", "true", "false"],
  ["tostring(pcall(function() return table.unpack({ 1 }) end))", "false", "true"],
  ["tostring(pcall(function() return unpack({ 1 }) end))", "true", "false"],
  ["tostring(pcall(function() return math.pow(2, 3) end))", "true", "false"],
  ["tostring(pcall(function() return 1 % 0 end))", "true", "false"],
  ["struct.unpack('<I4', '\\7\\0\\0\\0')", 7, "7"],
];

test.each(DIFFERENCES)("%s is %s in Lua 5.1 and %s in Lua 5.4", async (expression, in51, in54) => {
  const { raw, real } = await started(false);
  const script = ["EVAL", `return ${expression}`, "1", "k"];
  expect(shown((await real.send([script]))[0]!)).toBe(in51);
  expect(shown((await raw.send([script]))[0]!)).toBe(in54);
});

/** Scripts on which both agree, whatever the numbers are inside. */
const SAME = [
  "return redis.call('INCRBY', KEYS[1], 10 / 2)",
  "return redis.call('SET', KEYS[1], 2 ^ 40)",
  "redis.call('SET', KEYS[1], 12.5) return redis.call('GET', KEYS[1])",
  "return { 1, 'a', { 'b', false }, '\\0\\255' }",
  "redis.call('SADD', KEYS[1], 'a') return redis.pcall('HGET', KEYS[1], 'b')",
  "return redis.error_reply('ERR no')",
  "return redis.call('TYPE', KEYS[1])",
  "return struct.pack('>I6BBdf', 2 ^ 47 + 3, 255, 256, 1.5, 2.25)",
  "return struct.pack('<I4I8', -1, 2 ^ 63)",
  "return struct.pack('<Bxhs', 1, -2, 'text') .. string.format('%d %d', struct.unpack('<xBi3', '\\1\\2\\255\\255\\255'))",
  "return string.format('%d %d %d', struct.unpack('<I2I4', struct.pack('<I2I4', 65535, 4294967295)))",
  "return tostring(struct.unpack('<I8', struct.pack('<I8', 2 ^ 60)) == 2 ^ 60)",
  "return bit.band(struct.unpack('B', '\\255'), 6)",
  "return bit.bxor(struct.unpack('<I4', '\\255\\255\\255\\255'), 6, 2 ^ 31)",
  "return cmsgpack.pack({ 1, -1, 200, 70000, 2 ^ 40, 1.5, 'a', {}, { 1, { 'b' } }, false })",
  "return cmsgpack.pack(string.rep('x', 300)) .. cmsgpack.pack(-200) .. cmsgpack.pack(10 / 2)",
  "return cmsgpack.unpack(cmsgpack.pack({ 1, 'a', -70000, { 'b' }, string.rep('y', 70000) }))",
];

test.each([false, true])("what the host provides is as in Redis (struct gives integers: %s)", async (integers) => {
  const { raw, real } = await started(integers);
  for (const script of SAME) {
    const command = ["EVAL", script, "1", "key"];
    const [[in51], [in54]] = [
      await real.send([["DEL", "key"]]).then(() => real.send([command])),
      await raw.send([["DEL", "key"]]).then(() => raw.send([command])),
    ] as const;
    expect([script, shown(in54!)]).toEqual([script, shown(in51!)]);
  }
});

test("a server stops while scripts run and others wait for them", async () => {
  const server = await startLua54((await redis()).url);
  const raw = new RespConnection(server.url);
  const script = "for i = 1, 100 do pcall(redis.call, 'GET', 'key') end";
  const replies = raw.send(Array.from({ length: 100 }, () => ["EVAL", script, "1", "key"]));
  replies.catch(() => {});
  await until("one runs", () => server.ran() > 0);
  await server.stop();
  await expect(replies).rejects.toThrow("the connection to Redis was lost");
});
