import { beforeAll, expect, test } from "vitest";
import { Counters, Lock, memoryStore } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { atEnd, oncePerFile } from "../../harness/ends.ts";
import { startLua54 } from "../../harness/lua54/server.ts";
import { RespConnection } from "../../harness/network/resp-connection.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { startRestricted } from "../../harness/servers/restricted.ts";
import { rareSteps } from "../../servers/rare-steps.ts";
import { STEPS } from "../../servers/steps.ts";
import { clients, storeOn } from "../contract/clients.ts";
import { driveAll } from "../restricted/drive.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

const outcomesOn = async (store: Store) => ({ ...(await driveAll(store)), rare: await rareSteps(store, "rare") });

let expected: Awaited<ReturnType<typeof outcomesOn>>;
beforeAll(async () => {
  const store = memoryStore();
  expected = await outcomesOn(store);
  await store.close();
});

const behind = async (client: keyof typeof clients, integers = false, registry = true) => {
  const { url } = await redis();
  const raw = new RespConnection(url);
  await raw.send([["FLUSHALL"]]);
  raw.close();
  const server = await startLua54(url, { integers });
  const given = clients[client](server.url);
  const own = storeOn(given, { deadline: 20_000, registry });
  const seen = new Set<string>();
  const run: Store["run"] = (operation, ...call) => {
    seen.add(operation.name);
    return own.run(operation, ...call);
  };
  atEnd(async () => {
    await own.close();
    await given.end();
    await server.stop();
  });
  return { server, seen, store: { ...own, run } };
};

// Both clients, each with the numbers of one kind of host.
test.each([
  ["ioredis 6", false],
  ["node-redis 6", true],
] as const)("%s: each call ends as in memory, and every step runs (integers: %s)", async (client, integers) => {
  const { server, seen, store } = await behind(client, integers);
  expect(await outcomesOn(store)).toEqual(expected);
  expect(STEPS.filter((step) => !seen.has(step))).toEqual([]);
  expect([...server.floats]).toEqual([]);
});

test("as Dragonfly: on declared keys only, and without functions, each call ends as in memory", async () => {
  const { server } = await behind("ioredis 6");
  const proxy = await startRestricted(Number(new URL(server.url).port), {
    declaredKeys: true,
    commands: ["FUNCTION", "FCALL"],
  });
  const given = clients["ioredis 6"](proxy.url);
  const store = storeOn(given, { deadline: 20_000 });
  try {
    expect(await outcomesOn(store)).toEqual(expected);
    expect(server.ran()).toBeGreaterThan(100);
  } finally {
    await store.close();
    await given.end();
    await proxy.stop();
  }
});

test.each(["ioredis 6", "node-redis 6"] as const)(
  "%s: one refusal of a first line is enough for all scripts",
  async (client) => {
    // An announcement may be on its way when the first call is refused, and is refused too.
    const { server, store } = await behind(client, false, false);
    const lock = new Lock(store, "lock");
    for (let i = 0; i < 3; i++) expect(await (await lock.tryLock())!.release()).toBe(true);
    const counters = new Counters(store, "counters", { dimensions: ["a"], shards: 1 });
    for (let i = 0; i < 3; i++) await counters.add({ a: "1" });
    expect(server.refused()).toBe(1);
    // Each call ran once.
    expect((await counters.read())[0]!.count).toBe(3);
  },
);
