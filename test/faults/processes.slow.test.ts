import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startChild } from "../harness/child.ts";
import { type FaultProxy, startProxy } from "../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { Scene } from "./scene.ts";

const WRITERS = 3;
/** Each writer's numbers begin at a multiple of this. */
const SHARE = 1_000_000;

let server: RedisServer;
let proxy: FaultProxy;
let direct: Redis;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  proxy = await startProxy(server.port);
  direct = new Redis(server.url);
});
afterAll(async () => {
  direct?.disconnect();
  await proxy?.close();
  await server?.stop();
});

test("writers are killed, or stopped and continued: each acknowledged event is there once", async () => {
  const scene = new Scene("processes");
  scene.ledger.draw(SHARE * (WRITERS + 1));
  const reader = scene.open(server.url);
  const script = new URL("./writer.ts", import.meta.url);
  const writers = Array.from({ length: WRITERS }, (_, i) =>
    startChild(script, [i === 0 ? proxy.url : server.url, scene.name, SHARE * i + 1]),
  );
  const [cut, stopped, killed] = writers as [(typeof writers)[0], (typeof writers)[0], (typeof writers)[0]];
  await Promise.all(writers.map((writer) => writer.printed(200)));

  stopped.pause();
  proxy.dropReplies(2);
  const before = killed.lines.length;
  await Promise.all([cut.printed(cut.lines.length + 500), killed.printed(before + 500)]);
  await killed.kill();
  const { count } = await reader.stats();
  stopped.resume();
  await stopped.printed(stopped.lines.length + 300);
  proxy.dropRequests(2);
  await cut.printed(cut.lines.length + 300);
  expect((await reader.stats()).count).toBeGreaterThan(count);

  await Promise.all([cut.kill(), stopped.kill()]);
  // Requests of a killed process may still be on their way to the server.
  const clientCount = async () => ((await direct.client("LIST")) as string).trim().split("\n").length;
  await until("the killed are gone", async () => (await clientCount()) <= 2);
  for (const writer of writers)
    for (const line of writer.lines) if (!line.startsWith("?")) scene.ledger.acknowledged.add(Number(line));
  expect(scene.ledger.acknowledged.size).toBeGreaterThan(1500);
  expect(await scene.settle(server.url, direct)).toEqual([]);
  await scene.close();
});
