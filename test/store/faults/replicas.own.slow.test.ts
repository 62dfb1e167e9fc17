import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { memoryStore, redisStore, Series } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { type RedisCluster, startCluster } from "../../harness/servers/redis-cluster.ts";
import { type ReplicatedRedis, startReplicated } from "../../harness/servers/replicas.ts";
import { until } from "../../harness/until.ts";
import { clients, clusterClients, type HandedIn } from "../contract/clients.ts";
import { append, tally } from "../ops/operations.ts";

const input = (text: string) => ({ bytes: Buffer.from(text), maxBytes: 1e9, lifetimeMs: 0 });

afterEach(() => void vi.useRealTimers());

let redis: ReplicatedRedis;
let cluster: RedisCluster;
beforeAll(async () => {
  [redis, cluster] = await Promise.all([startReplicated(1), startCluster(3, 1)]);
});
afterAll(async () => {
  await redis?.stop();
  await cluster?.stop();
});

const single = Object.entries(clients).map(([name, connect]) => ({ name, open: () => connect(redis.primary.url) }));
const many = Object.entries(clusterClients).map(([name, connect]) => ({
  name: `cluster, ${name}`,
  open: () => connect(cluster.urls),
}));

describe.each([...single, ...many])("replicas: $name", ({ name, open }) => {
  let store: Store;
  /** Its calls are to end unconfirmed. */
  let hasty: Store;
  let handedIn: HandedIn;
  beforeAll(() => {
    handedIn = open();
    store = redisStore(handedIn.client);
    hasty = redisStore(handedIn.client, { deadline: 600 });
  });
  afterAll(async () => {
    await Promise.all([store?.close(), hasty?.close()]);
    handedIn?.end();
  });
  const keyOf = (what: string) => store.keyOf(`${what} ${name}`);

  test("a step is answered once enough replicas have it", async () => {
    const runs = Array.from({ length: 20 }, (_, i) =>
      store.run(append, keyOf(`there ${i}`), input("x"), { replicas: 1 }),
    );
    expect((await Promise.all(runs)).map(({ length }) => length)).toEqual(runs.map(() => 1));
    const owner = name.startsWith("cluster") ? await cluster.ownerOf(keyOf("there 0")) : 0;
    const { url } = name.startsWith("cluster") ? cluster.nodes[await cluster.replicaOf(owner)]! : redis.replicas[0]!;
    const replica = new Redis(url, { readOnly: true });
    if (name.startsWith("cluster")) await replica.readonly();
    expect(await replica.get(keyOf("there 0"))).toBe("x");
    replica.disconnect();
  });

  test("with too few replicas a step rejects and may have been applied; others in the turn are unaffected", async () => {
    // The deadline does not pass before the call that asks for no replica is answered.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const calls = [
      hasty.run(append, keyOf("few"), input("x"), { replicas: 2 }),
      hasty.run(tally, keyOf("few tally"), "0001", { replicas: 2 }),
      hasty.run(append, keyOf("none asked"), input("y")),
    ];
    let isOver = false;
    const settled = Promise.allSettled(calls).finally(() => {
      isOver = true;
    });
    await calls[2];
    // WAIT takes the server's time, so the store's time passes no faster.
    await until("the deadline is over", () => {
      vi.advanceTimersByTime(10);
      return isOver;
    });
    const results = await settled;
    // On a slow machine the deadline may come before what WAIT answers at it.
    const text = expect.stringMatching(/1 of 2 replicas confirmed the step within \d+ ms|no answer .* within \d+ ms/);
    const code = expect.stringMatching(/^(UNAVAILABLE|DEADLINE)$/);
    expect(results).toMatchObject([
      { reason: { code, applied: "unknown", transient: true, message: text } },
      { reason: { code: "DEADLINE", applied: "unknown", transient: true, message: text } },
      { value: { length: 1 } },
    ]);
    const repeated = results[0]!;
    // A repeatable step is sent again. The error names the time of all attempts.
    expect(`${repeated.status === "rejected" && repeated.reason.message}`).toMatch(/within 600 ms/);
    expect((await store.run(append, keyOf("few"), input("x"))).length).toBe(2);
  });
});

test("a memory store has no replicas: it refuses them, and invalid numbers of them", async () => {
  const store = memoryStore();
  const run = store.run(append, store.keyOf("k"), input("x"), { replicas: 1 });
  await expect(run).rejects.toMatchObject({ code: "ARGUMENT" });
  await expect(new Series(store, "s", { replicas: 1 }).record(1)).rejects.toMatchObject({ code: "ARGUMENT" });
  for (const replicas of [-1, 0.5, 1001, Number.NaN, "1" as never])
    expect(() => new Series(store, "s", { replicas })).toThrowError(expect.objectContaining({ code: "ARGUMENT" }));
});
