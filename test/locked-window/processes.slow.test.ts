import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { LockedWindow, redisStore, type Store } from "../../src/entries/index.ts";
import { builtProgram } from "../harness/built-program.ts";
import { type FaultProxy, startProxy } from "../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
let proxy: FaultProxy;
let store: Store;
const children: ChildProcess[] = [];
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  proxy = await startProxy(server.port);
  store = redisStore(server.url);
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
afterAll(async () => {
  await store.close();
  await proxy.close();
  await server.stop();
});

const options = { span: "1h", statistics: { all: (values: Float32Array) => [...values] } } as const;
const counted = async (value: number) =>
  (await new LockedWindow(store, "orders", options).stats()).all.filter((each) => each === value).length;

async function start(value: number): Promise<ChildProcess> {
  const child = fork(builtProgram(new URL("./writer.ts", import.meta.url)), [server.url, String(value)]);
  children.push(child);
  await once(child, "message");
  return child;
}

test("processes that are killed, or stopped past their lease, overwrite nothing: each acknowledged event is there", async () => {
  const running = await Promise.all([1, 2, 3, 4].map(start));
  for (let round = 0; round < 8; round++) {
    const victim = running[round % 3]!;
    const before = await counted(4);
    victim.kill("SIGSTOP");
    while ((await counted(4)) < before + 5) await pause(10);
    await pause(220 + 10 * (round % 4));
    victim.kill("SIGCONT");
    await pause(30 * (round % 3));
  }
  running[3]!.kill("SIGKILL");
  for (const [i, child] of running.slice(0, 3).entries()) {
    const fates = once(child, "message");
    child.send("stop");
    const [{ added, unknown }] = await fates;
    const found = await counted(i + 1);
    expect(added).toBeGreaterThan(0);
    expect([found >= added, found <= added + unknown, i]).toEqual([true, true, i]);
  }
  expect(await counted(4)).toBeGreaterThan(40);
});

test("lost replies, lost requests and SCRIPT FLUSH: an acknowledged event is there once, others at most once", async () => {
  const lossy = redisStore(proxy.url, { deadline: 2000 });
  const raw = new Redis(server.url);
  const window = new LockedWindow(lossy, "orders", { span: "1h", lease: 500 });
  let [added, unknown] = [0, 0];
  for (let i = 0; i < 60; i++) {
    if (i % 4 === 1) proxy.dropReplies(1 + (i % 3));
    if (i % 4 === 2) proxy.dropRequests(1 + (i % 3));
    if (i % 5 === 3) await raw.script("FLUSH");
    await window.addAndGetStats(7).then(
      () => added++,
      (error) => {
        if (error.applied !== "no") unknown++;
      },
    );
  }
  await lossy.close();
  raw.disconnect();
  const found = await counted(7);
  expect(added).toBeGreaterThan(30);
  expect([found >= added, found <= added + unknown]).toEqual([true, true]);
});
