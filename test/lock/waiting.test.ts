import { execFileSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type HeldLock, Lock } from "../../src/entries/index.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { holdingTimers } from "../harness/clock/held-timers.ts";
import { onSteppedClock } from "../harness/clock/stepped-script.ts";
import { until } from "../harness/until.ts";
import { root } from "../house/sources.ts";
import { clients } from "../store/contract/clients.ts";
import { LOCK_KEY, LockStage } from "./stage.ts";

const stage = new LockStage();

/** Timers from here on are held: no look after a trial, and no request at the end of a lease. */
const NO_LOOK_MS = 150;

/** The server's time stands still, so that no trial is missed on a slow machine. */
const STANDING = { scriptOf: onSteppedClock(() => Date.UTC(2100, 0)) };
/** Of a holder whose lease ends in the test. Its waiter listens long before, on a slow machine too. */
const ENDING_MS = 3000;

test("without a wait, one script call returns the answer, free or held", async () => {
  const lock = stage.lock();
  await (await lock.tryLock())!.release();
  const before = await stage.scripts();
  const held = await lock.tryLock({ wait: 0 });
  expect(held).not.toBeNull();
  expect(await stage.scripts()).toBe(before + 1);
  expect(await lock.tryLock({ wait: 0 })).toBeNull();
  expect(await stage.scripts()).toBe(before + 2);
  await held!.release();
});

describe("50 waiters", () => {
  test("in one process: no requests while nothing happens, and one script call for a release", async () => {
    const [lock, crowd] = [stage.lock(STANDING), stage.lock(STANDING)];
    const held = await lock.tryLock({ lease: "60s" });
    const before = await stage.scripts();
    await holdingTimers(NO_LOOK_MS, async () => {
      const waits = Array.from({ length: 50 }, () => crowd.tryLock({ wait: "20s", lease: "60s" }));
      // The first asks, then the others, then all when it listens.
      await until("all have asked", async () => (await stage.scripts()) === before + 3);
      await pause(500);
      expect(await stage.scripts()).toBe(before + 3);
      await held!.release();
      let last: HeldLock = (await waits[0])!;
      // The release, and the confirmation of the process that was notified.
      expect(await stage.scripts()).toBe(before + 5);
      for (const each of waits.slice(1)) {
        await last.release();
        const next = (await each)!;
        expect(next.fence).toBeGreaterThan(last.fence);
        last = next;
      }
      expect(await stage.scripts()).toBe(before + 5 + 49);
      await last.release();
    });
  });

  test("in 50 processes: no requests while nothing happens, and two script calls for each that is served", async () => {
    const held = await stage.lock(STANDING).tryLock({ lease: "60s" });
    const before = await stage.scripts();
    let letFirstGo = () => {};
    const firstMayGo = new Promise<void>((resolve) => {
      letFirstGo = resolve;
    });
    const fences: number[] = [];
    await holdingTimers(NO_LOOK_MS, async () => {
      const runs = Array.from({ length: 50 }, async () => {
        const got = await stage.lock(STANDING).tryLock({ wait: "20s", lease: "60s" });
        fences.push(got!.fence);
        if (fences.length === 1) await firstMayGo;
        expect(await got!.release()).toBe(true);
      });
      // Each asks, and asks again when it listens.
      await until("all have asked", async () => (await stage.scripts()) === before + 100);
      expect(await stage.listeners()).toBe(50);
      await pause(500);
      expect(await stage.scripts()).toBe(before + 100);
      await held!.release();
      await until("the first has it", () => fences.length === 1);
      await pause(200);
      expect(await stage.scripts()).toBe(before + 102);
      letFirstGo();
      await Promise.all(runs);
    });
    expect(await stage.scripts()).toBe(before + 100 + 2 * 50 + 1);
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
  });
});

describe("a message that never arrives", () => {
  test("costs at most the rest of the holder's lease", async () => {
    const held = await stage.lock().tryLock({ lease: ENDING_MS });
    const waits = stage.lock().tryLock({ wait: "20s" });
    await until("it listens", async () => (await stage.listeners()) === 1);
    await stage.raw.del(LOCK_KEY);
    const next = await waits;
    expect(next!.fence).toBeGreaterThan(held!.fence);
  });

  test("because the connection of the subscription was cut: it is opened again, and the lock is checked", async () => {
    const held = await stage.lock().tryLock({ lease: "60s" });
    const waits = stage.lock().tryLock({ wait: "20s" });
    await until("it listens", async () => (await stage.listeners()) === 1);
    // Without the new subscription it would ask again at the end of its wait.
    await holdingTimers(5000, async () => {
      await stage.raw.call("CLIENT", "KILL", "TYPE", "pubsub");
      expect(await held!.release()).toBe(true);
      expect(await (await waits)!.release()).toBe(true);
    });
  });

  test("because the user must not subscribe: the end of the lease ends the wait", async () => {
    await stage.raw.call("ACL", "SETUSER", "deaf", "on", "nopass", "~*", "+@all", "resetchannels");
    const held = await stage.lock().tryLock({ lease: ENDING_MS });
    const deaf = stage.lock({}, stage.server.url.replace("//", "//deaf:any@"));
    const next = await deaf.tryLock({ wait: "20s" });
    expect(next!.fence).toBeGreaterThan(held!.fence);
    expect(await next!.release()).toBe(true);
  });
});

describe("over node-redis", () => {
  test("a waiter is notified of the release, does not poll, and is notified again after its connection was cut", async () => {
    const { client, end } = clients["node-redis 6"](stage.server.url);
    const store = redisStore(client, { deadline: 3000, registry: false });
    const before = await stage.scripts();
    const held = await stage.lock().tryLock({ lease: "60s" });
    const waits = new Lock(store, "nightly").tryLock({ wait: "20s", lease: "60s" });
    await until("it listens, and has asked again", async () => (await stage.scripts()) === before + 3);
    await stage.raw.call("CLIENT", "KILL", "TYPE", "pubsub");
    await until("it listens again, and has asked again", async () => (await stage.scripts()) === before + 4);
    await pause(500);
    expect(await stage.scripts()).toBe(before + 4);
    await holdingTimers(NO_LOOK_MS, async () => {
      await held!.release();
      expect(await (await waits)!.release()).toBe(true);
    });
    await store.close();
    await until("it listens no more", async () => (await stage.listeners()) === 0);
    end();
  });
});

test("a store without notifications is polled every 100 ms", async () => {
  const lock = stage.lock();
  const { subscribe: _none, ...deafStore } = stage.lastStore;
  const held = await lock.tryLock({ lease: "60s" });
  const waits = new Lock(deafStore, "nightly").tryLock({ wait: "20s" });
  const before = await stage.scripts();
  await until("it asks", async () => (await stage.scripts()) >= before + 3);
  await held!.release();
  expect(await (await waits)!.release()).toBe(true);
});

test("the subscribed connection does not keep the process alive, and closes with the store", async () => {
  const held = await stage.lock().tryLock({ lease: "60s" });
  const store = redisStore(stage.server.url);
  expect(await new Lock(store, "nightly").tryLock({ wait: 50 })).toBeNull();
  await store.close();
  await until("nobody listens", async () => (await stage.listeners()) === 0);
  expect(await held!.release()).toBe(true);
  const code = `
    import { Lock, redisStore } from "oriel";
    import { Redis } from "ioredis";
    const client = new Redis(${JSON.stringify(stage.server.url)});
    const lock = new Lock(redisStore(client), "nightly");
    await lock.tryLock();
    console.log(await lock.tryLock({ wait: 300 }));
    client.disconnect();`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: root,
    timeout: 240_000,
  });
  expect(String(printed)).toBe("null\n");
});
