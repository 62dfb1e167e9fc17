import { afterAll, beforeAll, expect, test } from "vitest";
import { openStore } from "../../../src/command/config/open-store.ts";
import { Lock } from "../../../src/entries/index.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { freePort } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";

let cluster: Awaited<ReturnType<typeof startCluster>>;
beforeAll(async () => {
  cluster = await startCluster(1);
});
afterAll(() => cluster?.stop());

test.each(["one server", "a cluster"])("the store over %s reports its current health, and its changes", async (of) => {
  // Of the cluster, the second node is not there.
  const refused = `redis://127.0.0.1:${await freePort()}`;
  const store = openStore({ redis: of === "one server" ? refused : `${cluster.url},${refused}` }, { deadline: "2s" });
  const events: string[] = [];
  store.on("down", () => events.push("down"));
  const lock = new Lock(store, "k");
  if (of === "a cluster") {
    await lock.tryLock();
    expect(store.health).toMatchObject({ state: "up" });
    cluster.nodes[0]!.pause();
  }
  await lock.tryLock().catch(() => {});
  await until("it is down", () => store.health.state === "down");
  expect(events).toEqual(["down"]);
  expect(store.health.reason).toEqual(expect.any(String));
  if (of === "a cluster") cluster.nodes[0]!.resume();
  await store.close();
});
