// The function oriel_window on a replica and in a cluster, also while a slot moves.
import { Cluster, Redis } from "ioredis";
import { expect, test } from "vitest";
import { composeFunction, luaFolder } from "../../../scripts/lua/compose-script.mjs";
import { read } from "../../../src/engine/journal/steps/read.ts";
import { rotate } from "../../../src/engine/journal/steps/rotate.ts";
import { redisStore, Series } from "../../../src/entries/index.ts";
import { slotOf } from "../../../src/store/keys.ts";
import { atEnd } from "../../harness/ends.ts";
import { startCluster } from "../../harness/servers/redis-cluster.ts";
import { startReplicated } from "../../harness/servers/replicas.ts";
import { until } from "../../harness/until.ts";

const text = composeFunction(`${luaFolder}/journal/window.lua`);
const load = ["FUNCTION", "LOAD", "REPLACE", text] as const;
const KEY = "oriel:{w}";
const call = (client: Redis, key = KEY) =>
  client.call("FCALL_RO", "oriel_window", "1", key, "60000").then(
    (reply) => (reply as string[])[1]!,
    (error: Error) => error.message,
  );

/** Two closed chunks and an open one, with 3 events each. */
async function fill(store: ReturnType<typeof redisStore>): Promise<void> {
  const series = new Series(store, "w", { retention: "1m" });
  for (let chunk = 0; chunk < 3; chunk++) {
    await series.recordMany([1, 2, 3]);
    const { header } = await store.run(read, store.keyOf("w"), "header");
    const { number, birth } = header!;
    if (chunk < 2) await store.run(rotate, store.keyOf("w"), { number, birth, nextBirth: 5 + chunk });
  }
  await series.close();
}

test("a replica answers it, and has it from its primary", async () => {
  const { primary, replicas, stop } = await startReplicated(1);
  const store = redisStore(primary.url, { registry: false });
  const [one, other] = [new Redis(primary.url), new Redis(replicas[0]!.url)];
  atEnd(async () => {
    await store.close();
    for (const client of [one, other]) client.disconnect();
    await stop();
  });
  await one.call(...load);
  await fill(store);
  expect(await call(one)).toBe("9");
  await until("the replica has all of it", async () => (await call(other)) === "9");
});

test("in a cluster the node of the series answers it. Where a slot moves it answers all or an error", async () => {
  const cluster = await startCluster(2);
  const client = new Cluster([cluster.url]);
  const store = redisStore(cluster.urls[0]!, { registry: false });
  const nodes = cluster.nodes.map(({ url }) => new Redis(url));
  atEnd(async () => {
    await store.close();
    client.disconnect();
    for (const each of nodes) each.disconnect();
    await cluster.stop();
  });
  for (const node of nodes) await node.call(...load);
  await fill(store);
  const owner = await cluster.ownerOf(KEY);
  const [source, target] = [nodes[owner]!, nodes[1 - owner]!];
  expect(await call(source)).toBe("9");
  expect(await call(target)).toMatch(/^MOVED /);
  const [sourceId, targetId] = await Promise.all([source, target].map((each) => each.call("CLUSTER", "MYID")));
  const slot = slotOf(KEY);
  await target.call("CLUSTER", "SETSLOT", slot, "IMPORTING", String(sourceId));
  await source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", String(targetId));
  const keys = ((await source.call("CLUSTER", "GETKEYSINSLOT", slot, 10)) as string[]).sort();
  expect(keys.length).toBe(3);
  const { port } = cluster.nodes[1 - owner]!;
  const answers: string[] = [];
  // First a closed chunk, then the open one, then the rest.
  for (const key of [keys[1]!, keys[0]!, keys[2]!]) {
    await source.call("MIGRATE", "127.0.0.1", String(port), key, "0", "5000");
    // A client goes to the target only if the source sends it there.
    const [answer = ""] = (await call(source)).split(" ");
    answers.push(answer);
    if (answer !== "ASK") continue;
    await target.call("ASKING");
    answers.push((await call(target)).split(" ")[0]!);
  }
  // The source lacks a closed chunk, then the open one. The target lacks a closed chunk, then none.
  expect(answers).toEqual(["ERR", "ASK", "LOST", "ASK", "9"]);
  await cluster.giveSlot(slot, 1 - owner);
  expect(await call(target)).toBe("9");
});
