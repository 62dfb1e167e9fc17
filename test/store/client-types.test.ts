import { Cluster, Redis } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis5";
import { createClient, createClientPool, createCluster, createSentinel } from "redis";
import { describe, expect, it } from "vitest";
import { redisStore } from "../../src/entries/index.ts";

describe("the types of redisStore", () => {
  it("accept a client of ioredis 6 and of ioredis 5 without a cast, and leave it open", async () => {
    for (const client of [new Redis({ lazyConnect: true }), new Redis5({ lazyConnect: true })]) {
      const store = redisStore(client);
      await store.close();
      expect(client.status).toBe("wait");
      client.disconnect();
    }
    for (const client of [new Cluster([1], { lazyConnect: true }), new Cluster5([1], { lazyConnect: true })]) {
      await redisStore(client).close();
      expect(client.status).toBe("wait");
      client.disconnect();
    }
  });

  it("accept a client and a cluster of node-redis 6 without a cast, and do not change them", async () => {
    for (const client of [createClient(), createClient({ RESP: 3 }), createCluster({ rootNodes: [{}] })]) {
      await redisStore(client).close();
      expect(client.isOpen).toBe(false);
      expect(client.listenerCount("error")).toBe(0);
    }
  });

  it("refuse clients that resend by themselves, and values that are no client", () => {
    const sentinel = createSentinel({ name: "x", sentinelRootNodes: [{ host: "127.0.0.1", port: 1 }] });
    for (const wrong of [createClientPool(), sentinel, {}, null, undefined, 7])
      expect(() => redisStore(wrong as never)).toThrowError(expect.objectContaining({ code: "ARGUMENT" }));
  });
});
