import { expect, test } from "vitest";
import { redisStore, Series } from "../../../src/entries/index.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { RespConnection } from "../../harness/network/resp-connection.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { startRestricted } from "../../harness/servers/restricted.ts";
import { RESTRICTIONS } from "../../harness/servers/restrictions.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

const restricted = async (name: keyof typeof RESTRICTIONS) => {
  const { port } = await redis();
  const server = await startRestricted(port, RESTRICTIONS[name]);
  const raw = new RespConnection(server.url);
  atEnd(async () => {
    raw.close();
    await server.stop();
  });
  return { server, raw };
};

test("the server of these tests runs commands on declared keys only", async () => {
  const { raw } = await restricted("only declared keys in scripts");
  const run = async (script: string) => JSON.stringify((await raw.send([["EVAL", script, "1", "a", "b"]]))[0]);
  expect(await run("return redis.call('EXISTS', KEYS[1])")).toBe("0");
  expect(await run("return redis.call('EXISTS', KEYS[1], ARGV[1])")).toContain("undeclared key");
  expect(await run("return redis.pcall('GET', ARGV[1])")).toContain("undeclared key");
  expect(await run("return redis.call('COPY', KEYS[1], 'c')")).toContain("undeclared key");
});

test("the server of these tests refuses messages in scripts, too", async () => {
  const { raw } = await restricted("no messages");
  const [own, inScript] = await raw.send([
    ["PUBLISH", "a", "b"],
    ["EVAL", "return redis.call('PUBLISH', 'a', 'b')", "1", "k"],
  ]);
  expect([own, inScript].map((reply) => JSON.stringify(reply))).toEqual([
    expect.stringContaining("unknown command 'PUBLISH'"),
    expect.stringContaining("Unknown Redis command"),
  ]);
});

test("a process without a copy reads all closed chunks", async () => {
  const { server } = await restricted("only declared keys in scripts");
  const [writes, reads] = [redisStore(server.url), redisStore(server.url)];
  atEnd(() => Promise.all([writes.close(), reads.close()]));
  const options = { retention: "1h" } as const;
  const series = new Series(writes, "chunks", options);
  // 8 bytes each: more than two chunks of 1 MiB.
  for (let part = 0; part < 6; part++)
    await series.recordMany(Array.from({ length: 100_000 }, (_, i) => part * 100_000 + i));
  const cold = new Series(reads, "chunks", options);
  const { count, max } = await cold.stats({ span: "1h" });
  expect({ count, max }).toEqual({ count: 600_000, max: 599_999 });
});
