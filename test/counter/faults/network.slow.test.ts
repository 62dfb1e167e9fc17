import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { atEnd } from "../../harness/ends.ts";
import { startProxy } from "../../harness/network/proxy.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { startReplicated } from "../../harness/servers/replicas.ts";
import { until } from "../../harness/until.ts";
import { clients } from "../../store/contract/clients.ts";
import { Load } from "./load.ts";
import { open } from "./stage.ts";

test.each(Object.keys(clients) as (keyof typeof clients)[])(
  "%s: lost replies and reset connections under 50 callers: each event counts once",
  async (name) => {
    const server = await startRedis({ tcp: true });
    const proxy = await startProxy(server.port);
    const handed = clients[name](proxy.url);
    atEnd(() => server.stop());
    atEnd(() => proxy.close());
    atEnd(() => handed.end());
    const { flow } = open(handed.client, { deadline: 20_000 });
    const load = new Load();
    load.start(flow, 50);
    await until("it counts", () => load.acknowledgedTotal > 100);
    for (let i = 0; i < 12; i++) {
      proxy.dropReplies(2);
      await pause(30);
      if (i % 3 === 0) proxy.cut();
      const before = load.acknowledgedTotal;
      await until("it goes on", () => load.acknowledgedTotal > before + 100);
    }
    await load.stop();
    expect(load.errors).toEqual([]);
    await load.check(flow);
    await flow.close();
    await load.check(flow);
  },
);

test.each([0, 1])(
  "the primary is killed under load and a replica promoted, `replicas: %i`: no acknowledged event is lost",
  async (replicas) => {
    const servers = await startReplicated(2);
    const proxy = await startProxy(servers.primary.port);
    atEnd(() => servers.stop());
    atEnd(() => proxy.close());
    let losses = 0;
    const onLost = () => void losses++;
    const { flow } = open(proxy.url, { deadline: 1000 }, { replicas, onLost });
    const load = new Load();
    load.start(flow, 30);
    await until("it counts", () => load.acknowledgedTotal > 500);
    // What replicas lag behind, the primary takes with it.
    for (const replica of servers.replicas) replica.pause();
    await pause(200);
    await servers.primary.kill();
    for (const replica of servers.replicas) replica.resume();
    const raw = servers.replicas.map(({ url }) => new Redis(url));
    atEnd(() => raw.map((each) => each.disconnect()));
    const offsets = await Promise.all(
      raw.map(async (each) => Number(/slave_repl_offset:(\d+)/.exec(await each.info("replication"))?.[1])),
    );
    const best = offsets[0]! >= offsets[1]! ? 0 : 1;
    await raw[best]!.call("REPLICAOF", "NO", "ONE");
    await raw[1 - best]!.call("REPLICAOF", "127.0.0.1", String(servers.replicas[best]!.port));
    proxy.moveTo(servers.replicas[best]!.port);
    const before = load.acknowledgedTotal;
    await until("it goes on", () => load.acknowledgedTotal > before + 500);
    await load.stop();
    await flow.close();
    expect(losses).toBe(0);
    await load.check(flow);
  },
);
