import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { describe, expect, it } from "vitest";
import { redisStore } from "../../src/index.ts";

describe("the types of redisStore", () => {
  it("take a client of ioredis 6 and of ioredis 5 without a cast, and leave it open", async () => {
    for (const client of [new Redis({ lazyConnect: true }), new Redis5({ lazyConnect: true })]) {
      const store = redisStore(client);
      await store.close();
      expect(client.status).toBe("wait");
      client.disconnect();
    }
  });
});
