import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { findRedis } from "../../scripts/find-programs.mjs";
import { Lock } from "../../src/entries/index.ts";
import { announce, basesOf } from "../../src/store/registry/steps/announce.ts";
import { startChild } from "./child.ts";
import { holdingTimers } from "./clock/held-timers.ts";
import { onMemory, onRedis } from "./clock/stepped-stores.ts";
import { startProxy } from "./network/proxy.ts";
import { startRedis } from "./servers/redis-server.ts";
import { until } from "./until.ts";

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

test("a test run that is killed leaves no server behind", async () => {
  // The child is one bundled file, which cannot find what was unpacked beside the scripts.
  process.env.ORIEL_REDIS_SERVER ??= findRedis();
  const child = startChild(new URL("./servers/orphan.ts", import.meta.url), []);
  await child.printed(1);
  const port = Number(child.lines[0]);
  expect(await isListening(port)).toBe(true);
  await child.kill();
  expect((await child.ended)[1]).toBe("SIGKILL");
  await until("the server is gone", async () => !(await isListening(port)));
});

test("the proxy forwards bytes that it does not lose: whole, in pieces, late, and in order", async () => {
  const server = await startRedis({ tcp: true });
  const proxy = await startProxy(server.port);
  const client = new Redis(proxy.url, { retryStrategy: () => 5 });
  client.on("error", () => {});
  const values = ["", "x".repeat(500), "ä\r\n€"];
  for (const pieceBytes of [0, 1, 7]) {
    proxy.split(pieceBytes);
    const replies = await Promise.all(values.map((value) => client.echo(value)));
    expect(replies).toEqual(values);
  }
  proxy.split(0);
  const order: string[] = [];
  proxy.delay(30);
  const late = client.echo("late").then((reply) => order.push(reply));
  await until("the server has it", () => (proxy.handedOn.get("ECHO") ?? 0) === 3 * values.length + 1);
  proxy.delay(0);
  await Promise.all([late, client.echo("later").then((reply) => order.push(reply))]);
  expect(order).toEqual(["late", "later"]);

  await client.set("k", "0");
  proxy.dropReplies(1, { command: "INCR", afterBytes: 2 });
  const direct = new Redis(server.url);
  expect(await client.incr("k")).toBe(2); // ioredis sends again by itself
  proxy.dropRequests(1, { command: "INCR", afterBytes: 20 });
  expect(await client.incr("k")).toBe(3);
  expect(await direct.get("k")).toBe("3");
  client.disconnect();
  direct.disconnect();
  await proxy.close();
  await server.stop();
});

test("timers that are held do not fire before the body ends, others do, and a cleared one never does", async () => {
  const fired: string[] = [];
  const held = holdingTimers(50, async () => {
    setTimeout((word) => fired.push(word), 50, "held");
    clearTimeout(setTimeout(() => fired.push("cleared at once"), 60));
    const cleared = setTimeout(() => fired.push("cleared"), 70);
    await new Promise<void>((resolve) => setTimeout(resolve, 49)); // too short to be held
    await pause(80); // longer than each of the timers that are held
    expect(fired).toEqual([]);
    return cleared;
  });
  clearTimeout(await held);
  await until("it fires", () => fired.length > 0);
  await pause(80); // longer than each timer that was cleared
  expect(fired).toEqual(["held"]);
});

test("held timers that are to fire do so at once, however long they are", async () => {
  const fired: string[] = [];
  await holdingTimers(
    50,
    async () => {
      setTimeout(() => fired.push("held"), 2 ** 31 - 1);
      setTimeout(() => fired.push("too long, and so at once, as in Node"), 2 ** 31);
      await until("the other fires", () => fired.length > 0);
      await pause(0);
      expect(fired).toEqual(["too long, and so at once, as in Node"]);
    },
    true,
  );
  await until("it fires", () => fired.length === 2);
});

test("a body inside another one leaves setTimeout as it is, and timers are held until both have ended", async () => {
  const fired: string[] = [];
  await holdingTimers(50, async () => {
    const { setTimeout: outer } = globalThis;
    await holdingTimers(50, async () => expect(globalThis.setTimeout).toBe(outer));
    await holdingTimers(40, async () => expect(globalThis.setTimeout).not.toBe(outer));
  });
  let end = () => {};
  const inner = holdingTimers(50, () => new Promise<void>((resolve) => (end = resolve)));
  await holdingTimers(40, async () => {
    setTimeout(() => fired.push("50"), 50);
    setTimeout(() => fired.push("40"), 40);
  });
  await until("only the outer one held it", () => fired.length > 0);
  await pause(80); // longer than each of the timers
  expect(fired).toEqual(["40"]);
  end();
  await inner;
  await until("both have ended", () => fired.length > 1);
  expect(fired).toEqual(["40", "50"]);
});

test.each([
  ["memory", onMemory],
  ["Redis", () => onRedis()],
] as const)("what structures announce by the machine's time is no key of theirs, over %s", async (_, open) => {
  const { store, expiries, close } = await open();
  const structures = [{ field: 'Lock "l"', shared: "{}", settings: "{}" }];
  const [base] = basesOf(store);
  await store.run(announce, base, { process: "p", version: "1", record: "{}", structures });
  await new Lock(store, "l").tryLock();
  expect([...(await expiries()).keys()]).toEqual(["oriel:{l}:lock"]);
  await close();
});
