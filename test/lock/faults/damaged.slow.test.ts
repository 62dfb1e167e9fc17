import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Breaker, Lock, OrielError, type Store } from "../../../src/entries/index.ts";
import { lockKeyOf } from "../../../src/holds/lock/lock-state.ts";
import { take } from "../../../src/holds/steps/steps.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { Random } from "../../simulator/world/random.ts";

/** Whatever lies under the keys of locks and breakers: each call ends, well or with one error that says where. */
let server: RedisServer;
let raw: Redis;
let store: Store;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  raw = new Redis(server.url);
  store = redisStore(server.url, { deadline: 2000, registry: false });
});
afterAll(async () => {
  await store?.close();
  raw?.disconnect();
  await server?.stop();
});

const seed = Number(process.env.ORIEL_SEED ?? Date.now() % 1_000_000);
const runs = Number(process.env.ORIEL_FUZZ_RUNS ?? 600);

/** A value as it was left, cut, changed, of random bytes, or of another type. */
async function damage(random: Random, key: string): Promise<string> {
  const bytes = (await raw.getBuffer(key)) ?? Buffer.alloc(0);
  const expireAtMs = await raw.pexpiretime(key);
  const kind = random.pick(["cut", "flipped", "random", "longer", "list", "hash", "text"] as const);
  await raw.del(key);
  if (kind === "list") await raw.rpush(key, "x");
  else if (kind === "hash") await raw.hset(key, "@layout", "1|2|3|4");
  else {
    let value = Buffer.from(bytes);
    if (kind === "cut") value = value.subarray(0, random.int(0, value.length));
    if (kind === "random") value = Buffer.from(Array.from({ length: random.int(1, 300) }, () => random.int(0, 255)));
    if (kind === "longer") value = Buffer.concat([value, Buffer.alloc(random.int(1, 40), random.int(0, 255))]);
    if (kind === "text") value = Buffer.from(random.pick(["", "nan", "-1", "1e300", "9".repeat(400), "null"]));
    if (kind === "flipped")
      for (let i = 0; i < 3 && value.length > 0; i++) value[random.int(0, value.length - 1)] = random.int(0, 255);
    await raw.set(key, value);
  }
  if (expireAtMs > 0) await raw.pexpireat(key, expireAtMs);
  return kind;
}

function expectPlaced(error: unknown, structure: string, name: string, key: string, what: string): void {
  expect(error, what).toBeInstanceOf(OrielError);
  expect(error, what).toMatchObject({ structure, structureName: name, code: expect.stringMatching(/CORRUPT|LOST/) });
  if ((error as OrielError).code === "CORRUPT") expect((error as OrielError).message, what).toContain(key);
}

test(`a breaker continues alone and reports the damage, seed ${seed}`, async () => {
  const random = new Random(seed);
  let corrupt = 0;
  for (let i = 0; i < runs; i++) {
    await raw.flushall();
    const open = () => new Breaker(store, { name: "b", span: "10s", failures: 3, cooldown: 20, probes: 2 });
    const [one, other] = [open(), open()];
    for (let j = random.int(0, 5); j > 0; j--) await one.run(() => Promise.reject(new Error("bad"))).catch(() => {});
    await one.flush();
    const [key] = await raw.keys("*");
    const what = `run ${i}, ${await damage(random, key!)}`;
    for (const breaker of [one, other]) {
      const error = await breaker.flush().catch((reason) => reason);
      if (error === undefined) continue;
      corrupt++;
      expectPlaced(error, "Breaker", "b", key!, what);
      const ended = await breaker.run(() => 7).catch(({ code }) => code);
      expect([7, "OPEN"], what).toContain(ended);
    }
  }
  expect(corrupt).toBeGreaterThan(runs / 10);
});

test(`a lock is acquired, refused or CORRUPT, seed ${seed}`, async () => {
  const random = new Random(seed);
  let corrupt = 0;
  for (let i = 0; i < runs / 2; i++) {
    await raw.flushall();
    const lock = new Lock(store, "n");
    const held = await lock.tryLock({ lease: "60s" });
    const key = lockKeyOf(store, "n");
    const process = "a".repeat(14);
    const tickets = [{ token: `${process}000001`, permits: 1, limit: 1, leaseMs: 9000 }];
    if (random.chance(0.5)) await store.run(take, key, { process, tickets, mayWait: true, isGuess: false });
    if (random.chance(0.3)) await held!.release();
    const what = `run ${i}, ${await damage(random, key)}`;
    for (const call of [
      () => lock.tryLock(),
      () => held!.extend(),
      () => held!.release(),
      () => lock.withLock(() => 7, { wait: 0 }),
    ]) {
      const error = await call().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error === undefined) continue;
      // The damaged state may say that others hold it.
      if ((error as OrielError).code === "DEADLINE") continue;
      corrupt++;
      expectPlaced(error, "Lock", "n", key, what);
    }
  }
  expect(corrupt).toBeGreaterThan(runs / 20);
});
