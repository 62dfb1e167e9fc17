import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Child, startChild } from "../../harness/child.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";

const PROCESSES = 3;
const LIMIT = 100;
const KEY = "oriel:{api}:limit:processes";

let server: RedisServer;
let control: RedisServer;
let [raw, publisher]: (Redis | undefined)[] = [];
let children: Child[] = [];
beforeAll(async () => {
  [server, control] = await Promise.all([startRedis({ tcp: true }), startRedis({ tcp: true })]);
  raw = new Redis(server.url);
  publisher = new Redis(control.url);
  const script = new URL("./share-child.ts", import.meta.url);
  children = Array.from({ length: PROCESSES }, () => startChild(script, [server.url, control.url, LIMIT]));
  await Promise.all(children.map((child) => child.printed(1)));
});
afterAll(async () => {
  await Promise.all(children.map((child) => child.kill()));
  raw?.disconnect();
  publisher?.disconnect();
  await Promise.all([server?.stop(), control?.stop()]);
});

/** All living processes make `calls` calls each. Their lines: passed, of these local, and the shares. */
async function round(id: string, calls: number): Promise<number[][]> {
  const before = children.map(({ lines }) => lines.length);
  const all = async () => (await publisher!.publish("round", `${id} ${calls}`)) === children.length;
  await until("all listen", all);
  await Promise.all(children.map((child, i) => child.printed(before[i]! + 1)));
  return children.map((child, i) => JSON.parse(child.lines[before[i]!]!) as number[]);
}

test("processes share a limit while their server is away, and have it together before", async () => {
  const whole = await round("before", LIMIT);
  expect(whole.reduce((sum, [passed]) => sum + passed!, 0)).toBe(LIMIT);
  const noted = async () => {
    const listed = await raw!.zrange(KEY, "0", "-1", "WITHSCORES");
    return listed.filter((_, i) => i % 2 === 1).map(Number);
  };
  await until("each is noted", async () => (await noted()).length === PROCESSES);
  // A process that is noted after all others knows them.
  const lastMs = Math.max(...(await noted()));
  await until("each knows all", async () => {
    await round("warm", 1);
    return (await noted()).every((ms) => ms > lastMs);
  });
  raw!.disconnect();
  await server.stop();
  const share = 1 / PROCESSES;
  const own = Math.floor(LIMIT * share);
  expect(await round("away", LIMIT)).toEqual(children.map(() => [own, own, share]));

  // One that ends leaves its share unused, and the others keep theirs.
  await children.pop()!.kill();
  expect(await round("away", LIMIT)).toEqual(children.map(() => [0, 0, share]));
  expect(await round("later", LIMIT)).toEqual(children.map(() => [own, own, share]));
});
