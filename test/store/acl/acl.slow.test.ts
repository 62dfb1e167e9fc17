import { Cluster, Redis } from "ioredis";
import { createCluster } from "redis";
import { beforeAll, describe, expect, test } from "vitest";
import { DelayQueue, httpStore, Lock, memoryStore, OrielError, redisStore } from "../../../src/entries/index.ts";
import { Semaphore } from "../../../src/entries/structures/semaphore.ts";
import type { Store } from "../../../src/store/contract.ts";
import { slotOf } from "../../../src/store/keys.ts";
import type { IoredisClient } from "../../../src/store/redis/ioredis-client.ts";
import type { NodeRedisCluster } from "../../../src/store/redis/node-redis-client.ts";
import { SUBJECTS } from "../../fuzz/subjects.ts";
import { oncePerFile } from "../../harness/ends.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { startReplicated } from "../../harness/servers/replicas.ts";
import { startRest } from "../../harness/servers/rest-server.ts";
import { until } from "../../harness/until.ts";
import { rareSteps } from "../../servers/rare-steps.ts";
import { clients, type HandedIn, storeOn } from "../contract/clients.ts";
import { driveAll } from "../restricted/drive.ts";
import { failuresOf, lostMessages, lostNotices } from "./losses.ts";
import { LOGIN, RULES, setUser, urlOf } from "./rules.ts";

const servers = oncePerFile(() => startReplicated(1));
const outcomesOn = async (store: Store) => ({ ...(await driveAll(store)), rare: await rareSteps(store, "rare") });

let expected: Awaited<ReturnType<typeof outcomesOn>>;
beforeAll(async () => {
  const store = memoryStore();
  expected = await outcomesOn(store);
  await store.close();
  const { primary } = await servers();
  const own = new Redis(primary.url);
  await own.config("SET", "maxmemory-policy", "allkeys-lru");
  own.disconnect();
});

interface Options {
  onWarning?: (warning: string) => void;
}
interface Opened {
  store: Store;
  end(): unknown;
}
type Open = (server: RedisServer, user: string, options?: Options) => Promise<Opened>;
const over =
  (client: keyof typeof clients, own: { scripting?: "functions" } = {}): Open =>
  async ({ url }, user, options) => {
    const given = clients[client](urlOf(url, user));
    const store = storeOn(given, { deadline: 10_000, ...own, ...options });
    return { store, end: () => store.close().then(given.end) };
  };
const overHttp: Open = async ({ url }, user, options) => {
  const rest = await startRest(url);
  const headers = { Authorization: `Bearer ${rest.token}` };
  const body = JSON.stringify(["AUTH", user, "password"]);
  expect(await (await fetch(rest.url, { method: "POST", headers, body })).json()).toEqual({ result: "OK" });
  const store = httpStore({ url: rest.url, token: rest.token, deadline: 5000, ...options });
  return { store, end: () => store.close().then(rest.stop) };
};
const FORMS: Record<string, { rules: readonly string[]; open: Open; isHttp?: true }> = {
  scripts: { rules: RULES.scripts, open: over("ioredis 6") },
  functions: { rules: RULES.functions, open: over("node-redis 6", { scripting: "functions" }) },
  HTTP: { rules: RULES.http, open: overHttp, isHttp: true },
};
const name = (form: string, i: number) => `${form.replace(/\W/g, "")}-${i}`;
/** The prefix of mirrors is the user's choice, and so is its rule. */
const MIRRORS = `~s${SUBJECTS.findIndex((subject) => subject.name === "counters")}*`;

test.concurrent.each(Object.entries(FORMS))(
  "%s: every structure works with exactly these rules",
  async (form, each) => {
    const server = await startRedis({ tcp: true });
    const user = name(form, 0);
    await setUser(server.url, user, [...each.rules, MIRRORS]);
    const { store, end } = await each.open(server, user);
    const own = new Redis(server.url);
    try {
      expect(await outcomesOn(store)).toEqual(expected);
      expect(await own.call("ACL", "LOG")).toEqual([]);
    } finally {
      own.disconnect();
      await end();
      await server.stop();
    }
  },
);

/** The losses of a user: messages and warnings that do not come within `patienceMs`, and failed calls. */
async function lossesOf(user: string, { open, isHttp }: (typeof FORMS)[string], patienceMs: number): Promise<string[]> {
  const { primary } = await servers();
  const warnings: string[] = [];
  const { store, end } = await open(primary, user, { onWarning: (warning) => warnings.push(warning) });
  const another = redisStore(primary.url);
  const own = new Redis(primary.url);
  try {
    const failures = await failuresOf(store, user);
    if (failures.length > 0) return failures;
    const losses = await lostNotices(store, another, own, user, patienceMs);
    if (!isHttp)
      losses.push(
        ...(await lostMessages(store, own, user, () => warnings.find((each) => /SUBSCRIBE/.test(each)), patienceMs)),
      );
    if (!isHttp)
      await new DelayQueue(store, `${user} replicated`, { replicas: 1 }).add("hello").catch((error) => {
        losses.push(`replicas: ${error.message}`);
      });
    const hasWarned = () => warnings.some((warning) => warning.startsWith("maxmemory-policy is allkeys-lru"));
    await until("a warning", hasWarned, patienceMs).catch(() => losses.push("no warning about the server's settings"));
    return losses;
  } finally {
    own.disconnect();
    await Promise.all([another.close(), end()]);
  }
}

/** The losses of a user on a server that has none of the steps, and then becomes full. */
async function lossesOnEmpty(rules: readonly string[], { open }: (typeof FORMS)[string]): Promise<string[]> {
  const server = await startRedis({ tcp: true });
  await setUser(server.url, "app", rules);
  const { store, end } = await open(server, "app");
  const own = new Redis(server.url);
  try {
    const held = await new Lock(store, "full").tryLock();
    await own.config("SET", "maxmemory", "1");
    return (await held!.release()) ? [] : ["not released"];
  } catch (error) {
    return [String(error)];
  } finally {
    own.disconnect();
    await end();
    await server.stop();
  }
}

const LOADING = ["+eval", "+script|load"];

describe.each(Object.entries(FORMS))("%s", (form, each) => {
  const rules = each.rules.filter((rule) => !LOGIN.includes(rule));

  test("nothing is lost with all rules", async () => {
    const { primary } = await servers();
    const user = name(form, 0);
    await setUser(primary.url, user, each.rules);
    expect(await lossesOf(user, each, 240_000)).toEqual([]);
    expect(await lossesOnEmpty(each.rules, each)).toEqual([]);
  });

  test.concurrent.each(rules.map((rule, i) => [rule, i + 1] as const))("%s cannot be left out", async (rule, i) => {
    const { primary } = await servers();
    const user = name(form, i);
    const left = each.rules.filter((other) => other !== rule);
    await setUser(primary.url, user, left);
    const losses = await (LOADING.includes(rule) ? lossesOnEmpty(left, each) : lossesOf(user, each, 500));
    expect(losses).not.toEqual([]);
  });
});

describe("a cluster", () => {
  const cluster = oncePerFile(() => startCluster(2));
  const login = { username: "app", password: "password" };
  const CLIENTS = {
    "ioredis 6": async (): Promise<HandedIn> => {
      const { urls } = await cluster();
      const client = new Cluster([...urls], {
        redisOptions: login,
        slotsRefreshTimeout: 3000,
        clusterRetryStrategy: () => 20,
      });
      client.on("error", () => {});
      return { client: client as unknown as IoredisClient, end: () => client.disconnect() };
    },
    "node-redis 6": async (): Promise<HandedIn> => {
      const { urls } = await cluster();
      const client = createCluster({ rootNodes: urls.map((url) => ({ url })), defaults: login });
      client.on("error", () => {});
      client.connect().catch(() => {});
      return { client: client as unknown as NodeRedisCluster, end: () => client.destroy() };
    },
  };
  const asUser = async (client: keyof typeof CLIENTS, rules: readonly string[]): Promise<Opened> => {
    const { nodes, flush } = await cluster();
    await flush();
    for (const { url } of nodes) await setUser(url, "app", rules);
    const given = await CLIENTS[client]();
    const store = storeOn(given, { deadline: 10_000 });
    return { store, end: () => store.close().then(given.end) };
  };

  test.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])(
    "%s: every structure works with exactly these rules",
    async (client) => {
      const { store, end } = await asUser(client, [...RULES.cluster, MIRRORS]);
      try {
        expect(await outcomesOn(store)).toEqual(expected);
      } finally {
        await end();
      }
    },
  );

  const ownRules = RULES.cluster.filter((rule) => !RULES.scripts.includes(rule));
  test.each(["", ...ownRules])("calls end while a slot moves, unless a rule is left out: %s", async (rule) => {
    expect(ownRules.length).toBe(3);
    const { store, end } = await asUser(
      // Without this right ioredis itself causes unhandled rejections.
      rule === "+asking" ? "node-redis 6" : "ioredis 6",
      RULES.cluster.filter((other) => other !== rule),
    );
    const { nodes, ownerOf } = await cluster();
    const slot = slotOf("moving");
    const from = await ownerOf("moving");
    const clients = nodes.map(({ url }) => new Redis(url));
    const setSlot = (node: number, ...words: string[]) => clients[node]!.call("CLUSTER", ...words);
    const ids = (await Promise.all(clients.map((_, i) => setSlot(i, "MYID")))).map(String);
    try {
      await setSlot(1 - from, "SETSLOT", `${slot}`, "IMPORTING", ids[from]!);
      await setSlot(from, "SETSLOT", `${slot}`, "MIGRATING", ids[1 - from]!);
      const one = new Semaphore(store, "moving", { limit: 2 });
      const call = Promise.all([one.acquire({ wait: 0 }), new Lock(store, "elsewhere").tryLock()]);
      if (rule === "") await call;
      else await expect(call).rejects.toThrow(OrielError);
    } finally {
      for (const [i] of clients.entries()) await setSlot(i, "SETSLOT", `${slot}`, "STABLE");
      for (const client of clients) client.disconnect();
      await end();
    }
  });
});
